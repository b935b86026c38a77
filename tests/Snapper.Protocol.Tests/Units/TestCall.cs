using Snapper.Protocol.Identity;
using Snapper.Protocol.Scheduling;

namespace Snapper.Protocol.Tests.Units;

/// <summary>A call without user code.</summary>
internal sealed class TestCall(TransactionId tid, BatchId bid = default, IActorCall? caller = null) : IActorCall
{
    public TransactionId Tid { get; } = tid;

    public BatchId Bid { get; } = bid;

    public TransactionId Age { get; init; } = tid;

    public bool IsAlive { get; set; } = true;

    public BatchId Ceil { get; set; }

    public IActorCall? Caller { get; } = caller;

    public IActorCall? Below { get; set; }

    public Visit? Visit { get; set; }
}
