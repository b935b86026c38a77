using System.CommandLine;
using Snapper.Failures;
using Snapper.Live.Cluster;
using Snapper.Live.Faults;
using Snapper.Terminal;

namespace Snapper.Live.Rounds;

/// <summary>What a live run is to do.</summary>
internal sealed record LiveOptions
{
    private static readonly Option<bool> s_live = Options.Flag(
        "--live", "strikes a running system (daprd, placement and redis-server, on free ports)");
    private static readonly Option<int?> s_rounds = Options.Of<int?>(
        "--rounds", "N", "so many faults (40)", text => Values.Whole(1, 1_000_000)(text));
    private static readonly Option<int?> s_minutes = Options.Of<int?>(
        "--minutes", "M", "as many as fit", text => Values.Whole(1, 10_000)(text));

    private static readonly Option<int?> s_seed = Options.Of<int?>(
        "--seed", "S", "draws the faults, their order and length, and what the clients ask for; when the system answers is not in its hand",
        text => Values.Whole(0, int.MaxValue)(text));

    private static readonly Option<string[]> s_faults = Options.Of<string[]>(
        "--faults", "A,B", "only these", Values.List(text => text));
    private static readonly Option<bool> s_markdown = Options.Flag("--markdown", "the table for docs/verification.md");

    private static readonly Option<int> s_workers = Options.Whole(
        "--workers", "N", "so many workers: other faults, of several workers, and migrations that cross them", 1, 1, 8);

    private static readonly Option<bool> s_exhaust = Options.Flag(
        "--exhaust", "no faults: one caller exhausts what it can, and what others see of it is judged");

    /// <summary>See <see cref="Live.Exhaust.ExhaustRun"/>.</summary>
    public bool Exhaust { get; init; }

    /// <summary>With <see cref="Exhaust"/>: these attacks.</summary>
    public IReadOnlyList<Live.Exhaust.Attack> Attacks { get; init; } = Live.Exhaust.Attacks.All;

    public int Seed { get; init; } = Random.Shared.Next();

    public int Rounds { get; init; } = 40;

    public TimeSpan Time { get; init; } = TimeSpan.FromHours(24);

    public IReadOnlyList<FaultKind> Faults { get; init; } = FaultCatalog.All;

    /// <summary>More than one: see <see cref="Cluster.ClusterRun"/>.</summary>
    public int Workers { get; init; } = 1;

    /// <summary>With several workers: only these; null: all.</summary>
    public IReadOnlyList<ClusterFault>? ClusterFaults { get; init; }

    public bool Markdown { get; init; }

    /// <summary>Quick faults only, none longer than about a second.</summary>
    public bool Brief { get; init; }

    /// <summary><c>verify --live</c>.</summary>
    public static Command Command(Func<LiveOptions, Task<int>> run) => CommandLines.Command(
        "./snapper verify", "strikes a running system and judges what its clients saw", (line, _, _) => run(From(line)),
        s_live, s_rounds, s_minutes, s_seed, s_faults, s_markdown, s_workers, s_exhaust);

    /// <exception cref="UsageException">A fault that there is not.</exception>
    internal static LiveOptions From(ParseResult line)
    {
        var (rounds, minutes, faults) = (line.GetValue(s_rounds), line.GetValue(s_minutes), line.GetList(s_faults));
        var options = new LiveOptions { Workers = line.GetValue(s_workers), Markdown = line.GetValue(s_markdown) };
        options = options with
        {
            Exhaust = line.GetValue(s_exhaust),
            Seed = line.GetValue(s_seed) ?? options.Seed,
            Rounds = rounds ?? (minutes is null ? options.Rounds : int.MaxValue),
            Time = minutes is { } bound ? TimeSpan.FromMinutes(bound) : options.Time,
        };
        try
        {
            return faults is null ? options
                : faults.Length == 0 ? throw new UsageException("--faults names none.")
                : options.Exhaust ? options with { Attacks = Live.Exhaust.Attacks.Named(faults) }
                : options.Workers > 1 ? options with { ClusterFaults = Live.Cluster.ClusterFaults.Named(faults) }
                : options with { Faults = FaultCatalog.Named(faults) };
        }
        catch (FormatException unknown)
        {
            throw new UsageException(unknown.Message);
        }
    }
}
