using Snapper.Protocol.Commitment;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Global;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Requests;

namespace Snapper.Runtime.Execution;

/// <summary>Roots of transactions on this executor: start, end, dooms and deadlines.</summary>
internal sealed partial class Executor
{
    // Attempts whose root is here, oldest first (W4).
    private readonly LinkedList<Attempt> _runningAttempts = new();

    private void StartPact(PactTicket ticket, TransactionId tid, BatchId bid, bool marked, ActorCell cell)
    {
        if (ticket.Tid != tid)
        {
            return; // removed before it began; it has a new number, or will get one
        }

        var request = (Request)ticket.Request;
        if (request.Shed == tid)
        {
            return;
        }

        var attempt = Begin(request, tid, bid, age: tid, marked, ticket.Global);
        attempt.CountCall(cell.Key, out var declared);
        var frame = request.Method.CreateRoot(attempt, cell, request.Input);
        if (attempt.Global is not null)
        {
            frame.CountUnder(declared);
        }

        attempt.Root = frame;
        if (request.Expired)
        {
            RequestAbort(attempt, Worker.DeadlinePassed());
            return;
        }

        EnterRoot(cell, frame);
    }

    private void StartAct(Request request, bool gateIsOpen)
    {
        if (request.IsAnswered || (!gateIsOpen && Worker.Commits.TryHold(request)))
        {
            return;
        }

        if (Worker.Cluster is { } cluster && cluster.Ownership.Look(request.Asked.Actor).State is not OwnershipState.Open and var state)
        {
            cluster.Door.NotHere(request, state, this);
            return;
        }

        if (Worker.Cluster?.MayHaveRunElsewhere(request) == true)
        {
            Worker.Cluster.Door.NotHere(request, OwnershipState.NotOwned, this);
            return;
        }

        var tid = Worker.NextAct();
        if (request.Age == TransactionId.None)
        {
            request.Age = tid;
        }

        var attempt = Begin(request, tid, BatchId.None, request.Age, marked: false, member: null);
        Worker.Acts[tid.Value] = attempt;
        attempt.TryAddParticipant(request.Asked.Actor);
        var cell = GetCell(request.Asked.Actor);
        var frame = request.Method.CreateRoot(attempt, cell, request.Input);
        attempt.Root = frame;
        if (cell.Machine is null)
        {
            frame.StartWaiting();
            var item = new WorkItem { Kind = WorkKind.Actor };
            item.Message.Kind = MessageKind.Call;
            item.Message.Actor = cell.Key;
            item.Message.Body = frame;
            StepActor(item);
            return;
        }

        EnterRoot(cell, frame);
    }

    private Attempt Begin(Request request, TransactionId tid, BatchId bid, TransactionId age, bool marked, GlobalMember? member)
    {
        var attempt = new Attempt(request, tid, bid, age, this, Worker.Time.GetUtcNow())
        {
            EnforceRecordLimit = request.Attempts > 0,
            Marked = marked,
            Global = member,
            BeganAt = Worker.Time.GetTimestamp(),
        };
        var before = request.Attempt;
        request.Attempt = attempt;
        request.Attempts++;
        attempt.Trace = Worker.Watch.Begin(attempt, before);
        request.Phase = RequestPhase.Running;
        request.Abort = null;
        request.Result = null;
        attempt.Running = _runningAttempts.AddLast(attempt);
        return attempt;
    }

    private void EnterRoot(ActorCell cell, CallFrame frame)
    {
        var entered = Machine(cell).Enter(frame, Worker.Final, _outputs);
        Dispatch(cell);
        if (entered)
        {
            frame.Run();
        }
        else
        {
            frame.StartWaiting();
        }
    }

    private void EndSucceeded(CallFrame root)
    {
        var attempt = root.Attempt;
        var request = attempt.Request;
        if (attempt.RootEnded)
        {
            return;
        }

        try
        {
            request.Result = root.EncodeResult(request.Method, Worker.Options.MaxResultBytes);
        }
        catch (Exception exception) // the result's own code may throw anything
        {
            RequestAbort(attempt, new AbortInfo(AbortReason.Application, $"The result of {root.Where()} cannot be written as JSON: {exception.Message}", root.Target));
            return;
        }

        if (request.Result.Length > Worker.Options.MaxResultBytes)
        {
            var text = $"The result of {root.Where()} has {request.Result.Length} bytes; the limit is {Worker.Options.MaxResultBytes}.";
            RequestAbort(attempt, new AbortInfo(AbortReason.Application, text, root.Target));
            return;
        }

        if (attempt.EnforceRecordLimit)
        {
            // L6: it has run before, perhaps because its record would have been too large.
            var bytes = attempt.StatesWeight + Hosting.RecordWeight.OfOutcome(request.Id, null, request.Result.Length);
            if (bytes > Worker.Options.MaxTransactionBytes)
            {
                RequestAbort(attempt, new AbortInfo(AbortReason.Application, CommitMachine.TooLarge(bytes, Worker.Options.MaxTransactionBytes)));
                return;
            }
        }

        if (!attempt.TrySeal())
        {
            return; // doomed meanwhile from another executor: its end is under way
        }

        End(attempt);
        request.Phase = RequestPhase.Ended;
        if (attempt.IsPact)
        {
            RootEnding.EndPact(request.Ticket!, attempt.Marked, succeeded: true, attempt.Global is null ? attempt.Calls : root.CallsUnder, _outputs);
        }
        else
        {
            RootEnding.EndAct(new ActOutcome(attempt.Tid, committed: true, attempt.TakeParticipants(), request) { Others = attempt.TakeVisited() }, _outputs);
        }

        Dispatch(null);
    }

    private void EndAborted(Attempt attempt)
    {
        if (attempt.Origin is not null)
        {
            End(attempt);
            Worker.Cluster!.Acts.TellRoot(attempt, attempt.AbortCause!);
        }
        else if (attempt.IsPact)
        {
            EndAbortedPact(attempt);
        }
        else if (Worker.Acts.ContainsKey(attempt.Tid.Value)) // else it was overruled before this was read
        {
            EndAbortedAct(attempt);
        }
    }

    private void EndAbortedPact(Attempt attempt)
    {
        if (attempt.RootEnded)
        {
            return; // removed after its end: the commit machine numbers it anew
        }

        End(attempt);
        var request = attempt.Request;
        var doom = attempt.AbortCause!;
        request.Abort = doom;
        request.Phase = RequestPhase.Ended;
        var end = RootEnding.EndPact(request.Ticket!, attempt.Marked, succeeded: false, attempt.Calls, _outputs);
        if (end == PactEnd.RunAgain && doom.Reason == AbortReason.Application && !request.Method.Marked && Worker.Options.MarkMethodsThatFail)
        {
            request.Method.Marked = true; // A1: from then on in this process
            Worker.NoteMarked(request.Method, doom);
        }

        Worker.NoteAbort(attempt, doom, repeated: end == PactEnd.RunAgain);
        Dispatch(null);
        if (request.Expired && (end == PactEnd.RunAgain || doom.Reason == AbortReason.Timeout))
        {
            AnswerTimeout(request);
        }
    }

    /// <summary>
    /// Nothing of the request can commit any more, and no attempt of it will begin: the answer relies on nothing that the
    /// log has to hold first.
    /// </summary>
    private void AnswerTimeout(Request request)
    {
        request.Abort = Worker.DeadlinePassed();
        Worker.RequestManager.Answer(request, request.Envelope(Door.Outcome.Aborted));
    }

    private void EndAbortedAct(Attempt attempt)
    {
        var request = attempt.Request;
        var doom = attempt.AbortCause!;
        var participants = attempt.TakeParticipants();
        var ownOutcome = !attempt.RootEnded && doom.Reason == AbortReason.Application;
        End(attempt);
        if (ownOutcome)
        {
            // H7: it may have read what is undone, so its answer waits like a commit.
            request.Abort = doom;
            request.Phase = RequestPhase.Ended;
            Worker.NoteAbort(attempt, doom, repeated: false);
            RootEnding.EndAct(new ActOutcome(attempt.Tid, committed: false, participants, request) { Others = attempt.TakeVisited() }, _outputs);
            Dispatch(null);
            return;
        }

        if (!Worker.Acts.TryRemove(attempt.Tid.Value, out _))
        {
            return; // queued, or ended by another message about it
        }

        Worker.Cluster?.Acts.AbortElsewhere(attempt);
        if (attempt.RemovedByUndo)
        {
            // The undo removes it at its actors, and waits for this.
            Worker.SendToCommit(new Message { Kind = MessageKind.BranchAbortAcknowledged, Tid = attempt.Tid, Body = participants });
        }
        else
        {
            RootEnding.AbortAct(attempt.Tid, participants, _outputs);
            Dispatch(null);
        }

        Worker.StartAwaiting(attempt);
        var repeat = AbortReasons.IsRepeated(doom.Reason) && !request.Expired;
        Worker.NoteAbort(attempt, doom, repeat);
        if (repeat)
        {
            request.Phase = RequestPhase.Waiting;
            Worker.RequestManager.Repeat(request, this, doom.Blocker);
        }
        else
        {
            request.Abort = doom.Reason == AbortReason.Undone ? Worker.DeadlinePassed() : doom;
            Worker.RequestManager.Answer(request, request.Envelope(Door.Outcome.Aborted));
        }
    }

    private void End(Attempt attempt)
    {
        attempt.RootEnded = true;
        attempt.Trace?.CodeEnded();
        Worker.Cluster?.Calls.Forget(attempt); // whoever was called may have dropped the call, and never answer
        if (attempt.Running is not null)
        {
            _runningAttempts.Remove(attempt.Running);
            attempt.Running = null;
        }
    }

    private void OnRootMessage(in Message message)
    {
        var attempt = (Attempt)message.Body!;
        if (attempt.IsPact)
        {
            // A5, A8: removed; its contexts throw from now on, and it tells nobody anything any more.
            var undone = new AbortInfo(AbortReason.Undone, "Removed because a transaction before it failed; it runs again.");
            if (attempt.TryAbort(undone, evenSealed: true) && attempt.Origin is null)
            {
                Worker.NoteAbort(attempt, undone, repeated: true);
            }

            End(attempt);
            attempt.Request.Phase = RequestPhase.Waiting;
            return;
        }

        AbortInfo why;
        var removed = message.Kind == MessageKind.Removed;
        if (removed)
        {
            why = new AbortInfo(AbortReason.Undone, "Removed because a transaction before it failed; it runs again.");
        }
        else if (message.Reason == AbortReason.Failure)
        {
            // Whatever took that part, an undo there or the end of that life, is not the transaction's doing: it runs again (W2).
            why = attempt.Against ?? new AbortInfo(AbortReason.Migration, "Another worker lost its part of the transaction before it was decided.");
        }
        else
        {
            why = new AbortInfo(
                message.Reason,
                $"Stood behind batch {message.Value} and ahead of batch {message.Bid}.",
                null,
                Floor: message.Value,
                Ceil: message.Bid.Value);
        }

        if (attempt.Origin is not null)
        {
            Worker.Cluster!.Acts.OnMustGo(attempt, why, removed);
        }
        else if (attempt.TryAbort(why, evenSealed: true) || TryOverride(attempt, why))
        {
            attempt.RemovedByUndo = removed;
            EndAbortedAct(attempt);
        }
        else if (removed)
        {
            // It died by itself: its own end releases its actors; what the undo has put back is not put back twice (A5).
            Worker.SendToCommit(new Message { Kind = MessageKind.BranchAbortAcknowledged, Tid = attempt.Tid });
        }
    }

    /// <summary>
    /// An application abort waits for H3 with its locks and places (H7), so that it can close a ring (H5) or rest on undone
    /// state (A5) like a commit. Then it is no outcome: the commit machine will not queue it, and it runs again.
    /// </summary>
    private bool TryOverride(Attempt attempt, AbortInfo why)
    {
        if (attempt.AbortCause!.Reason != AbortReason.Application || !Worker.Acts.ContainsKey(attempt.Tid.Value))
        {
            return false;
        }

        attempt.Override(why);
        return true;
    }

    private void OnDeadline(Request request, AbortReason reason)
    {
        if (request.IsAnswered)
        {
            return;
        }

        var expired = reason == AbortReason.Timeout;
        var again = expired && request.Expired;
        request.Expired |= expired;
        switch (request.Phase)
        {
            case RequestPhase.Waiting when request.IsPact:
                Worker.SendToCoordinator(Worker.CoordinatorOf(request), new Message { Kind = MessageKind.Withdraw, Body = request.Ticket, Reason = reason });
                if (expired)
                {
                    AnswerTimeout(request); // also when it is numbered: its root has not begun, and will not
                }

                break;
            case RequestPhase.Waiting:
                request.Abort = expired ? Worker.DeadlinePassed() : new AbortInfo(reason, "The caller went away.");
                Worker.RequestManager.Answer(request, request.Envelope(Door.Outcome.Aborted));
                break;
            case RequestPhase.Running when again && request.Attempt is { IsDistributed: true } or { Global: not null }:
                Worker.RequestManager.InDoubt(request); // other workers have part in its end, and one of them may be away for long
                break;
            case RequestPhase.Running when expired:
                RequestAbort(request.Attempt!, Worker.DeadlinePassed());
                break;
            case RequestPhase.Ended when expired:
                Worker.RequestManager.InDoubt(request);
                break;
        }
    }
}
