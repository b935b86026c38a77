namespace Snapper.Judging.Histories;

/// <summary>One transaction as its client observed it.</summary>
public sealed record ObservedTransaction
{
    /// <summary>Name for reports; unique in the history by convention, not checked.</summary>
    public required string Id { get; init; }

    /// <summary>The client that submitted it. Clients are independent; only times order transactions.</summary>
    public int Process { get; init; }

    /// <summary>
    /// Taken before the request left, on a monotonic clock that all processes of the history share. Any unit, see <see cref="Completed"/>.
    /// </summary>
    public required long Invoked { get; init; }

    /// <summary>
    /// Taken after the answer had arrived, same clock and unit; not below <see cref="Invoked"/>. Null when no answer came. Ignored for
    /// <see cref="ObservedOutcome.Unknown"/>.
    /// </summary>
    public long? Completed { get; init; }

    /// <summary>What the client knows.</summary>
    public required ObservedOutcome Outcome { get; init; }

    /// <summary>How it was run.</summary>
    public ObservedMode Mode { get; init; }

    /// <summary>How often the system ran it, when it says so; at least 1.</summary>
    public int Attempts { get; init; } = 1;

    /// <summary>True when its operations were issued all at once, so that their order in the list says nothing.</summary>
    public bool Parallel { get; init; }

    /// <summary>
    /// Of an aborted one: the abort is an answer that rests on what was read, as "not enough money" does. Then its reads are judged as those of a transaction that commits and
    /// writes nothing. False: they are not judged.
    /// </summary>
    public bool ReadsCount { get; init; }

    /// <summary>In program order, unless <see cref="Parallel"/>. May be empty.</summary>
    public required IReadOnlyList<MicroOperation> Operations { get; init; }
}

/// <summary>The history itself makes no sense, so nothing can be said about the system.</summary>
public sealed class InvalidHistoryException : Exception
{
    /// <summary>Creates the exception with what is wrong and where.</summary>
    public InvalidHistoryException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with what is wrong, where, and why.</summary>
    public InvalidHistoryException(string message, Exception inner)
        : base(message, inner)
    {
    }
}
