using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Coordination;

/// <summary>
/// The token of a worker's ring of local coordinators: whoever holds it forms the next batch (thesis 3.3.2). Exactly one
/// exists per process; it needs no recovery, for it dies with the process (R1).
/// </summary>
public sealed class RingToken
{
    private readonly Dictionary<ActorKey, SubBatch> _last = [];

    /// <summary>A token whose first batch gets a number above <paramref name="lastTid"/>.</summary>
    public RingToken(TransactionId lastTid) => LastTid = lastTid;

    /// <summary>The newest number that was given to a PACT.</summary>
    public TransactionId LastTid { get; set; }

    /// <summary>The newest batch.</summary>
    public BatchId LastBid { get; set; }

    /// <summary>Bit i: coordinator i wants the token.</summary>
    public ulong WantedBy { get; set; }

    /// <summary>Number of actors with a batch that is not known to be final.</summary>
    public int Actors => _last.Count;

    /// <summary>The actor's sub-batch of the newest batch that touches it; null when that sub-batch is final.</summary>
    public SubBatch? LastOf(ActorKey actor) => _last.TryGetValue(actor, out var last) && !last.IsFinal ? last : null;

    /// <summary>Notes the actor's newest sub-batch.</summary>
    public void SetLast(SubBatch subBatch) => _last[subBatch.Actor] = subBatch;

    /// <summary>Forgets a final sub-batch: what comes after it has nothing to wait for.</summary>
    public void Forget(SubBatch final)
    {
        if (_last.TryGetValue(final.Actor, out var last) && last.Bid == final.Bid)
        {
            _last.Remove(final.Actor);
        }
    }
}
