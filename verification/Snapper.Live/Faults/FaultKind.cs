namespace Snapper.Live.Faults;

/// <summary>What a bound is on.</summary>
internal enum Measure
{
    /// <summary>The time from the blow, or from the end of what lasts, until transactions commit again at every door.</summary>
    Recovery,

    /// <summary>The longest that any transaction beside it took: nobody may notice.</summary>
    Stall,
}

/// <summary>A kind of fault, and what it may cost.</summary>
/// <param name="Name">For the command line and the table.</param>
/// <param name="What">What is done, in words for the table.</param>
/// <param name="Bound">What is required.</param>
/// <param name="Act">Does it; returns when it is over.</param>
internal sealed record FaultKind(string Name, string What, TimeSpan Bound, Func<Strike, Task> Act)
{
    public Measure Measure { get; init; } = Measure.Recovery;

    /// <summary>It is over within seconds, so that a short run can have it.</summary>
    public bool IsQuick { get; init; } = true;

    /// <summary>Nothing may abort because of it: whoever waits for it waits in vain for a while, and then commits.</summary>
    public bool AbortsNobody { get; init; }
}
