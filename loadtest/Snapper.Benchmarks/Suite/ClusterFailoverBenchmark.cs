using System.Diagnostics;
using System.Globalization;
using System.Text;
using Snapper.Benchmarks.Clusters;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>
/// Three workers as a user starts them, under about half of the load that they can take; then one of them, or the master, is killed. A survivor is asked, every few milliseconds
/// and without waiting for earlier answers, for what needs the dead one, until that commits. `up` starts what was killed again at once, as it does for users.
/// </summary>
/// <param name="master">True: the master dies, and a PACT over the two survivors is asked for; false: another worker dies, and actors of its own are.</param>
public sealed class ClusterFailoverBenchmark(string name, bool master) : IBenchmark
{
    private const int Workers = 3;
    private const int ActorsAsked = 16;
    private const int CapacityLoops = 32;
    private static readonly TimeSpan Deadline = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan ProbePause = TimeSpan.FromMilliseconds(50);

    /// <inheritdoc />
    public string Name => name;

    /// <inheritdoc />
    public string What => master
        ? "master killed at half load, 3 workers: until a PACT over the two others commits"
        : $"worker killed at half load, 3 workers: until all of {ActorsAsked} of its actors have answered";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        var result = new BenchmarkResult { Name = Name, What = What, Unit = "s", Goal = new Goal(10, 3, false) };
        var times = new List<double>();
        var lost = new List<string>();
        for (var round = 0; round < context.Plan.Repetitions; round++)
        {
            await using var snapper = await SnapperSystem.StartAsync(Workers);
            var (seconds, problem, takenOver) = await RoundAsync(context, snapper, (ulong)round);
            lost.AddRange(takenOver);
            if (problem is not null)
            {
                return result with { Missing = problem };
            }

            times.Add(seconds);
        }

        result = result with
        {
            Measured = Summary.Of(times).Median,
            Interval = Bootstrap.Median(times, context.Plan.Seed),
            Notes = new Dictionary<string, string>
            {
                ["seconds of each round"] = string.Join(", ", times.Select(static time => time.ToString("F2", CultureInfo.InvariantCulture))),
                ["what was killed"] = "is started again by `up`",
            },
        };
        return ClusterWatch.Judge(result, lost);
    }

    private async Task<(double Seconds, string? Problem, IReadOnlyList<string> TakenOver)> RoundAsync(BenchmarkContext context, SnapperSystem snapper, ulong round)
    {
        using var first = new ClusterClient(snapper.Worker);
        var before = await first.WorkersAsync();
        var victim = before.First(worker => worker.IsMaster == master && worker.State == "live");
        var survivors = snapper.Workers.Where(worker => worker.Name != victim.Name).ToArray();
        var owners = await first.OwnersAsync(context.Options.Accounts, snapper.Workers);
        var transfers = new PlacedTransfers(owners);
        using var load = new BackgroundLoad(survivors, transfers, context.Plan.Seed + (round * 1000));
        var capacity = await load.MeasureAsync(CapacityLoops, context.Plan.Times.Warmup);
        load.Start(capacity / 2, CapacityLoops);
        await Task.Delay(context.Plan.Times.Warmup);

        using (var process = Process.GetProcessById(victim.ProcessId))
        {
            process.Kill();
        }

        var killed = Stopwatch.GetTimestamp();
        var number = int.Parse(victim.Name.AsSpan(1), NumberStyles.None, CultureInfo.InvariantCulture);
        var seconds = await Task.WhenAll(ProbesFor(owners, number).Select((accounts, i) => UntilItCommitsAsync(survivors[i % survivors.Length].Url, accounts, killed)));
        var after = await new ClusterClient(survivors[0].Url).WorkersAsync();
        context.Progress(string.Create(
            CultureInfo.InvariantCulture,
            $"  {victim.Name}{(master ? ", the master," : "")} killed at {capacity / 2:F0} of {capacity:F0}/s: first {seconds.Min():F2} s, last {seconds.Max():F2} s"));
        return seconds.Any(double.IsNaN)
            ? (0, $"{seconds.Count(double.IsNaN)} of {seconds.Length} requests did not commit within {Deadline.TotalSeconds:0} s", [])
            : (seconds.Max(), null, ClusterWatch.TakenOver(before, after, victim.Name));
    }

    /// <summary>Accounts of the PACTs that are asked for.</summary>
    private int[][] ProbesFor(int[] owners, int victim)
    {
        int[] Of(Func<int, bool> which, int count) => Enumerable.Range(0, owners.Length).Where(account => which(owners[account])).Take(count).ToArray();
        if (!master)
        {
            return Of(owner => owner == victim, ActorsAsked).Select(static account => new[] { account }).ToArray();
        }

        var others = owners.Distinct().Where(owner => owner != victim).ToArray();
        return [[Of(owner => owner == others[0], 1)[0], Of(owner => owner == others[1], 1)[0]]];
    }

    private static async Task<double> UntilItCommitsAsync(Uri worker, int[] accounts, long since)
    {
        using var client = new HttpClient { BaseAddress = worker, Timeout = Deadline };
        var committed = new TaskCompletionSource<double>(TaskCreationOptions.RunContinuationsAsynchronously);
        while (!committed.Task.IsCompleted && Stopwatch.GetElapsedTime(since) < Deadline)
        {
            _ = AskAsync(client, accounts, since, committed);
            await Task.WhenAny(committed.Task, Task.Delay(ProbePause));
        }

        return committed.Task.IsCompletedSuccessfully ? await committed.Task : double.NaN;
    }

    private static async Task AskAsync(HttpClient client, int[] accounts, long since, TaskCompletionSource<double> committed)
    {
        var ids = accounts.Select(AccountIds.Of).ToArray();
        var (method, input) = ids.Length == 1 ? ("DepositChecking", "{\"amount\":1}") : ("MultiTransfer", $"{{\"to\":[\"{ids[1]}\"],\"amount\":1}}");
        var access = string.Join(',', ids.Select(static id => $"\"{id}\":1"));
        var body = $"{{\"actor\":{{\"type\":\"Account\",\"id\":\"{ids[0]}\"}},\"method\":\"{method}\",\"input\":{input},\"mode\":\"pact\",\"access\":{{\"Account\":{{{access}}}}}}}";
        try
        {
            using var content = new StringContent(body, Encoding.UTF8, "application/json");
            using var answer = await client.PostAsync("/v1/transactions", content);
            if (answer.IsSuccessStatusCode && (await answer.Content.ReadAsStringAsync()).Contains("\"outcome\":\"committed\"", StringComparison.Ordinal))
            {
                committed.TrySetResult(Stopwatch.GetElapsedTime(since).TotalSeconds);
            }
        }
        catch (Exception notYet) when (notYet is HttpRequestException or TaskCanceledException or ObjectDisposedException)
        {
            // Asked again by the next probe.
        }
    }
}
