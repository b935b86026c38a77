using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Transactions;

namespace Snapper.Runtime.Execution;

/// <summary>Roots of transactions on this executor: their user code begins here, and what <see cref="TransactionMachine"/> decides is carried out.</summary>
public sealed partial class Executor
{
    // Attempts whose root is here, oldest first (W4).
    private readonly LinkedList<Attempt> _runningAttempts = new();
    private readonly TransactionMachine _transactions;

    private void StartPact(PactTicket ticket, TransactionId tid, BatchId bid, bool marked, ActorCell cell)
    {
        var request = Request.Of(ticket);
        if (!TransactionMachine.MayBegin(request, tid))
        {
            return;
        }

        var attempt = Begin(request, tid, bid, age: tid, marked, ticket.Global, out var effects);
        attempt.CountCall(cell.Key, out var declared);
        var frame = request.Method.CreateRoot(attempt, cell, request.Input);
        if (attempt.Global is not null)
        {
            frame.CountUnder(declared);
        }

        attempt.Root = frame;
        Carry(request, attempt, effects);
        if (attempt.IsAlive)
        {
            EnterRoot(cell, frame);
        }
    }

    private void StartAct(Request request, bool gateIsOpen)
    {
        if (request.IsAnswered || (!gateIsOpen && Worker.Commits.TryHold(request)))
        {
            return;
        }

        if (Worker.Peers.TakesAct(request, this))
        {
            return;
        }

        var tid = Worker.NextAct();
        var attempt = Begin(request, tid, BatchId.None, Retry.AgeOf(request, tid), marked: false, member: null, out _);
        Worker.Acts[tid.Value] = attempt;
        attempt.TryAddParticipant(request.Asked.Actor);
        var cell = GetCell(request.Asked.Actor, isCalled: true);
        var frame = request.Method.CreateRoot(attempt, cell, request.Input);
        attempt.Root = frame;
        if (!cell.IsLoaded)
        {
            frame.StartWaiting();
            StepActor(WorkItem.Call(frame));
            return;
        }

        EnterRoot(cell, frame);
    }

    private Attempt Begin(
        Request request, TransactionId tid, BatchId bid, TransactionId age, bool marked, GlobalMember? member,
        out AttemptEffects effects)
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
        effects = TransactionMachine.Begin(attempt);
        attempt.Trace = Worker.Watch.Begin(attempt, before);
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

        if (root.TryEncodeResult(Worker.MaxResultBytes, out var result) is { } why)
        {
            RequestAbort(attempt, new AbortInfo(AbortReason.Application, why, root.Target));
            return;
        }

        request.Result = result;
        if (attempt.EnforceRecordLimit)
        {
            // L6: it has run before, perhaps because its record would have been too large.
            var bytes = attempt.StatesWeight + RecordWeight.OfOutcome(request.Id, null, result.Length);
            if (bytes > Worker.Options.MaxTransactionBytes)
            {
                RequestAbort(attempt, AbortInfo.TooLarge(bytes, Worker.Options.MaxTransactionBytes));
                return;
            }
        }

        Carry(request, attempt, _transactions.Returned(attempt, attempt.Global is null ? attempt.Calls : root.CallsUnder));
    }

    private void EndAborted(Attempt attempt)
    {
        const AttemptEffects OfBranch = AttemptEffects.TellRoot | AttemptEffects.Ended;
        Carry(attempt.Request, attempt, attempt.Origin is null ? _transactions.Aborted(attempt) : OfBranch);
    }

    private void OnRootMessage(Attempt attempt, in Message message)
    {
        if (attempt.Origin is not null)
        {
            Worker.Peers.OnBranchMessage(attempt, message);
        }
        else
        {
            Carry(attempt.Request, attempt, _transactions.OnMessage(attempt, message));
        }
    }

    private void OnDeadline(Request request, AbortReason reason)
    {
        if (!request.IsAnswered)
        {
            Carry(request, request.Attempt, _transactions.OnDeadline(request, request.Attempt, reason));
        }
    }

    /// <summary>Carries out a machine's step, in the order that <see cref="AttemptEffects"/> states.</summary>
    public void Carry(Request request, Attempt? attempt, AttemptEffects effects, AbortInfo? why = null)
    {
        if ((effects & AttemptEffects.TellRoot) != 0)
        {
            Worker.Peers.TellRoot(attempt!, why ?? attempt!.AbortCause!);
        }

        if ((effects & AttemptEffects.Ended) != 0)
        {
            End(attempt!);
        }

        if ((effects & AttemptEffects.Aborted) != 0)
        {
            NoteAbort(attempt!, effects);
        }

        if ((effects & AttemptEffects.AbortElsewhere) != 0)
        {
            Worker.Peers.AbortElsewhere(attempt!);
        }

        Dispatch(null);
        if ((effects & AttemptEffects.LocksGone) != 0)
        {
            StartAwaiting(attempt!);
        }

        if ((effects & AttemptEffects.AbortRequested) != 0)
        {
            Post(WorkItem.AbortRequested(attempt!));
        }

        if ((effects & AttemptEffects.Retry) != 0)
        {
            Repeat(request, attempt!.AbortCause!.Blocker);
        }

        if ((effects & AttemptEffects.Answer) != 0)
        {
            Worker.RequestManager.Answer(request, request.Envelope(Door.Outcome.Aborted));
        }

        if ((effects & AttemptEffects.InDoubt) != 0)
        {
            Worker.RequestManager.InDoubt(request);
        }
    }

    private void StartAwaiting(Attempt ended)
    {
        if (ended.Origin is null)
        {
            Worker.StartAwaiting(ended);
        }
        else
        {
            Worker.PostToCommits(() => Worker.StartAwaiting(ended)); // behind the ends that the commit machine sends
        }
    }

    private void NoteAbort(Attempt attempt, AttemptEffects effects)
    {
        var why = attempt.AbortCause!;
        var method = attempt.Request.Method;
        var runsAgain = (effects & AttemptEffects.RunsAgain) != 0;
        if (runsAgain && why.Reason == AbortReason.Application && !method.Marked && Worker.Options.MarkMethodsThatFail)
        {
            method.Marked = true; // A1: from then on in this process
            Worker.NoteMarked(method, why);
        }

        Worker.NoteAbort(attempt, why, repeated: runsAgain || (effects & AttemptEffects.Retry) != 0);
    }

    private void End(Attempt attempt)
    {
        attempt.Trace?.CodeEnded();
        Worker.Peers.Forget(attempt); // whoever was called may have dropped the call, and never answer
        if (attempt.Running is not null)
        {
            _runningAttempts.Remove(attempt.Running);
            attempt.Running = null;
        }
    }

    /// <summary>Runs an ACT again (<see cref="Retry"/>).</summary>
    private void Repeat(Request request, long blocker)
    {
        if (Worker.SchedulingPolicy.ActRepeatedAtOnce())
        {
            PostStart(request, gateIsOpen: false);
            return;
        }

        if (blocker != 0 && Worker.Acts.TryGetValue(blocker, out var holder) && holder.TryAwaitEnd(request))
        {
            return; // it would die of the same locks until then
        }

        var most = Retry.LongestPause(request.Attempts, (int)Worker.Options.FirstBackOff.TotalMilliseconds);
        var pause = Worker.SchedulingPolicy.ActRepeatedLate() ? 4 * most : Jitter(most + 1);
        if (pause == 0)
        {
            PostStart(request, gateIsOpen: false);
            return;
        }

        Worker.After(TimeSpan.FromMilliseconds(pause), this, request);
    }
}
