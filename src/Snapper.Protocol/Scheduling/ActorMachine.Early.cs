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
    private List<Victim>? _removedEarly;

    /// <summary>A removal came before the sub-batch of its transaction, which may yet come.</summary>
    private bool AwaitsRemoved => _removedEarly is not null && _removedEarly.Exists(removed => removed.Bid > _final);

    /// <summary>
    /// The actor's sub-batch of this batch may yet come. That of a final one has been here, perhaps before the actor
    /// left memory.
    /// </summary>
    private bool IsAhead(BatchId bid) => bid > _lastPlaced && bid > _final;

    private SubBatch? TakeParked()
    {
        for (var i = 0; i < _parked!.Count; i++)
        {
            var candidate = _parked[i];
            if (candidate.Previous <= _lastPlaced || candidate.Previous <= _final)
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

    /// <summary>An undo names the transactions of all its actors: those that were never meant for this one are passed by now.</summary>
    private void ForgetRemovedEarly(BatchId placed)
    {
        for (var i = (_removedEarly?.Count ?? 0) - 1; i >= 0; i--)
        {
            if (_removedEarly![i].Bid <= placed)
            {
                _removedEarly.RemoveAt(i);
            }
        }

        if (_removedEarly is { Count: 0 })
        {
            _removedEarly = null;
        }
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
