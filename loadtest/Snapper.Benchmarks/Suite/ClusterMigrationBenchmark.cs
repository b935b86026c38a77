using System.Diagnostics;
using System.Globalization;
using Snapper.Benchmarks.Clusters;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;
using Snapper.Cluster.Control;
using Snapper.Contracts;
using Snapper.Protocol.Identity;

namespace Snapper.Benchmarks.Suite;

/// <summary>
/// Two workers become four under load, and half of all actors move: once per repetition, on new workers. Measured against an equally long time of the same load just before and
/// just after.
/// </summary>
public sealed class ClusterMigrationBenchmark(string name, string what, string unit, Goal goal, Func<MigrationRound, double> metric) : IBenchmark
{
    private const int Loops = 64;
    private static readonly MigrationMix Mix = new(Acts: 0.1, Distributed: 0.1);
    private static readonly TimeSpan MoveDeadline = TimeSpan.FromSeconds(30);

    /// <inheritdoc />
    public string Name => name;

    /// <inheritdoc />
    public string What => what;

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        var rounds = await MigrationRounds.RunAsync(context);
        var result = new BenchmarkResult { Name = name, What = what, Unit = unit, Goal = goal, Notes = NotesOf(rounds) };
        if (rounds.Select(static round => round.Problem).FirstOrDefault(static problem => problem is not null) is { } problem)
        {
            return result with { Missing = problem };
        }

        var values = rounds.Select(metric).ToArray();
        return result with { Measured = Summary.Of(values).Median, Interval = Bootstrap.Median(values, context.Plan.Seed) };
    }

    private static Dictionary<string, string> NotesOf(IReadOnlyList<MigrationRound> rounds)
    {
        string Each(Func<MigrationRound, double> value) => string.Join(", ", rounds.Select(round => value(round).ToString("0.###", CultureInfo.InvariantCulture)));
        return new Dictionary<string, string>
        {
            ["load"] = $"{Loops} closed loops, {Mix.Acts:P0} ACTs, {Mix.Distributed:P0} of all over two workers; requests go to the worker that answered for the root last",
            ["the move took, ms"] = Each(static round => round.Move.TotalMilliseconds),
            ["phases"] = string.Join(" | ", rounds.Select(static round => round.Phases)),
            ["committed/s before, during, after"] = string.Join("; ", rounds.Select(static round => string.Create(
                CultureInfo.InvariantCulture, $"{round.Before.PerSecond:F0}, {round.During.PerSecond:F0}, {round.After.PerSecond:F0}"))),
            [$"committed in each {MigrationWindow.Step.TotalMilliseconds:0} ms of the move"] = string.Join(" | ", rounds.Select(static round => round.During.Course)),
            ["transactions aborted during"] = RunResult.Describe(Sum(rounds.Select(static round => round.During.Aborts))),
            ["transactions aborted before and after"] = RunResult.Describe(Sum(rounds.SelectMany(static round => new[] { round.Before.Aborts, round.After.Aborts }))),
            ["committed during"] = rounds.Sum(static round => round.During.Committed).ToString(CultureInfo.InvariantCulture),
            ["attempts repeated before, during"] = $"{rounds.Sum(static round => round.Before.Repeats)}, {rounds.Sum(static round => round.During.Repeats)}",
            ["longest wait of an actor's callers, p99 over moved actors, ms, before"] = Each(static round => round.PauseBefore),
            ["... during"] = Each(static round => round.PauseDuring),
            ["... during, actors that stay"] = Each(static round => round.PauseOfOthers),
            ["take-overs of a worker that was alive"] = rounds.Sum(static round => round.TakeOvers).ToString(CultureInfo.InvariantCulture),
        };
    }

    private static Dictionary<string, long> Sum(IEnumerable<IReadOnlyDictionary<string, long>> counts) => counts.SelectMany(static each => each)
        .GroupBy(static pair => pair.Key).ToDictionary(static group => group.Key, static group => group.Sum(static pair => pair.Value));

    /// <summary>The rounds are made once and serve all numbers that are asked for.</summary>
    private static class MigrationRounds
    {
        private static List<MigrationRound>? s_made;

        public static async Task<IReadOnlyList<MigrationRound>> RunAsync(BenchmarkContext context)
        {
            if (s_made is null)
            {
                var made = new List<MigrationRound>();
                for (var i = 0; i < context.Plan.Repetitions; i++)
                {
                    made.Add(await RoundAsync(context, context.Plan.Seed + (ulong)(i * Loops)));
                }

                s_made = made;
            }

            return s_made;
        }

        private static async Task<MigrationRound> RoundAsync(BenchmarkContext context, ulong seed)
        {
            await using var cluster = await ClusterInProcess.StartAsync(2, context.Options.Accounts);

            // Half of the partitions of each: w1's go to w3, w2's to w4.
            var moved = new[] { 1, 2 }.Select(worker => cluster[1].Control.PartitionsOf(cluster[worker].Name).Where(static (_, i) => i % 2 == 0).ToArray()).ToArray();
            var gone = moved.SelectMany(static partitions => partitions).ToHashSet();
            var moves = cluster.Keys.Select(key => gone.Contains(Partition.Of(key).Number)).ToArray();
            var load = new MigrationLoad(cluster, moves, Mix);
            var running = load.Run(Loops, seed);
            await cluster.AddAsync(2);
            await Task.Delay(context.Plan.Times.Warmup);
            load.Next();
            await Task.Delay(context.Plan.Times.Measured);
            var before = load.Next();
            var began = Stopwatch.GetTimestamp();
            var orders = new[] { await OrderAsync(cluster, "m1", moved[0], "w3"), await OrderAsync(cluster, "m2", moved[1], "w4") };
            var ends = await Task.WhenAll(orders.Select(order => EndedAsync(cluster, order)));
            var move = Stopwatch.GetElapsedTime(began);
            var during = load.Next();
            await Task.Delay(context.Plan.Times.Measured);
            var after = load.Next();
            load.Stop();
            await running;
            var round = new MigrationRound(
                before, during, after, move, before.PauseP99(account => moves[account]), during.PauseP99(account => moves[account]), during.PauseP99(account => !moves[account]),
                cluster.Vigil.TakeOvers, cluster.Vigil.Problem ?? ends.Select(static end => end.Problem).FirstOrDefault(static problem => problem is not null))
            {
                Phases = string.Join("; ", ends.Select(static end => end.Phases)),
            };
            context.Progress(string.Create(
                CultureInfo.InvariantCulture,
                $"  moved {gone.Count} partitions in {move.TotalMilliseconds:F0} ms; {before.PerSecond:F0}, {during.PerSecond:F0}, {after.PerSecond:F0}/s; pause {round.PauseBefore:F1} -> {round.PauseDuring:F1} ms; aborted {RunResult.Describe(during.Aborts)}; {round.Phases}{(round.Problem is null ? "" : ", VOID: " + round.Problem)}"));
            return round;
        }

        private static async Task<string> OrderAsync(ClusterInProcess cluster, string id, int[] partitions, string to) =>
            (await cluster[1].Control.Migrate(new MigrationAsk(id, null, partitions, null, to, "bench", DryRun: false), CancellationToken.None)).Id;

        /// <summary>Waits for the end of a migration; what is wrong with it, or null, and how long its phases took.</summary>
        private static async Task<(string? Problem, string Phases)> EndedAsync(ClusterInProcess cluster, string id)
        {
            var since = Stopwatch.GetTimestamp();
            while (Stopwatch.GetElapsedTime(since) < MoveDeadline)
            {
                var source = await SourceAsync(cluster, id);
                if (source is { State: not "planned" } ended)
                {
                    var problem = ended.State == "done" ? null : $"the migration {id} is {ended.State}: {string.Join("; ", ended.Parts.Select(static part => part.Why).Where(static why => why is not null))}";
                    return (problem, string.Join(", ", ended.Parts.Select(DescribePhases)));
                }

                await Task.Delay(10);
            }

            return ($"the migration {id} has not ended within {MoveDeadline.TotalSeconds:0} s", "");
        }

        // Only the source knows its phases.
        private static async Task<MigrationStatus?> SourceAsync(ClusterInProcess cluster, string id)
        {
            var anywhere = await cluster[1].Control.Migration(id, CancellationToken.None);
            return anywhere?.Parts[0].From == "w1" ? anywhere : await cluster[2].Control.Migration(id, CancellationToken.None);
        }

        private static string DescribePhases(MigrationPart part)
        {
            var text = $"{part.From} to {part.To}";
            for (var i = 0; i + 1 < part.Phases.Count; i++)
            {
                text += string.Create(CultureInfo.InvariantCulture, $" {part.Phases[i].Phase} {(part.Phases[i + 1].At - part.Phases[i].At).TotalMilliseconds:F0} ms");
            }

            return text;
        }
    }
}

/// <summary>One move of half of all actors. Pauses: 99th percentile over actors of the longest wait of an actor's callers, in ms; the first two of actors that move.</summary>
public sealed record MigrationRound(
    MigrationWindow Before, MigrationWindow During, MigrationWindow After, TimeSpan Move, double PauseBefore, double PauseDuring, double PauseOfOthers, int TakeOvers, string? Problem)
{
    /// <summary>How long the phases of each part took.</summary>
    public string Phases { get; init; } = "";

    /// <summary>Aborted ÷ all while actors moved, in per cent.</summary>
    public double AbortedPercent => 100.0 * During.Aborts.Values.Sum() / Math.Max(1, During.Committed + During.Aborts.Values.Sum());

    /// <summary>How much less was committed per second while actors moved than before and after, in per cent; 0: not less.</summary>
    public double DipPercent => Math.Max(0, 100 * (1 - (During.PerSecond / ((Before.PerSecond + After.PerSecond) / 2))));
}
