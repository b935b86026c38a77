using System.CommandLine;
using System.Globalization;
using Snapper.Failures;
using Snapper.Load.Calibration;
using Snapper.Scenarios;
using Snapper.Scenarios.Choosing;
using Snapper.Scenarios.Measures;
using Snapper.Scenarios.Shapes;
using Snapper.Scenarios.Workloads;
using Snapper.Terminal;

namespace Snapper.Load;

/// <summary>What to run, against what, and which bounds must be kept.</summary>
internal sealed record LoadOptions
{
    private static readonly Argument<string?> s_scenario = new("NAME")
    {
        Arity = ArgumentArity.ZeroOrOne, Description = "a scenario; --list names them",
    };
    private static readonly Option<bool> s_list = Options.Flag("--list", "the scenarios, and what thresholds may name");

    private static readonly Option<bool> s_calibrate = Options.Flag(
        "--calibrate", "how fast and how punctual this program is itself, against a stub in its own process; takes --duration and --connections");

    private static readonly Option<double> s_rate = Options.Of(
        "--rate", "R", "arrivals per second", Values.Number(0.1, 1_000_000), 200);

    private static readonly Option<TimeSpan?> s_duration = Options.Of<TimeSpan?>(
        "--duration", "T", "measured time: 30, 30s, 2m, 500ms (30s)",
        static text => Values.Time(TimeSpan.FromMilliseconds(500), TimeSpan.FromHours(12))(text));

    private static readonly Option<TimeSpan?> s_warmUp = Options.Of<TimeSpan?>(
        "--warm-up", "T", "at the first rate, before it (3s)", static text => Values.Time(TimeSpan.Zero, TimeSpan.FromHours(1))(text));

    private static readonly Option<ShapeKind?> s_shape = Options.Of<ShapeKind?>(
        "--shape", "S", "steady, ramp or spike", Word<ShapeKind>);
    private static readonly Option<ArrivalProcess?> s_arrivals = Options.Of<ArrivalProcess?>(
        "--arrivals", "A", "poisson (default) or even", Word<ArrivalProcess>);
    private static readonly Option<long> s_seed = Options.Of(
        "--seed", "N", "decides all random choices", Values.Long(0, long.MaxValue), 1);

    private static readonly Option<Uri[]> s_urls = Options.Of<Uri[]>(
        "--url", "URL,...", "workers (http://127.0.0.1:5101); the others are found through them", Values.List(Values.Address));

    private static readonly Option<Uri?> s_sidecar = Options.Of<Uri?>(
        "--sidecar", "URL", "everything through this Dapr sidecar instead", Values.Address);

    private static readonly Option<bool> s_noDiscovery = Options.Flag("--no-discovery", "only the given workers");
    private static readonly Option<double?> s_pact = Part("--pact", "part that are PACTs, 0 to 1");
    private static readonly Option<int> s_accounts = Options.Whole(
        "--accounts", "N", "accounts, or lists at a time", 10_000, 8, 1_000_000);
    private static readonly Option<Distribution?> s_chooser = Options.Of<Distribution?>(
        "--chooser", "C", "uniform, zipf or hotspot", Word<Distribution>);
    private static readonly Option<double?> s_skew = Options.Of<double?>(
        "--skew", "X", "of zipf (0.9)", static text => Values.Number(0, 5)(text));
    private static readonly Option<int?> s_hot = Options.Of<int?>(
        "--hot", "N", "of hotspot: hot accounts (10)", static text => Values.Whole(1, 1_000_000)(text));
    private static readonly Option<double?> s_hotShare = Part("--hot-share", "... and their part of all (0.75)");

    private static readonly Option<TimeSpan?> s_timeout = Options.Of<TimeSpan?>(
        "--timeout", "T", "of one transaction (10s)", static text => Values.Time(TimeSpan.FromMilliseconds(1), TimeSpan.FromMinutes(5))(text));

    private static readonly Option<int> s_connections = Options.Whole(
        "--connections", "N", "requests at once, per worker", 64, 1, 256);

    private static readonly Option<string[]> s_thresholds = new("--threshold")
    {
        HelpName = "T", Description = "NAME<=NUMBER or NAME>=NUMBER, in place of the scenario's own bound; may be repeated",
    };

    private static readonly Option<string?> s_worker = Options.Text("--worker", "NAME", "the one to drain or kill");
    private static readonly Option<string> s_data = Options.Of(
        "--data", "DIR", "of the running system, to join workers", static text => text, ".snapper");

    private static readonly Option<string?> s_report = Options.Text(
        "--report", "DIR", "where report.html and report.json go (loadtest/results/today/load-NAME)");

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

    /// <summary><c>./snapper load</c>.</summary>
    public static Command Program(Func<LoadOptions, Task<int>> run, Func<CalibrationOptions, Task<int>> calibrate, Func<int> list) =>
        CommandLines.Command(
            "./snapper load",
            "runs a scenario against a running system; the exit code is 0 when all bounds and invariants held, 1 when one did "
            + "not, or no worker answered, 2 when this line was wrong",
            (line, _, _) => line.GetValue(s_list) ? Task.FromResult(list())
                : line.GetValue(s_calibrate) ? calibrate(Calibration(line)) : run(From(line)),
            s_scenario, s_list, s_calibrate, s_rate, s_duration, s_warmUp, s_shape, s_arrivals, s_seed, s_urls, s_sidecar, s_noDiscovery, s_pact,
            s_accounts, s_chooser, s_skew, s_hot, s_hotShare, s_timeout, s_connections, s_thresholds, s_worker, s_data, s_report);

    /// <summary>Of a line.</summary>
    /// <exception cref="UsageException">It is wrong.</exception>
    internal static LoadOptions From(ParseResult line)
    {
        var scenario = line.GetValue(s_scenario) is not { } name ? throw new UsageException("Name a scenario, or --list.")
            : ScenarioCatalog.Find(name) ?? throw new UsageException(
                $"There is no scenario '{name}'; there are {string.Join(", ", ScenarioCatalog.All.Select(static one => one.Name))}.");
        var options = new LoadOptions { Scenario = scenario };
        return (options with
        {
            Command = "./snapper load " + string.Join(' ', line.Tokens.Select(static token => Quoted(token.Value))),
            Rate = line.GetValue(s_rate),
            Duration = line.GetValue(s_duration) ?? options.Duration,
            WarmUp = line.GetValue(s_warmUp) ?? options.WarmUp,
            Shape = line.GetValue(s_shape),
            Arrivals = line.GetValue(s_arrivals) ?? options.Arrivals,
            Seed = (ulong)line.GetValue(s_seed),
            Urls = line.GetList(s_urls) ?? options.Urls,
            Sidecar = line.GetValue(s_sidecar),
            Discovers = !line.GetValue(s_noDiscovery),
            PactShare = line.GetValue(s_pact),
            Accounts = line.GetValue(s_accounts),
            Chooser = line.GetValue(s_chooser),
            Skew = line.GetValue(s_skew),
            HotKeys = line.GetValue(s_hot),
            HotShare = line.GetValue(s_hotShare),
            Timeout = line.GetValue(s_timeout) ?? options.Timeout,
            Connections = line.GetValue(s_connections),
            Given = [.. (line.GetValue(s_thresholds) ?? []).Select(Bound)],
            Worker = line.GetValue(s_worker),
            Data = line.GetValue(s_data)!,
            ReportFolder = line.GetValue(s_report),
        }).Checked();
    }

    private static CalibrationOptions Calibration(ParseResult line)
    {
        var options = new CalibrationOptions();
        return new CalibrationOptions
        {
            Duration = line.GetValue(s_duration) ?? options.Duration, Connections = line.GetValue(s_connections),
        };
    }

    private static Option<double?> Part(string name, string help) =>
        Options.Of<double?>(name, "P", help, static text => Values.Number(0, 1)(text));

    private static T? Word<T>(string text)
        where T : struct, Enum =>
        Enum.GetNames<T>().FirstOrDefault(word => word.Equals(text, StringComparison.OrdinalIgnoreCase)) is { } found
            ? Enum.Parse<T>(found)
            : throw new UsageException($"must be {string.Join(" or ", Enum.GetNames<T>().Select(static word => word.ToLowerInvariant()))}");

    private static Threshold Bound(string text)
    {
        try
        {
            return Threshold.Parse(text);
        }
        catch (FormatException wrong)
        {
            throw new UsageException(wrong.Message);
        }
    }

    private static string Quoted(string argument) => argument.AsSpan().ContainsAny(" <>&;|$'\"") ? $"'{argument.Replace("'", "'\\''", StringComparison.Ordinal)}'" : argument;

    private LoadOptions Checked()
    {
        var chooser = Workload.Chooser;
        if (chooser.Distribution == Distribution.Hotspot && chooser.HotKeys >= Accounts)
        {
            throw new UsageException(string.Create(CultureInfo.InvariantCulture, $"--hot must be below --accounts, {Accounts}."));
        }

        if (Scenario.Change is not null && Sidecar is not null)
        {
            throw new UsageException($"'{Scenario.Name}' changes the system and needs its workers' own addresses: --url, not --sidecar.");
        }

        return this;
    }
}
