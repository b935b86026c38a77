using System.Globalization;

namespace Snapper.Benchmarks;

/// <summary>A wrong command line; the message says what is wrong.</summary>
public sealed class OptionsException(string message) : Exception(message);

/// <summary>What to run and for how long.</summary>
public sealed record BenchmarkOptions
{
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

    /// <summary>Usage, for <c>--help</c> and errors.</summary>
    public const string Usage = """
        ./snapper bench [NAME ...] [options]
          --duration S     seconds of a measured run (15)       --warmup S   seconds of load before it (5)
          --repeat N       measured runs per side (5)           --seed N     decides all random choices (42)
          --accounts N     accounts of the workload (10000)     --idle S     seconds of the idle measurement (20)
          --connections L  connections to try (64,128,192)      --batch L    transactions per request to try (32,128,256)
          --pipelines L    in-process loops to try (64,128,256) --transactions N  before the crash of `recovery` (1000000)
          --resident N     accounts that `memory` touches (200000)
          --old COMMIT     what `single-worker-cpu` and `two-worker-cpu` compare this tree with (f451d1f)
          --quick          everything short, one repetition: a smoke test, not a measurement
          --out FOLDER     write table and JSON there as well
          --list           names and what they measure
        """;

    /// <summary>Reads the command line.</summary>
    /// <exception cref="OptionsException">Unknown option, or a value that is missing or out of range.</exception>
    public static BenchmarkOptions Parse(IReadOnlyList<string> arguments)
    {
        var options = new BenchmarkOptions();
        var names = new List<string>();
        for (var i = 0; i < arguments.Count; i++)
        {
            var name = arguments[i];
            if (!name.StartsWith('-'))
            {
                names.Add(name);
                continue;
            }

            if (name == "--quick")
            {
                options = options.Quick();
                continue;
            }

            if (i + 1 == arguments.Count)
            {
                throw new OptionsException($"{name} is unknown or needs a value.");
            }

            options = options.With(name, arguments[++i]);
        }

        return options with { Names = names, Given = string.Join(' ', arguments.Where(argument => !names.Contains(argument))) };
    }

    private BenchmarkOptions Quick() => this with
    {
        Duration = 1,
        Warmup = 0.5,
        Repeat = 1,
        Connections = [16],
        Batches = [32],
        Pipelines = [32],
        Transactions = 2_000,
        ResidentAccounts = 5_000,
        Idle = 2,
    };

    private BenchmarkOptions With(string name, string value) => name switch
    {
        "--duration" => this with { Duration = Seconds(name, value) },
        "--warmup" => this with { Warmup = Seconds(name, value) },
        "--idle" => this with { Idle = Seconds(name, value) },
        "--repeat" => this with { Repeat = (int)Number(name, value, 1, 100) },
        "--accounts" => this with { Accounts = (int)Number(name, value, 4, Load.AccountIds.CountMax) },
        "--resident" => this with { ResidentAccounts = (int)Number(name, value, 1, Load.AccountIds.CountMax) },
        "--transactions" => this with { Transactions = Number(name, value, 1, 1_000_000_000) },
        "--connections" => this with { Connections = Numbers(name, value, 4096) },
        "--batch" => this with { Batches = Numbers(name, value, 1000) },
        "--pipelines" => this with { Pipelines = Numbers(name, value, 65_536) },
        "--seed" => this with { Seed = (ulong)Number(name, value, 0, long.MaxValue) },
        "--old" => this with { Old = value.StartsWith('-') ? throw new OptionsException($"--old must be a commit, not \"{value}\".") : value },
        "--out" => this with { Out = value },
        _ => throw new OptionsException($"{name} is not an option."),
    };

    private static double Seconds(string name, string value) =>
        double.TryParse(value, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var seconds) && seconds is > 0 and <= 3600
            ? seconds
            : throw new OptionsException($"{name} must be seconds above 0 and at most 3600, not \"{value}\".");

    private static long Number(string name, string value, long min, long max) =>
        long.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number >= min && number <= max
            ? number
            : throw new OptionsException($"{name} must be a number from {min} to {max}, not \"{value}\".");

    private static int[] Numbers(string name, string value, int max) =>
        value.Split(',').Select(part => (int)Number(name, part, 1, max)).ToArray();
}
