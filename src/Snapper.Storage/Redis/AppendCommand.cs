using Snapper.Storage.Log;

namespace Snapper.Storage.Redis;

/// <summary>An append, or with a <see cref="Count"/> of 0 a check of the epoch, and the task that its result completes.</summary>
/// <remarks>Completed inline on the connection's thread: a continuation hands over and returns, and never waits for this connection.</remarks>
internal sealed class AppendCommand : TaskCompletionSource<AppendResult>
{
    public required long Epoch { get; init; }

    /// <summary>The opener's mark, ASCII.</summary>
    public required string Mark { get; init; }

    /// <summary>Every record below this number was acknowledged.</summary>
    public required long AcknowledgedNext { get; init; }

    /// <summary>So many checkpoints, trims and savings of outcomes were acknowledged.</summary>
    public long Changes { get; init; }

    public long FirstSequence { get; init; }

    public int Count { get; init; }

    /// <summary>Encoded records; not touched any more once the task is complete.</summary>
    public ReadOnlyMemory<byte> Group { get; init; }

    /// <summary>The number behind the group's last record.</summary>
    public long Behind => FirstSequence + Count;
}
