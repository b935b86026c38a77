using Snapper.AspNetCore.Hosting;

namespace Snapper.Cli.Demo;

internal sealed record DemoSettings
{
    /// <summary>Number of accounts, at least 8.</summary>
    public required int Accounts { get; init; }

    /// <summary>The workers' Dapr app id.</summary>
    public string AppId { get; init; } = WorkerSettings.DefaultAppId;

    /// <summary>How long a transaction may take, with all that is repeated for it; its outcome must be known then. Default: 60 s.</summary>
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>HTTP requests under way at once.</summary>
    public required int Concurrency { get; init; }

    /// <summary>How long each phase submits.</summary>
    public required TimeSpan PhaseLength { get; init; }

    /// <summary>How long a balance may be unreadable before the money is not counted. Default: 20 s, longer than the take-over of a dead worker's actors takes.</summary>
    public TimeSpan ReadWithin { get; init; } = TimeSpan.FromSeconds(20);

    /// <summary>What an account of the bank holds before anybody has used it.</summary>
    public const decimal FirstBalance = 20_000m;

    /// <summary>Name of account <paramref name="i"/>, from 0. The same in every run: a later run finds the money where the last one left it.</summary>
    public static string Account(int i) => $"demo-{i:0000}";
}

/// <summary>One kind of load. <paramref name="PactShare"/> of the transactions are PACTs, the others ACTs.</summary>
internal sealed record DemoPhase(string Name, double PactShare, int TransactionsPerRequest)
{
    /// <summary>Load in the background of the other phases, as long as one looks.</summary>
    public static readonly DemoPhase GoesOn = new("mixed, goes on", 0.5, 1) { Length = TimeSpan.FromSeconds(5) };

    /// <summary>Its own length, and no progress is shown; null: the settings'.</summary>
    public TimeSpan? Length { get; init; }

    /// <summary>What the demo shows, in order.</summary>
    public static readonly IReadOnlyList<DemoPhase> All =
    [
        new("PACT", 1, 1),
        new("ACT", 0, 1),
        new("mixed", 0.5, 1),
        new("mixed, 20 per request", 0.5, 20),
    ];
}

/// <summary>The demo cannot tell whether the system works. The message says why.</summary>
internal class DemoFailedException(string message) : Exception(message);

/// <summary>The money cannot be counted now; perhaps later.</summary>
internal sealed class BalanceUnreadableException(string message) : DemoFailedException(message);
