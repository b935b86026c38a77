using System.CommandLine;
using Snapper.Failures;
using Snapper.Terminal;

namespace Snapper.Benchmarks;

/// <summary>What to run and for how long.</summary>
public sealed record BenchmarkOptions
{
    private const double SecondsMax = 3600;

    private static readonly Argument<string[]> s_names = new("NAME") { Description = "benchmarks; none: all, about four hours" };
    private static readonly Option<double> s_duration = Seconds("--duration", "seconds of a measured run", 15);
    private static readonly Option<double> s_warmup = Seconds("--warmup", "seconds of load before it", 5);
    private static readonly Option<double> s_idle = Seconds("--idle", "seconds of the idle measurement", 20);
    private static readonly Option<int> s_repeat = Options.Whole("--repeat", "N", "measured runs per side", 5, 1, 100);
    private static readonly Option<long> s_seed = Options.Of(
        "--seed", "N", "decides all random choices", Values.Long(0, long.MaxValue), 42);

    private static readonly Option<int> s_accounts = Options.Whole(
        "--accounts", "N", "accounts of the workload", 10_000, 4, Load.AccountIds.CountMax);

    private static readonly Option<int> s_resident = Options.Whole(
        "--resident", "N", "accounts that `memory` touches", 200_000, 1, Load.AccountIds.CountMax);

    private static readonly Option<long> s_transactions = Options.Of(
        "--transactions", "N", "before the crash of `recovery`", Values.Long(1, 1_000_000_000), 1_000_000);

    private static readonly Option<int[]> s_connections = List(
        "--connections", "connections to try (64,128,192); the fastest is measured", 4096);
    private static readonly Option<int[]> s_batches = List(
        "--batch", "transactions per request to try in `pact-batched` (32,128,256)", 1000);
    private static readonly Option<int[]> s_pipelines = List(
        "--pipelines", "in-process loops to try (64,128,256)", 65_536);

    private static readonly Option<string> s_old = Options.Of(
        "--old", "COMMIT", "what `single-worker-cpu` and `two-worker-cpu` compare this tree with",
        static text => text.StartsWith('-') ? throw new UsageException("must be a commit") : text, "f451d1f");

    private static readonly Option<bool> s_quick = Options.Flag(
        "--quick", "everything short, one repetition: a smoke test, not a measurement");

    private static readonly Option<string?> s_out = Options.Text(
        "--out", "FOLDER", "write table and JSON there as well");
    private static readonly Option<bool> s_list = Options.Flag("--list", "names and what they measure");

    /// <summary>Names of the benchmarks; empty: all.</summary>
    public IReadOnlyList<string> Names { get; init; } = [];

    /// <summary>Seconds of a measured run.</summary>
    public double Duration { get; init; } = 15;

    /// <summary>Seconds of load before each measured run.</summary>
    public double Warmup { get; init; } = 5;

    /// <summary>Measured runs per side.</summary>
    public int Repeat { get; init; } = 5;

    /// <summary>Accounts of the workload.</summary>
    public int Accounts { get; init; } = 10_000;

    /// <summary>Accounts that the memory benchmark touches.</summary>
    public int ResidentAccounts { get; init; } = 200_000;

    /// <summary>Transactions before the crash of the recovery benchmark.</summary>
    public long Transactions { get; init; } = 1_000_000;

    /// <summary>Connections to try; the fastest is measured.</summary>
    public IReadOnlyList<int> Connections { get; init; } = [64, 128, 192];

    /// <summary>Transactions per request to try in <c>pact-batched</c>.</summary>
    public IReadOnlyList<int> Batches { get; init; } = [32, 128, 256];

    /// <summary>Closed loops to try in process.</summary>
    public IReadOnlyList<int> Pipelines { get; init; } = [64, 128, 256];

    /// <summary>Seconds of the idle measurement.</summary>
    public double Idle { get; init; } = 20;

    /// <summary>Commit whose runtime <c>single-worker-cpu</c> and <c>two-worker-cpu</c> compare this tree's with: what <c>git worktree add</c> takes.</summary>
    public string Old { get; init; } = "f451d1f";

    /// <summary>Decides all random choices.</summary>
    public ulong Seed { get; init; } = 42;

    /// <summary>Where the table and the JSON go besides <c>loadtest/results/today</c>; null: nowhere.</summary>
    public string? Out { get; init; }

    /// <summary>As given, for the command that measures a number again.</summary>
    public string Given { get; init; } = "";

    /// <summary><c>./snapper bench</c>.</summary>
    /// <param name="run">Runs benchmarks.</param>
    /// <param name="list">Writes the list of them.</param>
    public static Command Command(Func<BenchmarkOptions, Task<int>> run, Func<int> list) => CommandLines.Command(
        "./snapper bench", "benchmarks with their baselines, side by side",
        (line, _, _) => line.GetValue(s_list) ? Task.FromResult(list()) : run(From(line)),
        s_names, s_duration, s_warmup, s_repeat, s_seed, s_accounts, s_idle, s_connections, s_batches, s_pipelines, s_transactions, s_resident,
        s_old, s_quick, s_out, s_list);

    /// <summary>Of a line.</summary>
    internal static BenchmarkOptions From(ParseResult line)
    {
        var names = line.GetValue(s_names) ?? [];
        var options = new BenchmarkOptions
        {
            Names = names,
            Given = string.Join(' ', line.Tokens.Select(static token => token.Value).Where(token => !names.Contains(token))),
            Old = line.GetValue(s_old)!,
            Seed = (ulong)line.GetValue(s_seed),
            Accounts = line.GetValue(s_accounts),
            Out = line.GetValue(s_out),
        };
        var isQuick = line.GetValue(s_quick);
        return options with
        {
            Duration = Given(s_duration, 1),
            Warmup = Given(s_warmup, 0.5),
            Idle = Given(s_idle, 2),
            Repeat = Given(s_repeat, 1),
            ResidentAccounts = Given(s_resident, 5_000),
            Transactions = Given(s_transactions, 2_000),
            Connections = line.GetList(s_connections) ?? (isQuick ? [16] : options.Connections),
            Batches = line.GetList(s_batches) ?? (isQuick ? [32] : options.Batches),
            Pipelines = line.GetList(s_pipelines) ?? (isQuick ? [32] : options.Pipelines),
        };

        T? Given<T>(Option<T> option, T quick) => isQuick && line.GetResult(option) is not { Implicit: false } ? quick : line.GetValue(option);
    }

    private static Option<double> Seconds(string name, string help, double @default) =>
        Options.Of(name, "S", help, Values.Number(double.Epsilon, SecondsMax), @default);

    private static Option<int[]> List(string name, string help, int max) => Options.Of<int[]>(name, "LIST", help, Values.List(Values.Whole(1, max)));
}
