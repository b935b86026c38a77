using System.Globalization;
using Snapper.Scenarios;
using Snapper.Scenarios.Choosing;
using Snapper.Scenarios.Measures;
using Snapper.Scenarios.Shapes;
using Snapper.Scenarios.Workloads;

namespace Snapper.Load;

/// <summary>A wrong command line; the message says what is wrong.</summary>
internal sealed class OptionsException(string message) : Exception(message);

/// <summary>What to run, against what, and which bounds must be kept.</summary>
internal sealed record LoadOptions
{
    public const string Usage = """
        ./snapper load NAME [options]             runs a scenario against a running system; --list names them
          --rate R             arrivals per second (200)         --duration T       measured time: 30, 30s, 2m, 500ms (30s)
          --warm-up T          at the first rate, before it (3s) --shape S          steady, ramp or spike
          --arrivals A         poisson (default) or even         --seed N           decides all random choices (1)
          --url URL[,URL]      workers (http://127.0.0.1:5101); the others are found through them
          --sidecar URL        everything through this Dapr sidecar instead
          --no-discovery       only the given workers
          --pact P             part that are PACTs, 0 to 1       --accounts N       accounts, or lists at a time (10000)
          --chooser C          uniform, zipf or hotspot          --skew X           of zipf (0.9)
          --hot N              of hotspot: hot accounts (10)     --hot-share X      ... and their part of all (0.75)
          --timeout T          of one transaction (10s)          --connections N    requests at once, per worker (64)
          --threshold T        NAME<=NUMBER or NAME>=NUMBER, in place of the scenario's own bound; may be repeated
          --worker NAME        the one to drain or kill          --data DIR         of the running system, to join workers (.snapper)
          --report DIR         where report.html and report.json go (loadtest/results/today/load-NAME)
        ./snapper load --list                     the scenarios, and what thresholds may name
        ./snapper load --calibrate [--duration T] how fast and how punctual this program is itself, against a stub in its own process
        Exit code: 0 all bounds and invariants held, 1 one did not, or nobody answered, 2 this line was wrong.
        """;

    public required Scenario Scenario { get; init; }

    public double Rate { get; init; } = 200;

    public TimeSpan Duration { get; init; } = TimeSpan.FromSeconds(30);

    public TimeSpan WarmUp { get; init; } = TimeSpan.FromSeconds(3);

    public ShapeKind? Shape { get; init; }

    public ArrivalProcess Arrivals { get; init; } = ArrivalProcess.Poisson;

    public ulong Seed { get; init; } = 1;

    public IReadOnlyList<Uri> Urls { get; init; } = [new("http://127.0.0.1:5101")];

    public Uri? Sidecar { get; init; }

    public bool Discovers { get; init; } = true;

    public double? PactShare { get; init; }

    public int Accounts { get; init; } = 10_000;

    public Distribution? Chooser { get; init; }

    public double? Skew { get; init; }

    public int? HotKeys { get; init; }

    public double? HotShare { get; init; }

    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(10);

    public int Connections { get; init; } = 64;

    public IReadOnlyList<Threshold> Given { get; init; } = [];

    public string? Worker { get; init; }

    public string Data { get; init; } = ".snapper";

    public string? ReportFolder { get; init; }

    /// <summary>The command that runs it again.</summary>
    public string Command { get; init; } = "";

    /// <summary>Lets a worker join; null: it is not known how.</summary>
    public Func<CancellationToken, Task<string>>? Join { get; init; }

    public LoadShape LoadShape => Scenario.ShapeOf(Shape ?? Scenario.Shape, Rate, Duration);

    public IReadOnlyList<Threshold> Thresholds => Scenario.With(Given);

    public WorkloadSettings Workload => new()
    {
        Prefix = WorkloadSettings.NewPrefix(),
        PactShare = PactShare ?? Scenario.PactShare,
        Accounts = Accounts,
        Seed = Seed,
        Chooser = Scenario.Chooser with
        {
            Distribution = Chooser ?? Scenario.Chooser.Distribution,
            Skew = Skew ?? Scenario.Chooser.Skew,
            HotKeys = HotKeys ?? Scenario.Chooser.HotKeys,
            HotShare = HotShare ?? Scenario.Chooser.HotShare,
        },
    };

    /// <summary>Reads the command line.</summary>
    /// <exception cref="OptionsException">It is wrong.</exception>
    public static LoadOptions Parse(IReadOnlyList<string> arguments)
    {
        if (arguments.Count == 0 || arguments[0].StartsWith('-'))
        {
            throw new OptionsException("Name a scenario first.");
        }

        var scenario = ScenarioCatalog.Find(arguments[0])
            ?? throw new OptionsException($"There is no scenario '{arguments[0]}'; there are {string.Join(", ", ScenarioCatalog.All.Select(static one => one.Name))}.");
        var options = new LoadOptions { Scenario = scenario, Command = "./snapper load " + string.Join(' ', arguments.Select(Quoted)) };
        for (var i = 1; i < arguments.Count; i++)
        {
            var equals = arguments[i].IndexOf('=', StringComparison.Ordinal);
            var name = equals < 0 || !arguments[i].StartsWith("--", StringComparison.Ordinal) ? arguments[i] : arguments[i][..equals];
            if (name == "--no-discovery")
            {
                options = options with { Discovers = false };
                continue;
            }

            if (!s_options.TryGetValue(name, out var with))
            {
                throw new OptionsException($"'load' has no option '{name}'.");
            }

            if (equals < 0 && i + 1 == arguments.Count)
            {
                throw new OptionsException($"{name} needs a value.");
            }

            options = with(options, name, equals < 0 ? arguments[++i] : arguments[i][(equals + 1)..]);
        }

        return options.Checked();
    }

    private static readonly Dictionary<string, Func<LoadOptions, string, string, LoadOptions>> s_options = new(StringComparer.Ordinal)
    {
        ["--rate"] = static (o, name, value) => o with { Rate = Values.Number(name, value, 0.1, 1_000_000) },
        ["--duration"] = static (o, name, value) => o with { Duration = Values.Time(name, value, TimeSpan.FromMilliseconds(500), TimeSpan.FromHours(12)) },
        ["--warm-up"] = static (o, name, value) => o with { WarmUp = Values.Time(name, value, TimeSpan.Zero, TimeSpan.FromHours(1)) },
        ["--shape"] = static (o, name, value) => o with { Shape = Values.Word<ShapeKind>(name, value) },
        ["--arrivals"] = static (o, name, value) => o with { Arrivals = Values.Word<ArrivalProcess>(name, value) },
        ["--seed"] = static (o, name, value) => o with { Seed = (ulong)Values.Whole(name, value, 0, long.MaxValue) },
        ["--url"] = static (o, name, value) => o with { Urls = [.. value.Split(',').Select(part => Values.Address(name, part))] },
        ["--sidecar"] = static (o, name, value) => o with { Sidecar = Values.Address(name, value) },
        ["--pact"] = static (o, name, value) => o with { PactShare = Values.Number(name, value, 0, 1) },
        ["--accounts"] = static (o, name, value) => o with { Accounts = (int)Values.Whole(name, value, 8, 1_000_000) },
        ["--chooser"] = static (o, name, value) => o with { Chooser = Values.Word<Distribution>(name, value) },
        ["--skew"] = static (o, name, value) => o with { Skew = Values.Number(name, value, 0, 5) },
        ["--hot"] = static (o, name, value) => o with { HotKeys = (int)Values.Whole(name, value, 1, 1_000_000) },
        ["--hot-share"] = static (o, name, value) => o with { HotShare = Values.Number(name, value, 0, 1) },
        ["--timeout"] = static (o, name, value) => o with { Timeout = Values.Time(name, value, TimeSpan.FromMilliseconds(1), TimeSpan.FromMinutes(5)) },
        ["--connections"] = static (o, name, value) => o with { Connections = (int)Values.Whole(name, value, 1, 256) },
        ["--threshold"] = static (o, name, value) => o with { Given = [.. o.Given, Values.Bound(value)] },
        ["--worker"] = static (o, name, value) => o with { Worker = value },
        ["--data"] = static (o, name, value) => o with { Data = value },
        ["--report"] = static (o, name, value) => o with { ReportFolder = value },
    };

    private static string Quoted(string argument) => argument.AsSpan().ContainsAny(" <>&;|$'\"") ? $"'{argument.Replace("'", "'\\''", StringComparison.Ordinal)}'" : argument;

    private LoadOptions Checked()
    {
        var chooser = Workload.Chooser;
        if (chooser.Distribution == Distribution.Hotspot && chooser.HotKeys >= Accounts)
        {
            throw new OptionsException(string.Create(CultureInfo.InvariantCulture, $"--hot must be below --accounts, {Accounts}."));
        }

        if (Scenario.Change is not null && Sidecar is not null)
        {
            throw new OptionsException($"'{Scenario.Name}' changes the system and needs its workers' own addresses: --url, not --sidecar.");
        }

        return this;
    }
}
