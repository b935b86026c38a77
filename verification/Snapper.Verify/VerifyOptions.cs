using System.CommandLine;
using Snapper.Failures;
using Snapper.Simulation.Cluster;
using Snapper.Simulation.Running;
using Snapper.Terminal;

namespace Snapper.Verify;

/// <summary>What a run in the simulator is to do.</summary>
internal sealed record VerifyOptions
{
    private static readonly TimeSpan s_ample = TimeSpan.FromHours(24 * 365);

    public static readonly Option<int?> SeedsOption = Options.Of<int?>(
        "--seeds", "N", "runs so many seeds (1,000, or as many as fit into --minutes)", text => Values.Whole(1, 1_000_000_000)(text));

    public static readonly Option<ulong?> FirstOption = Options.Of<ulong?>(
        "--first", "N", "the first seed (a new one each time; of mutations 1)", text => ReadSeed(text));

    public static readonly Option<int?> MinutesOption = Options.Of<int?>(
        "--minutes", "M", "stops after so many minutes", text => Values.Whole(1, 10_000)(text));

    public static readonly Option<int> ThreadsOption = Options.Whole(
        "--threads", "N", "runs beside each other", Environment.ProcessorCount, 1, 256);

    public static readonly Option<int?> WorkersOption = Options.Of<int?>(
        "--workers", "W", "several workers: so many, 2 to 8, or 'any', 2 to 4 by the seed (1)",
        text => text == "any" ? 0 : Values.Whole(1, ClusterScenario.MostWorkers)(text));

    public static readonly Option<bool> MarkdownOption = Options.Flag(
        "--markdown", "the table, or the counts, for docs/verification.md");

    public static readonly Option<ulong?> SeedOption = Options.Of<ulong?>(
        "--seed", "N", "replays one seed, twice, and says whether both runs are alike", text => ReadSeed(text));

    public static readonly Option<string?> ScenarioOption = Options.Text(
        "--scenario", "TEXT", "replays one scenario, as a failing run has printed it");

    public static readonly Option<string[]> PlantOption = new("--plant")
    {
        HelpName = "NAME", Arity = ArgumentArity.ZeroOrMore, AllowMultipleArgumentsPerToken = true,
        Description = "selects mutations of a verification build, one at a time: the table of which seed catches each; "
            + "with --workers those of several workers",
    };

    public static readonly Option<int> LimitOption = Options.Whole(
        "--limit", "N", "most seeds per mutation", PlantRun.EnoughForAll, 1, 10_000_000);

    public static readonly Option<bool> ModelOption = Options.Flag(
        "--model", "random schedules of the rules alone, without any of the product's code; then of the rules broken one by one");

    public static readonly Option<bool> DependencyOption = Options.Flag(
        "--dependency", "of the model: the proposed rules of commit by dependency, on one worker, then on several");

    public static readonly Option<long> SchedulesOption = Options.Of(
        "--schedules", "N", "schedules of the model", Values.Long(1, long.MaxValue), 1_000_000);

    public int Seeds { get; private init; }

    public ulong First { get; private init; } = (ulong)DateTimeOffset.UtcNow.ToUnixTimeSeconds() * 1_000_000;

    /// <summary>The first seed of each mutation.</summary>
    public ulong FirstPlanted { get; private init; } = 1;

    public TimeSpan Time { get; private init; } = s_ample;

    public int Threads { get; private init; }

    /// <summary>So many workers; 0: the seed decides; null: one.</summary>
    public int? Workers { get; private init; }

    public IReadOnlyList<string> Faults { get; private init; } = [];

    public int Limit { get; private init; }

    public bool Markdown { get; private init; }

    public long Schedules { get; private init; }

    /// <summary>The model commits by dependency.</summary>
    public bool ByDependency { get; private init; }

    /// <summary>Of a line; an option that its command does not have is absent.</summary>
    /// <exception cref="UsageException">It names a mutation that there is not.</exception>
    public static VerifyOptions From(ParseResult line)
    {
        var names = line.GetValue(PlantOption) ?? [];
        if (Array.Find(names, name => !Simulator.Mutations.Contains(name) && !ClusterSimulator.Mutations.Contains(name)) is { } unknown)
        {
            throw new UsageException(
                $"There is no mutation '{unknown}'; there are: {string.Join(", ", Simulator.Mutations)}; "
                + $"and with --workers: {string.Join(", ", ClusterSimulator.Mutations)}.");
        }

        var (minutes, workers) = (line.GetValue(MinutesOption), line.GetValue(WorkersOption));
        var options = new VerifyOptions
        {
            Seeds = line.GetValue(SeedsOption) ?? (minutes is null ? 1000 : int.MaxValue),
            Time = minutes is { } bound ? TimeSpan.FromMinutes(bound) : s_ample,
            Threads = line.GetValue(ThreadsOption),
            Workers = workers == 1 ? null : workers,
            Faults = names,
            Limit = line.GetValue(LimitOption),
            Markdown = line.GetValue(MarkdownOption),
            Schedules = line.GetValue(SchedulesOption),
            ByDependency = line.GetValue(DependencyOption),
        };
        return line.GetValue(FirstOption) is { } first ? options with { First = first, FirstPlanted = first } : options;
    }

    private static ulong ReadSeed(string text) =>
        ulong.TryParse(text, System.Globalization.NumberStyles.None, System.Globalization.CultureInfo.InvariantCulture, out var seed)
            ? seed
            : throw new UsageException($"must be a whole number from 0 to {ulong.MaxValue}");
}
