using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Commitment;

/// <summary>ACTs of one worker: early abort (H5), waiting for everything before them (H3), end at queueing (H4).</summary>
public sealed partial class CommitMachine
{
    private readonly HybridOrder _order = new();
    private readonly List<Doomed> _doomed = [];
    private readonly List<ActOutcome> _finished = [];

    /// <summary>Why a transaction is aborted whose changes are more than a record may hold.</summary>
    public static string TooLarge(long bytes, long limit) =>
        $"The transaction changes more than it may: the states that it leaves and its result have {bytes} bytes or more in all; the limit is {limit}.";

    private void OnActFinished(ActOutcome outcome, OutputBuffer outputs)
    {
        _finished.Add(outcome);
        _order.Finished(outcome.Tid, _final, _doomed);
        KillDoomed(outputs);
    }

    private void OnActChanges(TransactionId tid, Change? change, OutputBuffer outputs)
    {
        var outcome = FindFinished(tid);
        if (outcome is null)
        {
            return; // it died while its parts were on their way
        }

        outcome.Add(Planted.Is(PlantedFault.ForgetOneParticipant) && outcome.Arrived > 0 ? null : change);
        if (change is not null && outcome.Committed && !outcome.IsTooLarge)
        {
            outcome.Bytes += _limit.OfChange(change);
            if (outcome.Bytes > _limit.Bytes)
            {
                outcome.IsTooLarge = true;
                ref var die = ref outputs.Add(OutputKind.SendToRoot, MessageKind.Die);
                die.Tid = tid;
                die.Reason = AbortReason.Application;
                die.Body = TooLarge(outcome.Bytes, _limit.Bytes);
            }
        }

        TryCommitAct(outcome, outputs);
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

    /// <summary>H3: queued only when every batch before it on each of its actors is final.</summary>
    private bool TryCommitAct(ActOutcome outcome, OutputBuffer outputs)
    {
        if (!outcome.IsComplete || outcome.IsTooLarge || (_order.AheadOf(outcome.Tid) > _final && !Planted.Is(PlantedFault.QueueActBeforeAllAheadIsFinal)) || _order.IsDoomed(outcome.Tid))
        {
            return false;
        }

        _finished.Remove(outcome);
        _order.Ended(outcome.Tid);
        outputs.Add(OutputKind.Append).Body = outcome;

        // H4: it ends the moment its record is queued; log order protects whoever comes after.
        foreach (var participant in outcome.Participants)
        {
            outputs.ToActor(MessageKind.ActEnd, participant, outcome.Tid, BatchId.None).Flag = outcome.Committed;
        }

        return true;
    }

    private void OnActGone(TransactionId tid)
    {
        _order.Ended(tid);
        if (FindFinished(tid) is { } outcome)
        {
            _finished.Remove(outcome);
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

    private void KillDoomed(OutputBuffer outputs)
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
