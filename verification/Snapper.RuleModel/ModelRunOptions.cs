namespace Snapper.RuleModel;

/// <summary>What a run of the rule model explores.</summary>
public sealed record ModelRunOptions
{
    /// <summary>The rules as written, or one of them broken.</summary>
    public ModelVariant Variant { get; init; }

    /// <summary>Which rules of commit are followed. Default: those that the product has.</summary>
    public ModelRules Rules { get; init; } = ModelRules.Prefix;

    /// <summary>The first seed; every schedule has one of its own, counted up from here.</summary>
    public ulong FirstSeed { get; init; } = 1;

    /// <summary>Most schedules to run; at least 1.</summary>
    public long Schedules { get; init; } = 1_000_000;

    /// <summary>Sizes, taken in turn: the seed decides which. Not empty. Default: <see cref="ModelSize.Sweep"/>.</summary>
    public IReadOnlyList<ModelSize> Sizes { get; init; } = ModelSize.Sweep;

    /// <summary>
    /// Transactions in words, for a run over the schedules of one scenario; then <see cref="Sizes"/> holds one size, of which the actors and workers count.
    /// A line is <c>act</c> or <c>pact</c>, then <c>r</c> or <c>w</c> with an actor (X, Y, Z, V) per operation, then any of <c>parallel</c>,
    /// <c>may-abort</c>, <c>aborts</c>, <c>throws n</c>, <c>declares Y</c>. Default: none, every seed draws a scenario of its own.
    /// </summary>
    public IReadOnlyList<string> Scripts { get; init; } = [];

    /// <summary>The run stops after this time, whatever is left. Default: no bound.</summary>
    public TimeSpan TimeBudget { get; init; } = Timeout.InfiniteTimeSpan;

    /// <summary>The run stops after this many failures; only the first is kept in words. Default: 1.</summary>
    public int StopAfterFailures { get; init; } = 1;

    /// <summary>Only schedules that end in this way count as failures. Default: null, every way but <see cref="ModelVerdict.Held"/>.</summary>
    public ModelVerdict? LookingFor { get; init; }

    /// <summary>Let workers crash, PACTs throw and transactions abort by their own code. Default: true.</summary>
    public bool Misfortunes { get; init; } = true;

    /// <summary>Look for a smaller schedule that fails in the same way before reporting. Default: true.</summary>
    public bool Shrink { get; init; } = true;

    /// <summary>
    /// W1, proposed: an ACT that holds no lock waits, whatever the age of those ahead of it. The product does not have
    /// it
    /// yet. Default: false.
    /// </summary>
    public bool FirstLocksWait { get; init; }

    /// <summary>Ends a run early; the result then counts what was run.</summary>
    public CancellationToken Cancellation { get; init; }
}
