using System.Globalization;
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
          --workers 1       several come with the next version
        """;

    public int Seed { get; init; } = Random.Shared.Next();

    public int Rounds { get; init; } = 40;

    public TimeSpan Time { get; init; } = TimeSpan.FromHours(24);

    public IReadOnlyList<FaultKind> Faults { get; init; } = FaultCatalog.All;

    public bool Markdown { get; init; }

    /// <summary>Quick faults only, none longer than about a second.</summary>
    public bool Brief { get; init; }

    public bool ShowHelp { get; private init; }

    /// <summary>Reads the command line.</summary>
    /// <exception cref="FormatException">Something is wrong with it; the message says what.</exception>
    public static LiveOptions Parse(IReadOnlyList<string> arguments)
    {
        var options = new LiveOptions();
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
                "--faults" => options with { Faults = FaultCatalog.Named(Value().Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)) },
                "--markdown" => options with { Markdown = true },
                "--workers" => Number(name, Value(), 1, 64) == 1 ? options : throw new FormatException("--live runs on one worker; several are not in this version: leave --workers out or give 1."),
                _ => throw new FormatException($"'verify --live' has no option '{name}'."),
            };
        }

        return options.Faults.Count > 0 ? options : throw new FormatException("--faults names none.");
    }

    private static int Number(string name, string text, int least, int most) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number >= least && number <= most
            ? number
            : throw new FormatException($"{name} must be a whole number from {least} to {most}, not '{text}'.");
}
