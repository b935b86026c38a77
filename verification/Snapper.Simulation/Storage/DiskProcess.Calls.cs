using Snapper.Simulation.Faults;

namespace Snapper.Simulation.Storage;

/// <summary>The steps of calls to the disk: at once, or one by one with others between.</summary>
internal sealed partial class DiskProcess
{
    /// <summary>The process is dead: what stood still ends without another effect, and the system closes its files and locks.</summary>
    public void End()
    {
        _disk.ProcessEnded(this);
        while (_standing.Count > 0)
        {
            Resume(_standing[0]);
        }
    }

    private void Begin(object by, Func<DiskCall, Action?> work)
    {
        void Start() => world.After(_chance.Between(0, s_millisecond / 10), scope, () => Carry(by, work));
        if (_waiting.TryGetValue(by, out var queue))
        {
            queue.Enqueue(Start);
            return;
        }

        _waiting.Add(by, new Queue<Action>());
        Start();
    }

    private void Carry(object by, Func<DiskCall, Action?> work)
    {
        Action? tell = null;
        var call = new DiskCall(self => tell = work(self), world.Machine.Draw());
        call.Ended = () =>
        {
            if (call.Crashed is { } kind)
            {
                crashed(kind);
                return;
            }

            if (scope.IsDead)
            {
                return;
            }

            if (_waiting[by].TryDequeue(out var next))
            {
                next();
            }
            else
            {
                _waiting.Remove(by);
            }

            world.After(world.Machine.CallTime(), scope, tell!);
        };
        if (!_disk.IsLocked && call.Fate.Fault != FaultKind.DiskStall && !_chance.Percent(world.Machine.SteppedPercent))
        {
            _call = call;
            call.Work();
            _call = null;
            call.Ended();
            return;
        }

        call.Fiber = Fiber.Take();
        _standing.Add(call);
        Go(call, () => call.Fiber.Begin(call.Work));
    }

    private void Resume(DiskCall call) => Go(call, call.Fiber!.Continue);

    private void Go(DiskCall call, Func<bool> go)
    {
        _call = call;
        var isDone = go();
        _call = null;
        if (!isDone)
        {
            if (!scope.IsDead)
            {
                world.After(call.Pause, scope, () => Resume(call));
            }

            return;
        }

        _standing.Remove(call);
        call.Fiber!.GiveBack();
        call.Ended!();
    }

    /// <summary>Before each step: it may take its time, and fail, and end everything.</summary>
    /// <returns>True: the step has to fail.</returns>
    private bool Step(DiskStep step)
    {
        DemandLife();
        if (_call is not { } call)
        {
            return false; // at the start of a process, outside of its log
        }

        if (call.Fiber is not null && _chance.Percent(ComeBetweenPercent))
        {
            Stand(call, world.Machine.StepTime(step));
        }

        if (world.Machine.IsDown)
        {
            world.Faults.Note(FaultKind.StorageDown);
            throw Broken();
        }

        switch (call.Fate.Fault)
        {
            case FaultKind.CrashInDiskCall or FaultKind.MachineCrash when call.Strikes(step, isAnyStep: true):
                End(call);
                break;
            case FaultKind.DiskStall when call.Strikes(step, isAnyStep: true):
                Note(FaultKind.DiskStall);
                Stand(call, _chance.Between(20 * s_millisecond, 300 * s_millisecond));
                break;
            case FaultKind.DiskReadFails when call.Strikes(step, isAnyStep: false):
                Note(FaultKind.DiskReadFails);
                throw Broken();
            case { } fault when call.Strikes(step, isAnyStep: false):
                Note(fault);
                return true;
        }

        return false;
    }

    private void End(DiskCall call)
    {
        call.Crashed = call.Fate.Fault;
        world.Machine.Struck(call.Crashed!.Value);
        scope.Kill();
        throw new ProcessEndedException();
    }

    private void Stand(DiskCall call, long ticks)
    {
        if (call.Fiber is null)
        {
            throw new InvalidOperationException("A call that is carried out at once cannot wait.");
        }

        call.Pause = ticks;
        call.Fiber.Pause();
        DemandLife();
    }
}
