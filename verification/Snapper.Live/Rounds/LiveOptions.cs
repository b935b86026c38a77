using System.Globalization;
using Snapper.Live.Cluster;
using Snapper.Live.Faults;

namespace Snapper.Live.Rounds;

/// <summary>What a live run is to do.</summary>
internal sealed record LiveOptions
{
    public const string Help = """
        ./snapper verify --live [options]         strikes a running system (daprd, placement and redis-server, on free loopback ports) and judges what its clients saw
          --rounds N        so many faults (40)                      --minutes M      as many as fit
          --seed S          draws the faults, their order and length, and what the clients ask for; when the system answers is not in its hand,
                            so two runs of one seed are alike, not the same
          --faults A,B      only these                               --markdown       the table for docs/verification.md
          --workers N       so many workers, 2 to 8 (1): other faults, of several workers, and migrations that cross them
        """;

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

    public bool ShowHelp { get; private init; }

    /// <summary>Reads the command line.</summary>
    /// <exception cref="FormatException">Something is wrong with it; the message says what.</exception>
    public static LiveOptions Parse(IReadOnlyList<string> arguments)
    {
        var options = new LiveOptions();
        string[]? faults = null;
        for (var i = 0; i < arguments.Count; i++)
        {
            var name = arguments[i];
            string Value() => ++i < arguments.Count ? arguments[i] : throw new FormatException($"{name} needs a value.");
            options = name switch
            {
                "--live" => options,
                "--help" => options with { ShowHelp = true },
                "--rounds" => options with { Rounds = Number(name, Value(), 1, 1_000_000) },
                "--minutes" => options with { Time = TimeSpan.FromMinutes(Number(name, Value(), 1, 10_000)), Rounds = int.MaxValue },
                "--seed" => options with { Seed = Number(name, Value(), 0, int.MaxValue) },
                "--faults" => With(options, faults = Value().Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)),
                "--markdown" => options with { Markdown = true },
                "--workers" => options with { Workers = Number(name, Value(), 1, 8) },
                _ => throw new FormatException($"'verify --live' has no option '{name}'."),
            };
        }

        if (faults is { Length: 0 })
        {
            throw new FormatException("--faults names none.");
        }

        return faults is null ? options
            : options.Workers > 1 ? options with { ClusterFaults = Live.Cluster.ClusterFaults.Named(faults) }
            : options with { Faults = FaultCatalog.Named(faults) };
    }

    /// <summary>Which catalog they are from is known when all options are.</summary>
    private static LiveOptions With(LiveOptions options, string[] _) => options;

    private static int Number(string name, string text, int least, int most) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number >= least && number <= most
            ? number
            : throw new FormatException($"{name} must be a whole number from {least} to {most}, not '{text}'.");
}
