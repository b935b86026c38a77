using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;
using Snapper.Protocol.Tests.World;

namespace Snapper.Protocol.Tests.Cluster;

/// <summary>Scripts and the calls that they make, on this worker and on others.</summary>
internal sealed partial class WorkerNode
{
    private void Run(ClusterFrame frame)
    {
        while (frame.IsAlive && frame.Visit is { IsOver: false } && frame.Awaits is null && frame.WaitsFor == LockMode.None && !frame.HasReturned)
        {
            if (frame.Position == frame.Script.Ops.Length)
            {
                frame.HasReturned = true;
                TryEnd(frame);
                return;
            }

            if (!RunOp(frame, frame.Script.Ops[frame.Position]))
            {
                return;
            }
        }
    }

    private bool RunOp(ClusterFrame frame, in Op op)
    {
        switch (op.Kind)
        {
            case OpKind.Read or OpKind.Write:
                if (!HasLock(frame, op.Kind == OpKind.Write ? LockMode.Exclusive : LockMode.Shared))
                {
                    return false;
                }

                Access(frame, op.Kind);
                frame.Position++;
                return true;
            case OpKind.Call or OpKind.Start:
                frame.Position++;
                return StartCall(frame, op.Callee!, op.Kind == OpKind.Call);
            case OpKind.Pause:
                frame.Position++;
                _world.Later(Index, () => Run(frame));
                return false;
            case OpKind.ThrowIfOdd when frame.LastSeen % 2 == 0:
                frame.Position++;
                return true;
            default:
                RequestAbort(frame.Branch, AbortReason.Application);
                return false;
        }
    }

    private bool HasLock(ClusterFrame frame, LockMode mode)
    {
        if (frame.Branch.Request.IsPact)
        {
            return true;
        }

        var answer = _actors[frame.Actor]!.AskLock(frame, mode, out _, _outputs);
        Dispatch(frame.Actor);
        switch (answer)
        {
            case LockAnswer.Granted:
                return true;
            case LockAnswer.Waiting:
                frame.WaitsFor = mode;
                return false;
            default:
                RequestAbort(frame.Branch, AbortReason.Conflict);
                return false;
        }
    }

    private void OnLockGranted(ClusterFrame frame)
    {
        frame.WaitsFor = LockMode.None;
        Run(frame);
    }

    private void Access(ClusterFrame frame, OpKind kind)
    {
        var actor = _actors[frame.Actor]!;
        var seen = (Appended?)actor.Read(frame);
        frame.LastSeen = seen?.Length ?? 0;
        var attempt = frame.Branch.Attempt!;
        if (seen is null || !ReferenceEquals(seen.Writer, attempt))
        {
            attempt.Reads.Add((frame.Actor, seen));
        }

        if (kind == OpKind.Write)
        {
            var written = new Appended(seen, attempt);
            actor.Write(frame, written);
            attempt.Writes.Add((frame.Actor, written));
        }
    }

    private bool StartCall(ClusterFrame caller, CallScript script, bool awaited)
    {
        var branch = caller.Branch;
        var actor = _world.IndexOf(script.Actor);
        var key = _world.Keys[actor];
        if (branch.Request.IsPact)
        {
            var declared = IndexOfDeclared(branch.Request, key);
            if (declared >= 0)
            {
                caller.Calls[declared]++;
            }

            if (declared < 0 || ++branch.Calls[declared] > branch.Request.Declared![declared].Calls)
            {
                RequestAbort(branch, AbortReason.Undeclared);
                return false;
            }
        }

        var token = new object();
        var to = _world.Workers[_world.Homes[actor]];
        caller.Children++;
        if (awaited)
        {
            caller.Awaits = token;
        }

        if (to == this)
        {
            Participates(branch, key);
            var frame = new ClusterFrame(branch, script, actor, caller, token);
            _world.Send(Index, () => ToActor(actor, new Message { Kind = MessageKind.Call, Actor = key, Body = frame }));
        }
        else
        {
            branch.Visited.Add(to.Index);
            _world.Send(to.Index, () => to.OnCall(caller, script, actor, token));
        }

        return !awaited;
    }

    private static void Participates(Branch branch, ActorKey actor)
    {
        if (!branch.Request.IsPact && !branch.Participants.Contains(actor))
        {
            branch.Participants.Add(actor);
        }
    }

    /// <summary>A call from another worker.</summary>
    private void OnCall(ClusterFrame caller, CallScript script, int actor, object token)
    {
        var found = caller.Branch.Request.IsPact
            ? RootOrPart(_globals.Admit(caller.Branch.GlobalTid, () => OnCall(caller, script, actor, token)))
            : ActBranch(caller.Branch);
        if (found is not { IsAlive: true } branch)
        {
            return; // it waits for its place, or it is late (W3, A8)
        }

        branch.Attempt ??= caller.Branch.Attempt;
        MachineWorld.Require(!branch.IsSealed, $"{branch} is called after its root has finished");
        Participates(branch, _world.Keys[actor]);
        var frame = new ClusterFrame(branch, script, actor, caller, token);
        ToActor(actor, new Message { Kind = MessageKind.Call, Actor = _world.Keys[actor], Body = frame });
    }

    private Branch? RootOrPart(PactBranch? pact) => pact?.Ticket switch
    {
        null => null,
        { IsRemote: true } ticket => (Branch)ticket.Request,
        var ticket => _roots.TryGetValue((Request)ticket.Request, out var root) && root.Tid == pact.Tid ? root : null,
    };

    private Branch? ActBranch(Branch other)
    {
        if (_tombstones.Contains(other.Tid))
        {
            return null;
        }

        if (!_acts.TryGetValue(other.Tid, out var branch))
        {
            _acts.Add(other.Tid, branch = new Branch(other.Request, this, other.Root) { Tid = other.Tid });
            branch.Part = new Part(branch, _acts);
        }

        return branch;
    }

    private void TryEnd(ClusterFrame frame)
    {
        if (!frame.HasReturned || frame.Children > 0 || frame.HasEnded || !frame.IsAlive)
        {
            return;
        }

        frame.HasEnded = true;
        _actors[frame.Actor]!.Step(new Message { Kind = MessageKind.CallEnded, Body = frame }, _commit.Final, _outputs);
        Dispatch(frame.Actor);
        if (frame.CallerFrame is not { } caller)
        {
            Carry(frame.Branch, _transactions.Returned(frame.Branch.Attempt!, frame.Calls));
            return;
        }

        var worker = caller.Branch.Worker;
        if (worker == this)
        {
            _world.Send(Index, () => OnResult(caller, frame));
        }
        else
        {
            var visited = frame.Branch.Visited.ToArray();
            _world.Send(worker.Index, () => worker.OnRemoteResult(caller, frame, visited));
        }
    }

    private void OnRemoteResult(ClusterFrame caller, ClusterFrame frame, int[] visited)
    {
        foreach (var worker in visited)
        {
            if (worker != Index)
            {
                caller.Branch.Visited.Add(worker);
            }
        }

        OnResult(caller, frame);
    }

    private void OnResult(ClusterFrame caller, ClusterFrame frame)
    {
        for (var i = 0; i < frame.Calls.Length; i++)
        {
            caller.Calls[i] += frame.Calls[i];
        }

        caller.Children--;
        if (ReferenceEquals(caller.Awaits, frame.Token))
        {
            caller.Awaits = null;
            Run(caller);
        }

        TryEnd(caller);
    }
}
