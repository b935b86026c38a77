using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Scheduling;

/// <summary>What arrives before its time: sub-batches without their predecessor, and messages about tids not known yet (A2).</summary>
public sealed partial class ActorMachine
{
    // Sub-batches whose predecessor has not arrived, and messages about tids that are not known yet (A2).
    private List<SubBatch>? _parked;
    private List<EarlyMessage>? _early;

    // Removals that came before the sub-batch of their transaction, which is on its way.
    private List<Victim>? _removedEarly;

    /// <summary>
    /// The actor's sub-batch of this batch may yet come. That of a final one has been here, perhaps before the actor
    /// left memory.
    /// </summary>
    private bool IsAhead(BatchId bid) => bid > _lastPlaced && bid > _final;

    private void ForgetEarly()
    {
        _early!.RemoveAll(early => early.Call is null && early.Bid <= _final);
        if (_early.Count == 0)
        {
            _early = null;
        }
    }

    private SubBatch? TakeParked()
    {
        for (var i = 0; i < _parked!.Count; i++)
        {
            var candidate = _parked[i];
            if (candidate.Previous <= _lastPlaced || candidate.FollowsFinal)
            {
                _parked.RemoveAt(i);
                if (_parked.Count == 0)
                {
                    _parked = null;
                }

                return candidate;
            }
        }

        return null;
    }

    private void DeliverEarly(OutputBuffer outputs)
    {
        var early = _early!;
        _early = null;
        foreach (var message in early)
        {
            if (message.Bid > _lastPlaced)
            {
                (_early ??= []).Add(message);
            }
            else if (message.Call is not null)
            {
                OnCall(message.Call, outputs);
            }
            else
            {
                OnEnded(message.Tid, message.Bid, message.Committed, message.Count, outputs);
            }
        }
    }

    private readonly record struct EarlyMessage(TransactionId Tid, BatchId Bid, bool Committed, int Count, IActorCall? Call);
}
