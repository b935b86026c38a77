using System.Globalization;
using Snapper.Scenarios;
using Snapper.Scenarios.Workloads;

namespace Snapper.NBomberHost;

/// <summary>The command line of the host; everything that is said better by NBomber's own options is left to them.</summary>
internal sealed record HostOptions
{
    public const string Usage = """
        dotnet run -c Release --project loadtest/Snapper.NBomber -- NAME [--rate R] [--duration SECONDS] [--warm-up SECONDS] [--url URL] [--accounts N] [--seed N] [--worker NAME]
        NAME: see './snapper load --list'. Key of the licence: NBOMBER_LICENSE.
        """;

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

    /// <summary>Reads the command line.</summary>
    /// <exception cref="FormatException">It is wrong; the message says what.</exception>
    public static HostOptions Parse(string[] arguments)
    {
        if (arguments.Length == 0 || ScenarioCatalog.Find(arguments[0]) is not { } scenario)
        {
            throw new FormatException($"Name a scenario: {string.Join(", ", ScenarioCatalog.All.Select(static one => one.Name))}.");
        }

        var options = new HostOptions { Scenario = scenario };
        for (var i = 1; i < arguments.Length; i += 2)
        {
            var (name, value) = (arguments[i], i + 1 < arguments.Length ? arguments[i + 1] : throw new FormatException($"{arguments[i]} is unknown or needs a value."));
            options = name switch
            {
                "--rate" => options with { Rate = Number(name, value, 1, 1_000_000) },
                "--duration" => options with { DurationSeconds = Number(name, value, 1, 43_200) },
                "--warm-up" => options with { WarmUpSeconds = Number(name, value, 0, 3_600) },
                "--accounts" => options with { Accounts = Number(name, value, 16, 1_000_000) },
                "--seed" => options with { Seed = (ulong)Number(name, value, 0, int.MaxValue) },
                "--worker" => options with { Worker = value },
                "--url" => options with
                {
                    Url = Uri.TryCreate(value, UriKind.Absolute, out var url) && url.Scheme is "http" or "https"
                        ? url
                        : throw new FormatException($"--url must be an address such as http://127.0.0.1:5101, not '{value}'."),
                },
                _ => throw new FormatException($"There is no option '{name}'."),
            };
        }

        return options;
    }

    private static int Number(string name, string text, int least, int most) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number >= least && number <= most
            ? number
            : throw new FormatException($"{name} must be a whole number from {least} to {most}, not '{text}'.");
}
