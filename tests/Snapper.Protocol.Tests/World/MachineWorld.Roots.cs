using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;
using Snapper.Protocol.Transactions;

namespace Snapper.Protocol.Tests.World;

/// <summary>Transactions: their scripts, and what the machine of their roots decides.</summary>
internal sealed partial class MachineWorld
{
    private void StartPact(PactTicket ticket, TransactionId tid, BatchId bid, bool marked)
    {
        var request = (Request)ticket.Request;
        if (TransactionMachine.MayBegin(request, tid))
        {
            var attempt = Begin(request, tid, bid, tid, marked);
            CountCall(attempt, ticket.Root);
            EnterRoot(attempt);
        }
    }

    private void StartAct(Request request)
    {
        var tid = TransactionId.Act(++_actCounter + 100, 0); // ages below can be given by a test
        var attempt = Begin(request, tid, BatchId.None, Retry.AgeOf(request, tid), marked: false);
        _acts.Add(tid, attempt);
        attempt.Participants.Add(Keys[IndexOf(request.Script.Actor)]);
        EnterRoot(attempt);
    }

    private Attempt Begin(Request request, TransactionId tid, BatchId bid, TransactionId age, bool marked)
    {
        var attempt = new Attempt(request, tid, bid, age, _current, _acts) { Marked = marked };
        request.Attempt = attempt;
        TransactionMachine.Begin(attempt);
        attempt.Root = new Frame(attempt, request.Script, IndexOf(request.Script.Actor), null);
        Trace?.Invoke($"{request.Script.Actor}: {attempt} starts as {Name(tid)}");
        return attempt;
    }

    private void EnterRoot(Attempt attempt)
    {
        var root = attempt.Root!;
        var entered = _actors[root.Actor].Enter(root, _commit.Final, _outputs);
        Dispatch(root.Actor);
        if (entered)
        {
            Run(root);
        }
    }

    private void Run(Frame frame)
    {
        if (frame.Position == 0 && frame.Visit is { IsOver: false } visit && frame.IsAlive)
        {
            NoteStay(frame, visit);
        }

        while (frame.IsAlive && frame.Visit is { IsOver: false })
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

    /// <returns>False: the script waits, or is over.</returns>
    private bool RunOp(Frame frame, in Op op)
    {
        switch (op.Kind)
        {
            case OpKind.Read:
            case OpKind.Write:
                if (!HasLock(frame, op.Kind == OpKind.Write ? LockMode.Exclusive : LockMode.Shared))
                {
                    return false;
                }

                Access(frame, op.Kind);
                frame.Position++;
                return true;
            case OpKind.Call:
            case OpKind.Start:
                frame.Position++;
                return StartCall(frame, op.Callee!, op.Kind == OpKind.Call);
            case OpKind.Pause:
                frame.Position++;
                if (Chance is null)
                {
                    Paused.Add(frame);
                }
                else
                {
                    var current = _current;
                    _current = Outside;
                    Send(_actorNode[frame.Actor], new WorkItem { Kind = WorkKind.Continue, Extra = frame });
                    _current = current;
                }

                return false;
            case OpKind.ThrowIfOdd when frame.LastSeen % 2 == 0:
                frame.Position++;
                return true;
            default:
                RequestAbort(frame.Attempt, AbortReason.Application);
                return false;
        }
    }

    private bool HasLock(Frame frame, LockMode mode)
    {
        if (frame.Attempt.IsPact)
        {
            return true;
        }

        var answer = _actors[frame.Actor].AskLock(frame, mode, out var blocker, _outputs);
        Trace?.Invoke($"{frame.Script.Actor}: {frame.Attempt} asks for {mode}: {answer}");
        if (answer == LockAnswer.Die)
        {
            Trace?.Invoke($"  refuse lock of {frame}, because of {Name(blocker)}");
        }

        Dispatch(frame.Actor);
        switch (answer)
        {
            case LockAnswer.Granted:
                CheckLocks(frame);
                return true;
            case LockAnswer.Waiting:
                frame.WaitsFor = mode;
                return false;
            default:
                RequestAbort(frame.Attempt, AbortReason.Conflict);
                return false;
        }
    }

    private void OnLockGranted(Frame frame)
    {
        if (frame.WaitsFor != LockMode.None && frame.IsAlive && frame.Visit is { IsOver: false })
        {
            frame.WaitsFor = LockMode.None;
            Run(frame);
        }
    }

    private void Access(Frame frame, OpKind kind)
    {
        var actor = _actors[frame.Actor];
        var seen = (Appended?)actor.Read(frame);
        frame.LastSeen = seen?.Length ?? 0;
        if (seen is null || !ReferenceEquals(seen.Writer, frame.Attempt))
        {
            frame.Attempt.Reads.Add((frame.Actor, seen));
        }

        if (kind == OpKind.Write)
        {
            var written = new Appended(seen, frame.Attempt);
            actor.Write(frame, written);
            frame.Attempt.Writes.Add((frame.Actor, written));
        }
    }

    private bool StartCall(Frame caller, CallScript script, bool awaited)
    {
        var attempt = caller.Attempt;
        var actor = IndexOf(script.Actor);
        if (attempt.IsPact)
        {
            if (!CountCall(attempt, Keys[actor]))
            {
                RequestAbort(attempt, AbortReason.Undeclared);
                return false;
            }
        }
        else if (!attempt.Participants.Contains(Keys[actor]))
        {
            attempt.Participants.Add(Keys[actor]);
        }

        var frame = new Frame(attempt, script, actor, caller);
        caller.Children++;
        SendToActor(actor, new Message { Kind = MessageKind.Call, Actor = Keys[actor], Body = frame });
        if (awaited)
        {
            caller.Awaits = frame;
        }

        return !awaited;
    }

    private static bool CountCall(Attempt attempt, ActorKey actor)
    {
        var declared = attempt.Request.Declared!;
        for (var i = 0; i < declared.Length; i++)
        {
            if (declared[i].Actor.Equals(actor))
            {
                return ++attempt.Made[i] <= declared[i].Calls;
            }
        }

        return false;
    }

    private void TryEnd(Frame frame)
    {
        if (!frame.HasReturned || frame.Children > 0 || frame.HasEnded || !frame.IsAlive)
        {
            return;
        }

        frame.HasEnded = true;
        _actors[frame.Actor].Step(new Message { Kind = MessageKind.CallEnded, Body = frame }, _commit.Final, _outputs);
        Trace?.Invoke($"{frame.Script.Actor}: {frame.Attempt} has left");
        Dispatch(frame.Actor);
        if (frame.CallerFrame is null)
        {
            Carry(frame.Attempt, _transactions.Returned(frame.Attempt, frame.Attempt.Calls));
        }
        else
        {
            Send(_actorNode[frame.CallerFrame.Actor], new WorkItem { Kind = WorkKind.Result, Extra = frame });
        }
    }

    private void OnResult(Frame frame)
    {
        var caller = frame.CallerFrame!;
        caller.Children--;
        if (ReferenceEquals(caller.Awaits, frame))
        {
            caller.Awaits = null;
            Run(caller);
        }

        TryEnd(caller);
    }

    private void RequestAbort(Attempt attempt, AbortReason reason)
    {
        if (attempt.TryAbort(new AbortInfo(reason, "")))
        {
            Trace?.Invoke($"  {attempt} is doomed: {reason}");
            Send(attempt.Node, new WorkItem { Kind = WorkKind.AbortRequested, Extra = attempt });
        }
    }

    private void OnRootMessage(in Message message, Attempt attempt)
    {
        Tell($"root of {attempt}", message);
        Carry(attempt, _transactions.OnMessage(attempt, message));
    }

    private void Carry(Attempt attempt, AttemptEffects effects)
    {
        if ((effects & AttemptEffects.Aborted) != 0)
        {
            Deaths[(int)attempt.Reason]++;
        }

        Dispatch(-1);
        if ((effects & AttemptEffects.Retry) != 0)
        {
            ToRepeat.Add(attempt.Request);
        }

        if ((effects & AttemptEffects.Answer) != 0)
        {
            AnswerTo(attempt.Request, Answer.Aborted, attempt.Request.Abort!.Reason);
        }
    }
}
