using System.CommandLine;
using Snapper.Failures;
using Snapper.Scenarios;
using Snapper.Scenarios.Workloads;
using Snapper.Terminal;

namespace Snapper.NBomberHost;

/// <summary>The command line of the host; everything that is said better by NBomber's own options is left to them.</summary>
internal sealed record HostOptions
{
    private static readonly Argument<string> s_scenario = new("NAME") { Description = "a scenario; './snapper load --list' names them" };
    private static readonly Option<int> s_rate = Options.Whole("--rate", "R", "arrivals per second", 200, 1, 1_000_000);
    private static readonly Option<int> s_duration = Options.Whole(
        "--duration", "SECONDS", "measured time", 30, 1, 43_200);
    private static readonly Option<int?> s_warmUp = Options.Of<int?>(
        "--warm-up", "SECONDS", "before it (3)", static text => Values.Whole(0, 3_600)(text));
    private static readonly Option<Uri> s_url = Options.Of(
        "--url", "URL", "a worker", Values.Address, new Uri("http://127.0.0.1:5101"));
    private static readonly Option<int> s_accounts = Options.Whole(
        "--accounts", "N", "accounts", 10_000, 16, 1_000_000);
    private static readonly Option<int> s_seed = Options.Whole(
        "--seed", "N", "decides all random choices", 1, 0, int.MaxValue);
    private static readonly Option<string?> s_worker = Options.Text("--worker", "NAME", "the one to drain or kill");

    public required Scenario Scenario { get; init; }

    public int Rate { get; init; } = 200;

    public int DurationSeconds { get; init; } = 30;

    public int WarmUpSeconds { get; init; } = 3;

    public Uri Url { get; init; } = new("http://127.0.0.1:5101");

    public int Accounts { get; init; } = 10_000;

    public ulong Seed { get; init; } = 1;

    /// <summary>The worker to drain or kill; null: the scenario picks one.</summary>
    public string? Worker { get; init; }

    public WorkloadSettings Workload => new()
    {
        Prefix = WorkloadSettings.NewPrefix(), PactShare = Scenario.PactShare, Accounts = Accounts, Seed = Seed, Chooser = Scenario.Chooser,
    };

    /// <summary>The program. The key of NBomber's licence: <c>NBOMBER_LICENSE</c>.</summary>
    public static Command Program(Func<HostOptions, int> run) => CommandLines.Command(
        "Snapper.NBomber", "lets NBomber drive a scenario (key of its licence: NBOMBER_LICENSE)",
        (line, _, _) => Task.FromResult(run(From(line))),
        s_scenario, s_rate, s_duration, s_warmUp, s_url, s_accounts, s_seed, s_worker);

    /// <exception cref="UsageException">There is no such scenario.</exception>
    internal static HostOptions From(ParseResult line) => new()
    {
        Scenario = ScenarioCatalog.Find(line.GetValue(s_scenario)!)
            ?? throw new UsageException($"Name a scenario: {string.Join(", ", ScenarioCatalog.All.Select(static one => one.Name))}."),
        Rate = line.GetValue(s_rate),
        DurationSeconds = line.GetValue(s_duration),
        WarmUpSeconds = line.GetValue(s_warmUp) ?? 3,
        Url = line.GetValue(s_url)!,
        Accounts = line.GetValue(s_accounts),
        Seed = (ulong)line.GetValue(s_seed),
        Worker = line.GetValue(s_worker),
    };
}
