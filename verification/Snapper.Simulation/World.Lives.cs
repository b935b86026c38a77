using Snapper.Runtime.Execution;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Workers;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Remembering;

namespace Snapper.Simulation;

/// <summary>The lives of the worker: how they begin, fail, are replaced, and end with the machine.</summary>
internal sealed partial class World
{
    public void RecoveryFailed(SimulatedWorker worker, Exception exception)
    {
        if ((Storage.IsDamaged || Folder.HasDamage) && exception is CorruptLogException)
        {
            RepairDamage(); // it was seen, and nothing has happened
        }
        else if (worker.Life <= _livesAtRepair && exception is CorruptLogException)
        {
            // It has read before the record was put right.
        }
        else if ((Storage.IsLost || Folder.IsLost) && exception is LostLogException)
        {
            Storage.Restore(); // it was refused: whoever runs the server finds the right one
            Folder.Restore();
            _livesAtRestoring = _lives;
        }
        else if (worker.Life <= _livesAtRestoring && exception is LostLogException)
        {
            // It has looked before the right one was put back.
        }
        else if ((Storage.IsLost || Folder.IsLost) && exception is CorruptLogException)
        {
            // It went between two steps of the recovery, which saw that; the next one has to see it at once.
        }
        else if (exception is LogLostException && IsReplaced(worker))
        {
            // It met the fence of the next one.
        }
        else if (exception is not IOException || !Scenario.MayFailStorage || HasBeenHealed)
        {
            Violated($"Life {worker.Life} could not recover: {exception}");
        }

        Restart(worker, Chance.Between(Millisecond, 50 * Millisecond));
    }

    public void WorkerFailed(SimulatedWorker worker, Exception exception)
    {
        // A fence is what stops an owner that was replaced; a gap means that the log lost something, which it does only where that is the fault.
        var expected = exception is LogLostFailure { Status: var status } && (status == AppendStatus.Gap ? Storage.WasLost : status == AppendStatus.Fenced && IsReplaced(worker));
        if (!expected)
        {
            Violated($"Life {worker.Life} stopped: {exception}");
        }

        worker.Remember();

        // Not inside its own step: the process ends a moment later, as a real one does.
        After(Chance.Between(0, Millisecond), null, () => Restart(worker, Chance.Between(Millisecond, 50 * Millisecond)));
    }

    public void Opened(SimulatedWorker worker)
    {
        // One that had begun before may have read the record while it was whole.
        if ((Storage.IsDamaged || Folder.IsDamaged) && worker.Life > _livesAtDamage)
        {
            Violated($"Life {worker.Life} opened on a log with a damaged record.");
        }

        // One that had begun before finds out at its first call.
        if ((Storage.IsLost || Folder.IsLost) && worker.Life > _livesAtLoss)
        {
            Violated($"Life {worker.Life} opened on a log that is not the one it remembers.");
        }

        RepairDamage();
    }

    /// <summary>The log is not there any more as the workers left it.</summary>
    public void LogIsLost() => _livesAtLoss = _lives;

    /// <summary>
    /// Another life has begun after it, or an earlier one that lived when it began may have taken the log over later, or the last call that did so was one of a
    /// dead life that arrived late, or another log stood in the place of this one at some time: its epoch need not be the log's.
    /// </summary>
    private bool IsReplaced(SimulatedWorker worker) =>
        worker.Life < _lives || worker.HadCompany || _livesAtLoss > 0 || (Storage.LastOpener is { } opener && opener != worker.Scope);

    /// <summary>For so long that what was on its way when the last fault ended has arrived or was given up.</summary>
    private bool HasBeenHealed => IsHealed && Now - HealedAt > TimeSpan.FromSeconds(5).Ticks;

    /// <summary>That has happened: who knew of it did not find what it had.</summary>
    public override bool LogWasLost => _livesAtLoss > 0;

    /// <summary>A byte of the log was changed.</summary>
    public void LogIsDamaged() => _livesAtDamage = _lives;

    private void RepairDamage()
    {
        if (Storage.HasDamage || Folder.HasDamage)
        {
            _livesAtRepair = _lives;
        }

        Storage.Repair();
        Folder.Repair();
    }

    /// <summary>The worker that owns the log now, as far as anybody knows.</summary>
    public SimulatedWorker? Owner => _owner;

    /// <summary>Ends a worker; if it was the owner, another life begins after a pause.</summary>
    public void Restart(SimulatedWorker worker, long pause)
    {
        if (worker.LeftUnanswered > 0)
        {
            Violated($"Life {worker.Life} is over, and {worker.LeftUnanswered} of its requests were not answered: {worker.Standing}.");
        }

        worker.Crash();
        Processes.Remove(worker);
        if (_owner == worker)
        {
            _owner = null;
            After(pause, null, () =>
            {
                if (_owner is null)
                {
                    StartWorker();
                }
            });
        }
    }

    /// <summary>A worker ended between two steps of a call to its disk, alone or with the machine.</summary>
    public void CrashedInACall(SimulatedWorker worker, FaultKind kind)
    {
        var pause = Chance.Between(Millisecond, 30 * Millisecond);
        if (kind == FaultKind.MachineCrash)
        {
            CrashMachine(pause);
            return;
        }

        Faults.Note(kind);
        Restart(worker, pause);
    }

    /// <summary>Everything on the machine ends, and what was not flushed is lost; it starts again after a pause.</summary>
    public void CrashMachine(long pause)
    {
        foreach (var worker in Processes.ToArray())
        {
            Restart(worker, pause);
        }

        Machine.Disk.Crash();
    }

    /// <summary>Ends every worker but the owner.</summary>
    public void EndOthers()
    {
        foreach (var worker in Processes.ToArray())
        {
            if (worker != _owner)
            {
                Restart(worker, 0);
            }
        }
    }

    /// <summary>Begins a new life, beside the old one if that is not dead.</summary>
    public void StartWorker()
    {
        var worker = new SimulatedWorker(this, ++_lives) { HadCompany = Processes.Exists(static other => !other.Scope.IsDead) };
        Processes.Add(worker);
        _owner = worker;
        worker.Start();
    }
}
