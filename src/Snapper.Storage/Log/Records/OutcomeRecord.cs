using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Storage.Log.Records;

/// <summary>How one request ended, stored in the same record as its effects (I1, I4).</summary>
public sealed class OutcomeRecord
{
    /// <summary>The caller's key or the generated id, 1..128 characters.</summary>
    public required string RequestId { get; init; }

    /// <summary>True when the caller chose the id, knew it before this record was made, or another worker made it and passed the request on: it is then kept for the idempotency window.</summary>
    public required bool IsCallerKey { get; init; }

    /// <summary>
    /// The request was answered "in doubt" before the record was durable: its id, a generated one, is kept as a caller's is. Of the record in
    /// memory alone; set before the checkpointer hears of it.
    /// </summary>
    public bool IsInDoubt { get; set; }

    /// <summary>Hash of the whole request, to tell a repetition from another request with the same key (I2).</summary>
    public required UInt128 RequestHash { get; init; }

    /// <summary>True: an ACT.</summary>
    public required bool IsAct { get; init; }

    /// <summary>The last attempt's number.</summary>
    public required TransactionId Transaction { get; init; }

    /// <summary>Its batch; none for an ACT.</summary>
    public required BatchId Batch { get; init; }

    /// <summary>Number of attempts, 1 or more.</summary>
    public required int Attempts { get; init; }

    /// <summary>When it was queued, Unix milliseconds; only for the idempotency window.</summary>
    public required long AtUnixMs { get; init; }

    /// <summary><see cref="AbortReason.None"/>: committed.</summary>
    public required AbortReason Abort { get; init; }

    /// <summary>Committed: the result as UTF-8 JSON. Aborted: the message as UTF-8 text.</summary>
    public required ReadOnlyMemory<byte> Payload { get; init; }

    /// <summary>It committed with a result that was too large to be kept: <see cref="Payload"/> is empty.</summary>
    public bool IsResultDropped { get; init; }

    /// <summary>Aborted: where; else null.</summary>
    public ActorKey? AbortActor { get; init; }

    /// <summary>The same with its payload copied, so that it does not keep a whole group in memory.</summary>
    internal OutcomeRecord WithPayloadOfItsOwn() => new()
    {
        RequestId = RequestId,
        IsCallerKey = IsCallerKey,
        RequestHash = RequestHash,
        IsAct = IsAct,
        Transaction = Transaction,
        Batch = Batch,
        Attempts = Attempts,
        AtUnixMs = AtUnixMs,
        Abort = Abort,
        Payload = Payload.ToArray(),
        IsResultDropped = IsResultDropped,
        AbortActor = AbortActor,
    };
}
