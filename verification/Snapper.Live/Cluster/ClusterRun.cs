using System.Diagnostics;
using System.Globalization;
using Snapper.Live.Harness;
using Snapper.Live.Load;
using Snapper.Live.Rounds;

namespace Snapper.Live.Cluster;

/// <summary>Starts several workers, strikes them round by round while clients use all of them, and judges what the clients saw.</summary>
/// <param name="options">What to do.</param>
/// <param name="print">Takes every line.</param>
internal sealed class ClusterRun(LiveOptions options, Action<string> print)
{
    private const int RoundsPerSegment = 5;
    private const long PoorBelow = 200;
    private static readonly TimeSpan RecoversAtAll = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan DecidedWithin = TimeSpan.FromSeconds(15);
    private static readonly TimeSpan LinkedWithin = TimeSpan.FromSeconds(5);

    private readonly List<Done> _rounds = [];
    private readonly List<string> _violations = [];
    private readonly List<TimeSpan> _pauses = [];
    private readonly List<ClusterFault> _notRun = [];
    private int _excused;
    private long _takeOvers;
    private int _crossed;
    private long _transactions;
    private long _commits;

    private sealed record Done(ClusterFault Kind, TimeSpan Actors, TimeSpan Global, TimeSpan Doors, TimeSpan Settled);

    private IEnumerable<ClusterFault> Kinds => (options.ClusterFaults ?? ClusterFaults.All).Where(kind => kind.IsQuick || !options.Brief);

    /// <summary>What was found so far.</summary>
    public IReadOnlyList<string> Violations => _violations;

    /// <summary>It was told to stop before its end.</summary>
    public bool WasStopped { get; private set; }

    /// <summary>Runs it.</summary>
    /// <returns>True: it ran to its end, and nothing was found.</returns>
    public async Task<bool> Run(CancellationToken cancellation)
    {
        if (ServerPrograms.Missing is { } none)
        {
            print(none);
            return false;
        }

        print($"seed {options.Seed}, {options.Workers} workers");
        var watch = Stopwatch.StartNew();
        await using var system = await ClusterSystem.Start(options.Workers, cancellation);
        try
        {
            print($"ready after {watch.Elapsed.TotalSeconds:0.0} s; state and logs in {system.Folder}");
            await AllSegments(system, watch, cancellation);
            await system.Stop();
        }
        catch (Exception ended) when (cancellation.IsCancellationRequested)
        {
            WasStopped = true;
            print($"INTERRUPTED: {ended.Message}");
        }
        catch (Exception broken)
        {
            _violations.Add($"The run broke: {broken}\nthe workers say:\n{await system.Standing()}\nup says:\n{system.Output}");
        }

        Report(watch.Elapsed);
        await system.DisposeAsync();
        if (_violations.Count > 0)
        {
            print($"Kept: {system.Folder}");
        }
        else
        {
            Directory.Delete(system.Folder, recursive: true);
        }

        return _violations.Count == 0 && !WasStopped;
    }

    private async Task AllSegments(ClusterSystem system, Stopwatch watch, CancellationToken cancellation)
    {
        var random = new Random(options.Seed);
        var kinds = new ShuffledBag<ClusterFault>(Kinds, random);
        for (var number = 1; _rounds.Count + _notRun.Count < options.Rounds && watch.Elapsed < options.Time && _violations.Count == 0; number++)
        {
            using var segment = new Segment(system.Client, options.Seed, number);
            await using var prober = new ClusterProber(system, $"probe-{number}");
            for (var i = 0; i < RoundsPerSegment && _rounds.Count + _notRun.Count < options.Rounds && watch.Elapsed < options.Time && _violations.Count == 0 && segment.Loss is null; i++)
            {
                await Strike(system, segment, prober, kinds.Next(), random, cancellation);
            }

            await prober.Stop();
            _violations.AddRange((await segment.End(system.RestartAll, system.Folder)).Select(problem => $"Clients {number}: {problem}"));
            _violations.AddRange((await prober.Problems(segment.Loss)).Select(problem => $"Probes {number}: {problem}"));
            _violations.AddRange(await FromEveryWorker(system, segment.AccountNames));
            print($"clients {number}: {segment.PactShare * 100:0} % PACTs, {segment.Transactions:N0} transactions judged, {(segment.Loss is null ? "" : $"{segment.Lost} lost with what Redis lost, ")}{(_violations.Count == 0 ? "nothing found" : "VIOLATION")}");
            _transactions += segment.Transactions;
            _commits += segment.Commits;
        }
    }

    private async Task Strike(ClusterSystem system, Segment segment, ClusterProber prober, ClusterFault kind, Random random, CancellationToken cancellation)
    {
        var members = await Balanced(system, cancellation);
        await prober.Place();
        await segment.SomeCommits(20 + random.Next(100), cancellation);
        var strike = new ClusterStrike(system, prober, members, random, options.Brief, cancellation);
        await kind.Act(strike);
        if (strike.NotRun is { } whyNot)
        {
            _notRun.Add(kind);
            print($"      {kind.Name,-22} not run: {whyNot}");
            _violations.AddRange(ServerPrograms.MustBeThere ? [$"{kind.Name} must run in CI: {whyNot}"] : []);
            return;
        }

        var end = Stopwatch.GetTimestamp();
        var doors = await Recovered(prober, strike, kind, [], global: false, cancellation);
        var after = await system.Members() ?? [];
        foreach (var fenced in members.Where(was => after.Any(now => now.Name == was.Name && now.Fenced > was.Fenced)))
        {
            strike.NoteFenced(fenced.Name);
        }

        // Where no door was spared, all count.
        List<int> without = strike.Victims.Count < system.Workers ? strike.Victims : [];
        var actors = await Recovered(prober, strike, kind, without, global: false, cancellation);
        var global = await Recovered(prober, strike, kind, without, global: true, cancellation);
        var linked = await Linked(system, cancellation);
        var settled = await segment.Settled(end, cancellation);
        if (strike.LosesSince is { } since)
        {
            segment.Loss = new Loss(since, Stopwatch.GetTimestamp());
        }

        if (kind.MeasuresPause)
        {
            _pauses.Add(strike.Measured!.Value);
        }

        _takeOvers = Math.Max(_takeOvers, (await system.Members())?.Sum(static member => member.Fenced) ?? 0);
        _crossed += strike.Crossed ? 1 : 0;
        var measured = strike.Measured ?? (actors > global ? actors : global);
        var done = new Done(kind, strike.Measured ?? actors, global, doors, settled);
        var number = _rounds.Count + 1;
        _rounds.Add(done);
        var late = measured > kind.Bound ? $"{kind.Bound.TotalSeconds:0} s are required, not {measured.TotalSeconds:0.00} s"
            : settled > DecidedWithin ? $"a request was decided {settled.TotalSeconds:0.0} s after the end of the fault, and {DecidedWithin.TotalSeconds:0} s are required"
            : linked > LinkedWithin ? $"direct links were there {linked.TotalSeconds:0.0} s after every door was open, "
                + $"and {LinkedWithin.TotalSeconds:0} s are required"
            : null;
        var detail = strike.Detail;
        if (late is not null && MachineLoad.Excuse(late) is { } excuse)
        {
            _excused++;
            detail += excuse;
        }
        else if (late is not null)
        {
            strike.Problems.Enqueue(late);
        }

        print(string.Create(
            CultureInfo.InvariantCulture,
            $"{number,4}  {kind.Name,-22} actors {done.Actors.TotalSeconds,5:0.00} s, over workers {global.TotalSeconds,5:0.00} s, every door {doors.TotalSeconds,5:0.00} s of {kind.Bound.TotalSeconds:0} s, decided after {settled.TotalSeconds,5:0.00} s, linked after {linked.TotalSeconds:0.0} s  {detail}{string.Concat(strike.Problems.Select(problem => $"\n      PROBLEM: {problem}"))}"));
        _violations.AddRange(strike.Problems.Select(problem => $"Round {number}, {kind.Name}: {problem}"));
    }

    private static async Task<TimeSpan> Recovered(
        ClusterProber prober, ClusterStrike strike, ClusterFault kind, IReadOnlyCollection<int> without, bool global, CancellationToken cancellation)
    {
        TimeSpan? took = null;
        await Eventually.Holds($"transactions {(global ? "over all workers" : "on the actors of all workers")} to commit again after {kind.Name} ({strike.Detail})", RecoversAtAll, () =>
        {
            cancellation.ThrowIfCancellationRequested();
            took = prober.Recovered(strike.Hit, strike.Since, without, global, out var missing);
            return Task.FromResult(took is null ? missing : null);
        });
        return took!.Value;
    }

    /// <summary>Waits until each worker has a direct link to each other one.</summary>
    private static async Task<TimeSpan> Linked(ClusterSystem system, CancellationToken cancellation)
    {
        var since = Stopwatch.GetTimestamp();
        await Eventually.Holds("direct links between all workers", RecoversAtAll, async () =>
        {
            cancellation.ThrowIfCancellationRequested();
            var missing = await system.Unlinked();
            return missing.Count == 0 ? null : string.Join("; ", missing);
        });
        return Stopwatch.GetElapsedTime(since);
    }

    /// <summary>Waits until all workers are there, linked, and divides anew when one owns next to nothing.</summary>
    private static async Task<IReadOnlyList<MemberNow>> Balanced(ClusterSystem system, CancellationToken cancellation)
    {
        await system.AllReady();
        await Linked(system, cancellation);
        IReadOnlyList<MemberNow> members = [];
        await Eventually.Holds("all workers to live, each with its share", RecoversAtAll, async () =>
        {
            cancellation.ThrowIfCancellationRequested();
            members = await system.Members() ?? [];
            var living = members.Where(member => member.State == "live").ToArray();
            if (living.Length < system.Workers || !living.Any(member => member.Master))
            {
                return $"{string.Join(", ", members)}";
            }

            if (living.All(member => member.Entries >= PoorBelow))
            {
                return null;
            }

            return "rebalance: " + (await system.Snapper("rebalance")).Said;
        });
        return members;
    }

    /// <summary>Every actor answers at every worker, and all say the same.</summary>
    private static async Task<IReadOnlyList<string>> FromEveryWorker(ClusterSystem system, IReadOnlyList<string> accounts)
    {
        var problems = new List<string>();
        foreach (var account in accounts)
        {
            var told = new HashSet<string>();
            for (var worker = 1; worker <= system.Workers; worker++)
            {
                using var client = system.ClientOf(worker);
                var answer = await client.Submit(Accounts.Balance(account).Act());
                told.Add(answer.Verdict == Verdict.Committed ? answer.Result.GetRawText() : $"w{worker}: {answer}");
            }

            if (told.Count != 1)
            {
                problems.Add($"{account} is told differently: {string.Join(" / ", told)}");
            }
        }

        return problems;
    }

    private void Report(TimeSpan elapsed)
    {
        var kinds = Kinds.ToArray();
        print("");
        print(options.Markdown
            ? "| fault | what is done | rounds | bound | actors answer, median | longest | over workers, median | longest | every door, longest | decided after |\n|---|---|---|---|---|---|---|---|---|---|"
            : $"{"fault",-22} rounds  bound  actors  longest  over workers  longest  every door  decided after");
        foreach (var kind in kinds)
        {
            var mine = _rounds.Where(round => round.Kind == kind).ToArray();
            if (mine.Length == 0)
            {
                if (_rounds.Count >= kinds.Length && !_notRun.Contains(kind))
                {
                    _violations.Add($"{kind.Name} never happened");
                }

                continue;
            }

            var (actors, global) = (mine.Select(round => round.Actors).Order().ToArray(), mine.Select(round => round.Global).Order().ToArray());
            var (doors, settled) = (mine.Max(round => round.Doors), mine.Max(round => round.Settled));
            print(options.Markdown
                ? $"| `{kind.Name}` | {kind.What} | {mine.Length} | {Text(kind.Bound)} | {Text(actors[actors.Length / 2])} | {Text(actors[^1])} | {Text(global[global.Length / 2])} | {Text(global[^1])} | {Text(doors)} | {Text(settled)} |"
                : $"{kind.Name,-22} {mine.Length,6}  {Text(kind.Bound),5}  {Text(actors[actors.Length / 2]),6}  {Text(actors[^1]),7}  {Text(global[global.Length / 2]),12}  {Text(global[^1]),7}  {Text(doors),10}  {Text(settled),13}");
        }

        print("");
        print($"{_rounds.Count} rounds in {elapsed.TotalSeconds:0} s, {_transactions:N0} transactions judged, {_commits:N0} commits acknowledged and found again; {_crossed} faults met a migration under way; workers taken over {_takeOvers} times");
        if (_pauses.Count > 0)
        {
            print(string.Create(CultureInfo.InvariantCulture, $"longest wait of a caller of an actor that moved, no fault beside: median {_pauses.Order().ElementAt(_pauses.Count / 2).TotalMilliseconds:0} ms, most {_pauses.Max().TotalMilliseconds:0} ms of {_pauses.Count}"));
        }

        if (_rounds.Count >= ClusterFaults.All.Count && options.ClusterFaults is null && (_crossed == 0 || _takeOvers == 0))
        {
            _violations.Add($"{_crossed} faults met a migration, {_takeOvers} take-overs were seen: the run says nothing of what never happened");
        }

        if (_excused > 0)
        {
            print($"{_excused} took longer than required while the machine was crowded (more than {MachineLoad.Crowded:0} threads per core): marked LATE above");
        }

        foreach (var violation in _violations)
        {
            print($"VIOLATION: {violation}");
        }

        print(_violations.Count == 0 ? "nothing found" : $"FAILED: {_violations.Count} findings; again: ./snapper verify --live --workers {options.Workers} --seed {options.Seed} --rounds {Math.Max(1, _rounds.Count)}");
    }

    private static string Text(TimeSpan time) => time.TotalSeconds.ToString(time.TotalSeconds == Math.Floor(time.TotalSeconds) ? "0" : "0.00", CultureInfo.InvariantCulture) + " s";
}
