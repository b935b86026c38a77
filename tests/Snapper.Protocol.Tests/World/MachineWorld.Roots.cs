using Snapper.Protocol.Commitment;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Locking;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;

namespace Snapper.Protocol.Tests.World;

/// <summary>Transactions: their start, their scripts, their ends.</summary>
internal sealed partial class MachineWorld
{
    private void StartPact(PactTicket ticket, TransactionId tid, BatchId bid, bool marked)
    {
        if (ticket.Tid != tid)
        {
            return; // removed before it began; it has a new number, or will get one
        }

        var request = (Request)ticket.Request;
        var attempt = Begin(request, tid, bid, tid);
        attempt.Marked = marked;
        CountCall(attempt, ticket.Root);
        EnterRoot(attempt);
    }

    private void StartAct(Request request)
    {
        var tid = TransactionId.Act(++_actCounter + 100, 0); // ages below can be given by a test
        if (request.Age == TransactionId.None)
        {
            request.Age = tid;
        }

        var attempt = Begin(request, tid, BatchId.None, request.Age);
        _acts.Add(tid, attempt);
        attempt.Participants.Add(Keys[IndexOf(request.Script.Actor)]);
        EnterRoot(attempt);
    }

    private Attempt Begin(Request request, TransactionId tid, BatchId bid, TransactionId age)
    {
        request.Attempts++;
        var attempt = new Attempt(request, tid, bid, age, _current);
        request.Attempt = attempt;
        attempt.Root = new Frame(attempt, request.Script, IndexOf(request.Script.Actor), null);
        Trace?.Invoke($"{request.Script.Actor}: {attempt} starts as {Name(tid)}");
        return attempt;
    }

    private void EnterRoot(Attempt attempt)
    {
        var root = attempt.Root!;
        var entered = _actors[root.Actor].Enter(root, KnownFinal(), _outputs);
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
                return ++attempt.Calls[i] <= declared[i].Calls;
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
        _actors[frame.Actor].Step(new Message { Kind = MessageKind.CallEnded, Body = frame }, KnownFinal(), _outputs);
        Trace?.Invoke($"{frame.Script.Actor}: {frame.Attempt} has left");
        Dispatch(frame.Actor);
        if (frame.CallerFrame is null)
        {
            EndSucceeded(frame.Attempt);
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

    private void EndSucceeded(Attempt attempt)
    {
        if (attempt.RootEnded)
        {
            return;
        }

        attempt.RootEnded = true;
        var request = attempt.Request;
        if (attempt.IsPact)
        {
            RootEnding.EndPact(request.Ticket!, attempt.Marked, succeeded: true, attempt.Calls, _outputs);
        }
        else
        {
            RootEnding.EndAct(new ActOutcome(attempt.Tid, committed: true, attempt.Participants.ToArray(), request), _outputs);
        }

        Dispatch(-1);
    }

    private void RequestAbort(Attempt attempt, AbortReason reason)
    {
        if (attempt.IsAlive)
        {
            attempt.IsAlive = false;
            attempt.AbortCause = reason;
            Trace?.Invoke($"  {attempt} is doomed: {reason}");
            Send(attempt.Node, new WorkItem { Kind = WorkKind.AbortRequested, Extra = attempt });
        }
    }

    private void EndAborted(Attempt attempt)
    {
        if (!attempt.IsPact)
        {
            if (_acts.ContainsKey(attempt.Tid)) // else it was overruled before this was read
            {
                EndAbortedAct(attempt);
            }
        }
        else if (!attempt.RootEnded)
        {
            attempt.RootEnded = true;
            Deaths[(int)attempt.AbortCause]++;
            RootEnding.EndPact(attempt.Request.Ticket!, attempt.Marked, succeeded: false, attempt.Calls, _outputs);
            Dispatch(-1);
        }
    }

    private void EndAbortedAct(Attempt attempt)
    {
        var ownOutcome = !attempt.RootEnded && attempt.AbortCause == AbortReason.Application;
        Require(_acts.ContainsKey(attempt.Tid), $"{attempt} dies before its record is queued");
        attempt.RootEnded = true;
        Deaths[(int)attempt.AbortCause]++;
        var participants = attempt.Participants.ToArray();
        if (ownOutcome)
        {
            // H7: it may have read what is undone, so its answer waits like a commit.
            RootEnding.EndAct(new ActOutcome(attempt.Tid, committed: false, participants, attempt.Request), _outputs);
            Dispatch(-1);
            return;
        }

        _acts.Remove(attempt.Tid);
        if (attempt.AbortCause == AbortReason.Undone)
        {
            SendToCommit(new Message { Kind = MessageKind.BranchAbortAcknowledged, Tid = attempt.Tid, Body = participants });
        }
        else
        {
            RootEnding.AbortAct(attempt.Tid, participants, _outputs);
            Dispatch(-1);
        }

        if (attempt.AbortCause == AbortReason.Timeout)
        {
            AnswerTo(attempt.Request, Answer.Aborted, AbortReason.Timeout);
        }
        else
        {
            ToRepeat.Add(attempt.Request);
        }
    }

    private void OnRootMessage(in Message message, Attempt attempt)
    {
        Tell($"root of {attempt}", message);
        if (attempt.IsPact)
        {
            attempt.RootEnded = true;
            if (attempt.IsAlive)
            {
                attempt.IsAlive = false;
                attempt.AbortCause = AbortReason.Undone;
            }

            return;
        }

        // An own abort whose outcome is not queued is none when it closes a ring (H5) or rests on undone state (A5).
        var isOpen = attempt.AbortCause == AbortReason.Application && _acts.ContainsKey(attempt.Tid);
        if (attempt.IsAlive || isOpen)
        {
            attempt.IsAlive = false;
            attempt.AbortCause = message.Kind == MessageKind.Removed ? AbortReason.Undone : message.Reason;
            EndAbortedAct(attempt);
        }
        else if (message.Kind == MessageKind.Removed)
        {
            SendToCommit(new Message { Kind = MessageKind.BranchAbortAcknowledged, Tid = attempt.Tid });
        }
    }
}
