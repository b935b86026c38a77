using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Commitment;

/// <summary>ACTs of one worker: early abort (H5), waiting for everything before them (H3), end at queueing (H4).</summary>
public sealed partial class CommitMachine
{
    private readonly HybridOrder _order = new();

    /// <summary>ACTs that the commit order remembers.</summary>
    internal int ActsInOrder => _order.Count;
    private readonly List<AbortRequested> _doomed = [];
    private readonly List<ActOutcome> _finished = [];

    /// <summary>ACTs that the commit order remembers although they are over: to be forgotten, now and then.</summary>
    /// <param name="isOver">The shell has ended it: the commit machine knows that already, or is about to hear it.</param>
    public List<TransactionId> FindOver(Func<TransactionId, bool> isOver) => _order.FindOver(isOver);

    /// <summary>
    /// Forgets ACTs. Only behind everything that their roots had sent when <see cref="FindOver"/> found them: the end
    /// of one that was taken back since may be on its way (A5), and must find what stands ahead of it (H3).
    /// </summary>
    public void Forget(List<TransactionId> over)
    {
        foreach (var tid in over)
        {
            if (FindFinished(tid) is null)
            {
                _order.Ended(tid);
            }
        }
    }

    private void OnActFinished(ActOutcome outcome, OutputBuffer outputs)
    {
        _finished.Add(outcome);
        _order.Finished(outcome.Tid, _doomed);
        EndAborting(outputs);
    }

    private void OnActChanges(in Message message, OutputBuffer outputs)
    {
        var outcome = FindFinished(message.Tid);
        if (outcome is null)
        {
            return; // it died while its parts were on their way
        }

        if (message.Flag)
        {
            // H7: what made it unfit may be undone yet, so it waits for H3 with its locks and places like any outcome of its own.
            outcome.Add(null);
            outcome.Refuse((AbortInfo)message.Body!);
        }
        else
        {
            var change = (Change?)message.Body;
            outcome.Add(change);
            Weigh(outcome, change);
        }

        TryCommitAct(outcome, outputs);
    }

    /// <summary>L6: a record has a largest size. An ACT that is beyond it alone ends as one that refused by itself, like one with an unfit part.</summary>
    private void Weigh(ActOutcome outcome, Change? change)
    {
        if (change is null || !outcome.Committed)
        {
            return;
        }

        outcome.Bytes += _limit.OfChange(change);
        if (outcome.Bytes > _limit.Bytes)
        {
            outcome.Refuse(AbortInfo.TooLarge(outcome.Bytes, _limit.Bytes));
        }
    }

    private void CommitActs(OutputBuffer outputs)
    {
        for (var i = 0; i < _finished.Count;)
        {
            if (!TryCommitAct(_finished[i], outputs))
            {
                i++;
            }
        }
    }

    /// <summary>H3: queued only when everything before it on each of its actors is final (D4).</summary>
    private bool TryCommitAct(ActOutcome outcome, OutputBuffer outputs)
    {
        if (outcome.HasVoted || !outcome.IsComplete || _order.IsAborting(outcome.Tid))
        {
            return false;
        }

        if (_order.IsBehindOpen(outcome.Tid))
        {
            return false;
        }

        if (outcome.IsPart)
        {
            // Kept among the finished ones, with its locks and places, until the decision arrives (H2, H4).
            outcome.HasVoted = true;
            Append(new PreparedAct(outcome), outputs);
            return false;
        }

        if (outcome.VotesMissing > 0)
        {
            return false;
        }

        _finished.Remove(outcome);
        _order.Ended(outcome.Tid);
        Append(outcome, outputs);
        if (!outcome.Committed)
        {
            TellOthers(outcome, outcome.Committed, outputs); // R1: an abort is presumed, nothing has to be durable first
        }

        // H4: it ends the moment its record is queued; log order protects whoever comes after.
        foreach (var participant in outcome.Participants)
        {
            outputs.ToActor(MessageKind.ActEnd, participant, outcome.Tid, BatchId.None).Flag = outcome.Committed;
        }

        return true;
    }

    /// <summary>A vote of another worker has come to the root's.</summary>
    /// <param name="tid">The ACT.</param>
    /// <param name="yes">False: it has lost its part.</param>
    /// <param name="vote">The rest of what it says.</param>
    /// <param name="outputs">Receives the effects.</param>
    private void OnActVoted(TransactionId tid, bool yes, ActVote? vote, OutputBuffer outputs)
    {
        if (FindFinished(tid) is not { IsPart: false } outcome)
        {
            return; // it died meanwhile
        }

        if (!yes)
        {
            _order.RequestAbort(tid, _doomed);
            EndAborting(outputs);
            return;
        }

        if (vote?.Unfit is { } unfit)
        {
            outcome.Refuse(unfit); // H7: told after H3 there, so that it stands
        }

        for (var i = 0; i < vote?.Visited.Count; i++)
        {
            if (outcome.AddOther(vote.Visited[i]))
            {
                RootEnding.Prepare(outcome, outcome.Others.Count - 1, outputs);
            }
        }

        outcome.Voted();
        TryCommitAct(outcome, outputs);
    }

    /// <summary>The root's worker has decided an ACT that this worker takes part in.</summary>
    private void OnActDecided(TransactionId tid, bool committed, OutputBuffer outputs)
    {
        if (FindFinished(tid) is not { IsPart: true } part)
        {
            return; // it was told before, or has ended by itself before it voted
        }

        if (committed && !part.HasVoted)
        {
            throw new ProtocolViolationException($"ACT {tid} is committed, but this worker has not voted for it.");
        }

        _finished.Remove(part);
        _order.Ended(tid);
        if (part.HasVoted)
        {
            Append(new DecidedAct(part, committed), outputs);
        }

        foreach (var participant in part.Participants)
        {
            outputs.ToActor(MessageKind.ActEnd, participant, tid, BatchId.None).Flag = committed;
        }
    }

    /// <summary>What became of an ACT, to the other workers that it visited.</summary>
    private static void TellOthers(ActOutcome outcome, bool committed, OutputBuffer outputs)
    {
        for (var i = 0; i < outcome.Others.Count; i++)
        {
            ref var message = ref outputs.Add(OutputKind.SendToParticipant, MessageKind.ActDecided, i);
            message.Tid = outcome.Tid;
            message.Flag = committed;
            message.Body = outcome;
        }
    }

    private void OnActAborted(TransactionId tid, OutputBuffer outputs)
    {
        _order.Ended(tid);
        if (FindFinished(tid) is { } outcome)
        {
            _finished.Remove(outcome);
            if (!outcome.IsPart)
            {
                // Those that it visited itself hear it from the root. Where it went from there only votes have told, and who would pass it on may be dead.
                TellOthers(outcome, committed: false, outputs);
            }
        }
    }

    private ActOutcome? FindFinished(TransactionId tid)
    {
        foreach (var outcome in _finished)
        {
            if (outcome.Tid == tid)
            {
                return outcome;
            }
        }

        return null;
    }

    private void EndAborting(OutputBuffer outputs)
    {
        foreach (var doomed in _doomed)
        {
            // The root decides: it poisons its branches, releases its actors and reports that it is gone.
            ref var message = ref outputs.Add(OutputKind.SendToRoot, MessageKind.Die);
            message.Tid = doomed.Tid;
            message.Reason = doomed.Reason;
            message.Bid = doomed.Ceil;
            message.Value = doomed.Floor.Value;
        }

        _doomed.Clear();
    }
}
