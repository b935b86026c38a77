namespace Snapper.RuleModel;

/// <summary>What a run of the rule model found.</summary>
public sealed record ModelRunResult
{
    /// <summary>Schedules run to their end.</summary>
    public required long Schedules { get; init; }

    /// <summary>Steps of all schedules.</summary>
    public required long Steps { get; init; }

    /// <summary>Schedules that met a limit of the model's tables and were given up unjudged.</summary>
    public required long GivenUp { get; init; }

    /// <summary>Schedules that broke a promise.</summary>
    public required long Failures { get; init; }

    /// <summary>The first of them, as found or shrunken; null when there is none.</summary>
    public required ModelFailure? First { get; init; }

    /// <summary>How often each kind of step ran, by name in the order of the model's steps: what never ran was not tested.</summary>
    public required IReadOnlyList<KeyValuePair<string, long>> StepCounts { get; init; }

    /// <summary>Commits that the rules by prefix would have held back.</summary>
    public required CommitsAhead Ahead { get; init; }

    /// <summary>Time that the search took, without shrinking.</summary>
    public required TimeSpan Elapsed { get; init; }

    /// <summary>The seed behind the last one that ran: where a next run goes on.</summary>
    public required ulong NextSeed { get; init; }

    /// <summary>No schedule broke a promise.</summary>
    public bool Passed => Failures == 0;

    /// <summary>One line of numbers, and the first failure in words.</summary>
    public override string ToString() =>
        $"{Schedules:N0} schedules, {Steps:N0} steps, {Failures:N0} failures, {GivenUp:N0} given up, "
        + $"{Elapsed.TotalSeconds:0.0} s, {Schedules / Math.Max(Elapsed.TotalSeconds, 1e-9):N0} schedules/s{Ahead}"
        + (First is null ? "" : Environment.NewLine + First);
}
