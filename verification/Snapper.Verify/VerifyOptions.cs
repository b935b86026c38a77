using System.Globalization;
using Snapper.Simulation.Cluster;
using Snapper.Simulation.Running;

namespace Snapper.Verify;

/// <summary>What is to be done.</summary>
internal enum VerifyTask
{
    /// <summary>Runs of many seeds.</summary>
    Seeds,

    /// <summary>One scenario, again.</summary>
    Replay,

    /// <summary>Mutations, one at a time.</summary>
    Plant,

    /// <summary>The model of the rules alone.</summary>
    Model,
}

/// <summary>The command line.</summary>
internal sealed record VerifyOptions
{
    public const string Help = """
        ./snapper verify [options]                attacks the product in a simulator and judges what its clients saw
          --seeds N         runs so many seeds (1,000)       --first N      from this one on (a new one each time)
          --minutes M       stops after so many minutes      --threads N    runs beside each other (one per core)
          --seed N          replays one seed, twice, and says whether both runs are alike
          --scenario TEXT   replays one scenario, as a failing run has printed it
          --plant [NAME...] selects mutations of a verification build, one at a time: the table of which seed catches each; with --workers those of several workers
          --limit N         most seeds per mutation (10,000), from 1 or --first on
          --markdown        the table, or the counts, for docs/verification.md
          --workers W       several workers: so many, 2 to 8, or 'any', 2 to 4 by the seed (1)
          --model           random schedules of the rules alone, without any of the product's code; then of the rules broken one by one
          --schedules N     schedules of the model (1,000,000)
        ./snapper verify --live [options]         strikes a running system instead (--live --help)
        ./snapper verify --history FILE           judges a recorded history of any system (docs/histories.md)
        Exit codes: 0 nothing was found; 1 something was; 2 the command line is wrong; 129, 130 or 143 interrupted by SIGHUP, SIGINT or SIGTERM, with nothing
        found until then.
        """;

    public VerifyTask What { get; private init; }

    public bool ShowHelp { get; private init; }

    /// <summary>As asked for; without that a thousand, or as many as fit into the time asked for.</summary>
    public int Seeds => _seeds ?? (Time < s_ample ? int.MaxValue : 1000);

    private static readonly TimeSpan s_ample = TimeSpan.FromHours(24 * 365);

    private int? _seeds;

    public ulong First { get; private init; } = (ulong)DateTimeOffset.UtcNow.ToUnixTimeSeconds() * 1_000_000;

    /// <summary>The first seed of each mutation.</summary>
    public ulong FirstPlanted { get; private init; } = 1;

    public TimeSpan Time { get; private init; } = s_ample;

    public int Threads { get; private init; } = Environment.ProcessorCount;

    public Scenario? Scenario { get; private init; }

    /// <summary>Of several workers.</summary>
    public ClusterScenario? Cluster { get; private init; }

    /// <summary>So many workers; 0: the seed decides; null: one.</summary>
    public int? Workers { get; private init; }

    private ulong? _seed;

    public IReadOnlyList<string> Faults { get; private init; } = [];

    public int Limit { get; private init; } = PlantRun.EnoughForAll;

    public bool Markdown { get; private init; }

    public long Schedules { get; private init; } = 1_000_000;

    public static VerifyOptions Parse(IReadOnlyList<string> arguments)
    {
        var options = new VerifyOptions();
        var given = new HashSet<string>(StringComparer.Ordinal);
        for (var i = 0; i < arguments.Count; i++)
        {
            var name = arguments[i];
            if (!given.Add(name))
            {
                throw new FormatException($"{name} was given twice.");
            }

            string Value() => ++i < arguments.Count ? arguments[i] : throw new FormatException($"{name} needs a value.");
            options = name switch
            {
                "--help" => options with { ShowHelp = true },
                "--seeds" => options with { _seeds = (int)Number(name, Value(), 1, 1_000_000_000) },
                "--first" when Seed(name, Value()) is var first => options with { First = first, FirstPlanted = first },
                "--minutes" => options with { Time = TimeSpan.FromMinutes(Number(name, Value(), 1, 10_000)) },
                "--threads" => options with { Threads = (int)Number(name, Value(), 1, 256) },
                "--seed" => options with { What = VerifyTask.Replay, _seed = Seed(name, Value()) },
                "--scenario" => OfScenario(options, Value()),
                "--limit" => options with { Limit = (int)Number(name, Value(), 1, 10_000_000) },
                "--workers" => OfWorkers(options, Value()),
                "--markdown" => options with { Markdown = true },
                "--schedules" => options with { Schedules = Number(name, Value(), 1, long.MaxValue) },
                "--model" => options with { What = VerifyTask.Model },
                "--plant" => options with { What = VerifyTask.Plant, Faults = Names(arguments, ref i) },
                "--history" => throw new FormatException("--history judges a file; it goes with --json and --no-real-time alone."),
                _ => throw new FormatException($"'verify' has no option '{name}'."),
            };
        }

        if (!options.ShowHelp)
        {
            Check(options, given);
        }

        return options._seed switch
        {
            null => options,
            var seed when options.Workers is { } workers => options with { Cluster = ClusterScenario.Draw(seed.Value, workers) },
            var seed => options with { Scenario = Scenario.Draw(seed.Value) },
        };
    }

    private static VerifyOptions OfScenario(VerifyOptions options, string text) => text.Contains("workers=", StringComparison.Ordinal)
        ? options with { What = VerifyTask.Replay, Cluster = ClusterScenario.Parse(text) }
        : options with { What = VerifyTask.Replay, Scenario = Scenario.Parse(text) };

    private static VerifyOptions OfWorkers(VerifyOptions options, string text)
    {
        var workers = text == "any" ? 0 : (int)Number("--workers", text, 1, ClusterScenario.MostWorkers);
        return workers == 1 ? options : options with { Workers = workers };
    }

    /// <summary>What an option says nothing about is refused: whoever gave it meant something by it.</summary>
    private static void Check(VerifyOptions options, HashSet<string> given)
    {
        string[] tasks = [.. s_tasks.Where(given.Contains)];
        if (tasks.Length > 1)
        {
            throw new FormatException($"{string.Join(" and ", tasks)} are different things to do; give one of them.");
        }

        var (task, words, fitting) = options.What switch
        {
            VerifyTask.Replay => (tasks[0], "which replays one run", s_none),
            VerifyTask.Plant => ("--plant", "which selects mutations", s_ofPlant),
            VerifyTask.Model => ("--model", "which runs the rules alone", s_ofModel),
            _ => ("--seeds", "runs of many seeds", s_ofSeeds),
        };
        if (given.FirstOrDefault(name => name is not "--workers" && !s_tasks.Contains(name) && !fitting.Contains(name)) is { } idle)
        {
            throw new FormatException(
                $"{idle} says nothing to {(tasks.Length > 0 ? $"{task}, {words}" : words)}{(fitting.Length > 0 ? $"; that takes {string.Join(", ", fitting)}" : "")}.");
        }
    }

    private static readonly string[] s_tasks = ["--seed", "--scenario", "--plant", "--model"];
    private static readonly string[] s_none = [];
    private static readonly string[] s_ofPlant = ["--first", "--limit", "--markdown"];
    private static readonly string[] s_ofModel = ["--schedules", "--first", "--minutes"];
    private static readonly string[] s_ofSeeds = ["--seeds", "--first", "--minutes", "--threads", "--markdown"];

    private static List<string> Names(IReadOnlyList<string> arguments, ref int i)
    {
        var names = new List<string>();
        while (i + 1 < arguments.Count && !arguments[i + 1].StartsWith("--", StringComparison.Ordinal))
        {
            var name = arguments[++i];
            if (!Simulator.Mutations.Contains(name) && !ClusterSimulator.Mutations.Contains(name))
            {
                throw new FormatException(
                    $"There is no mutation '{name}'; there are: {string.Join(", ", Simulator.Mutations)}; and with --workers: {string.Join(", ", ClusterSimulator.Mutations)}.");
            }

            names.Add(name);
        }

        return names;
    }

    private static ulong Seed(string name, string text) => ulong.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var seed)
        ? seed
        : throw new FormatException($"{name} must be a whole number from 0 to {ulong.MaxValue}, not '{text}'.");

    private static long Number(string name, string text, long least, long most) =>
        long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number >= least && number <= most
            ? number
            : throw new FormatException($"{name} must be a whole number from {least} to {most}, not '{text}'.");
}
