using Snapper.Benchmarks.Load;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;

namespace Snapper.Benchmarks.InProcess;

/// <summary>Transfers as the door of a worker takes them.</summary>
public static class TransferRequests
{
    /// <summary>The actors of the first accounts, made once.</summary>
    public static ActorKey[] Keys(int accounts)
    {
        var keys = new ActorKey[accounts];
        for (var i = 0; i < keys.Length; i++)
        {
            keys[i] = new ActorKey("Account", AccountIds.Of(i));
        }

        return keys;
    }

    /// <summary>A PACT with its four actors declared, or an ACT.</summary>
    public static TransactionRequest Of(ActorKey[] keys, TransactionKind kind, Transfer transfer) => new()
    {
        Actor = keys[transfer.Root],
        Method = "MultiTransfer",
        Input = InputOf(transfer),
        Mode = kind == TransactionKind.Pact ? TransactionMode.Pact : TransactionMode.Act,
        Access = kind == TransactionKind.Pact
            ? [new(keys[transfer.Root], 1), new(keys[transfer.To1], 1), new(keys[transfer.To2], 1), new(keys[transfer.To3], 1)]
            : null,
    };

    /// <summary>How it ended.</summary>
    public static TransactionEnd EndOf(TransactionEnvelope envelope) => envelope.Outcome == Outcome.Committed
        ? new TransactionEnd(true, envelope.Attempts, null)
        : new TransactionEnd(false, Math.Max(1, envelope.Attempts), ReasonOf(envelope))
        {
            InDoubt = envelope.Outcome == Outcome.InDoubt,
        };

    private static byte[] InputOf(Transfer transfer)
    {
        // {"to":["c000001","c000002","c000003"],"amount":1}
        var input = "{\"to\":[\"c000000\",\"c000000\",\"c000000\"],\"amount\":1}"u8.ToArray();
        AccountIds.Write(transfer.To1, input.AsSpan(8));
        AccountIds.Write(transfer.To2, input.AsSpan(18));
        AccountIds.Write(transfer.To3, input.AsSpan(28));
        return input;
    }

    private static string ReasonOf(TransactionEnvelope envelope) =>
        envelope.Abort is { } abort && abort.Reason != AbortReason.None ? AbortReasons.Name(abort.Reason) : envelope.Outcome + " " + envelope.Rejection?.Detail;
}
