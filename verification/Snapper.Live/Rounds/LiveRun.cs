using System.Diagnostics;
using Snapper.Live.Faults;
using Snapper.Live.Harness;
using Snapper.Live.Running;

namespace Snapper.Live.Rounds;

/// <summary>Starts a system, strikes it round by round while clients use it, and judges what they saw.</summary>
/// <param name="options">What to do.</param>
/// <param name="print">Takes every line.</param>
internal sealed class LiveRun(LiveOptions options, Action<string> print)
{
    private const int RoundsPerSegment = 20;
    private static readonly TimeSpan RecoversAtAll = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan DecidedWithin = TimeSpan.FromSeconds(10);

    private readonly List<Round> _rounds = [];
    private readonly List<string> _violations = [];
    private int _excused;
    private long _transactions;
    private long _commits;
    private long _repeats;
    private long _lookups;

    /// <summary>What was found so far.</summary>
    public IReadOnlyList<string> Violations => _violations;

    /// <summary>It was told to stop before its end.</summary>
    public bool WasStopped { get; private set; }

    /// <summary>Runs it.</summary>
    /// <returns>True: it ran to its end, and nothing was found.</returns>
    public async Task<bool> Run(CancellationToken cancellation)
    {
        if (ServerPrograms.Missing is { } missing)
        {
            print(missing);
            return false;
        }

        print($"seed {options.Seed}: faults, their order and length, and what clients ask for; when the system answers is not in its hand");
        var watch = Stopwatch.StartNew();
        LiveSystem system;
        try
        {
            system = await LiveSystem.Start(cancellation);
        }
        catch (Exception problem) when (problem is InvalidOperationException or OperationCanceledException)
        {
            WasStopped = problem is OperationCanceledException && cancellation.IsCancellationRequested;
            if (!WasStopped)
            {
                _violations.Add(problem.Message);
            }

            print(WasStopped ? "INTERRUPTED before the system was ready: nothing was verified" : problem.Message);
            return false;
        }

        await using var whole = system;
        try
        {
            print($"ready after {watch.Elapsed.TotalSeconds:0.0} s; state and logs in {system.Folder}");
            await using (new Prober(system.NewClient(), "warm"))
            {
                // The first transactions of a process are slow, and would be taken for the first fault's doing.
                await Task.Delay(TimeSpan.FromSeconds(2), cancellation);
            }

            await AllSegments(system, watch, cancellation);
            await system.Stop();
        }
        catch (Exception ended) when (cancellation.IsCancellationRequested)
        {
            // A signal from a terminal reaches the system as well, and what breaks then breaks because of it.
            WasStopped = true;
            if (ended is not OperationCanceledException)
            {
                print($"while it was interrupted: {ended.Message}");
            }
        }
        catch (Exception broken)
        {
            _violations.Add($"The run broke: {broken}\nup says:\n{system.Output}");
        }

        Report(watch.Elapsed);
        var found = _violations.Count > 0;
        if (found)
        {
            print($"Kept: {system.Folder} (logs of the processes in logs, histories that failed as history-*.jsonl)");
        }

        // The processes must be gone before their folder is.
        await system.DisposeAsync();
        if (!found)
        {
            Directory.Delete(system.Folder, recursive: true);
        }

        return !found && !WasStopped;
    }

    private async Task AllSegments(LiveSystem system, Stopwatch watch, CancellationToken cancellation)
    {
        var random = new Random(options.Seed);
        var kinds = new ShuffledBag<FaultKind>(options.Faults.Where(kind => kind.IsQuick || !options.Brief), random);
        for (var number = 1; _rounds.Count < options.Rounds && watch.Elapsed < options.Time && _violations.Count == 0; number++)
        {
            using var segment = new Segment(system.Client, options.Seed, number);
            print($"clients {number}: {segment.PactShare * 100:0} % PACTs");
            await using var prober = new Prober(system.NewClient(), $"probe-{number}");
            for (var i = 0; i < RoundsPerSegment && _rounds.Count < options.Rounds && watch.Elapsed < options.Time; i++)
            {
                await segment.SomeCommits(20 + random.Next(200), cancellation);
                var round = await Strike(system, segment, prober, kinds.Next(), random, cancellation);
                _rounds.Add(round);
                print(round.ToString());
                _violations.AddRange(round.Problems.Select(problem => $"Round {round.Number}, {round.Kind.Name}: {problem}"));
            }

            await prober.Stop();
            var judging = Stopwatch.StartNew();
            _violations.AddRange((await segment.End(system.RestartServer, system.Folder)).Select(problem => $"Clients {number}: {problem}"));
            _violations.AddRange((await prober.Problems()).Select(problem => $"Probes {number}: {problem}"));
            print($"clients {number}: {segment.Transactions:N0} transactions judged in {judging.Elapsed.TotalSeconds:0.0} s, {(_violations.Count == 0 ? "nothing found" : "VIOLATION")}");
            _transactions += segment.Transactions;
            _commits += segment.Commits;
            _repeats += segment.Repeats;
            _lookups += segment.Lookups;
        }
    }

    private async Task<Round> Strike(LiveSystem system, Segment segment, Prober prober, FaultKind kind, Random random, CancellationToken cancellation)
    {
        prober.Forget();
        var (failures, inDoubt, aborts) = (segment.Failures, segment.InDoubt, segment.ForcedAborts);
        var strike = new Strike(system, random, options.Brief, cancellation);
        var begin = Stopwatch.GetTimestamp();
        await kind.Act(strike);
        var problems = new List<string>(strike.Problems);
        var end = Stopwatch.GetTimestamp();
        if (strike.NotRun is { } whyNot)
        {
            return new Round(_rounds.Count + 1, kind, $"not run: {whyNot}", null, 0, 0, TimeSpan.Zero, ServerPrograms.MustBeThere ? [$"It must run in CI: {whyNot}"] : []);
        }

        await Eventually.Holds($"transactions to commit again after {kind.Name}", RecoversAtAll, () =>
        {
            cancellation.ThrowIfCancellationRequested();
            return Task.FromResult(prober.Recovered(strike.Hit, strike.Since, out var missing) is null ? missing : null);
        });
        var measured = strike.Measured ?? (kind.Measure == Measure.Stall ? prober.LongestSince(strike.Hit) : prober.Recovered(strike.Hit, strike.Since, out _)!.Value);
        var settled = await segment.Settled(end, cancellation);
        var detail = string.Join("; ", new[] { strike.Detail, prober.Between(begin, strike.Hit) }.Where(words => words.Length > 0));
        var late = measured > kind.Bound ? $"{kind.Bound.TotalSeconds:0.0} s are required, not {measured.TotalSeconds:0.00} s"
            : settled > DecidedWithin ? $"a request was decided {settled.TotalSeconds:0.0} s after the end of the fault, and {DecidedWithin.TotalSeconds:0} s are required"
            : null;
        if (late is not null && MachineLoad.Excuse(late) is { } excuse)
        {
            _excused++;
            detail += excuse;
        }
        else if (late is not null)
        {
            problems.Add(late);
        }

        if (kind.AbortsNobody && segment.ForcedAborts > aborts)
        {
            problems.Add($"{segment.ForcedAborts - aborts} transactions were aborted, although all they had to do was wait.");
        }

        return new Round(_rounds.Count + 1, kind, detail, measured, segment.Failures - failures, segment.InDoubt - inDoubt, settled, problems);
    }

    /// <summary>The option that draws the same kinds again; empty when all were asked for.</summary>
    private string OnlyThese => options.Faults.Count == FaultCatalog.All.Count ? "" : $" --faults {string.Join(',', options.Faults.Select(kind => kind.Name))}";

    private void Report(TimeSpan elapsed)
    {
        print("");
        foreach (var line in BoundsTable.Lines(options.Faults, _rounds, options.Markdown))
        {
            print(line);
        }

        print("");
        print($"{_rounds.Count} rounds in {elapsed.TotalSeconds:0} s, {_transactions:N0} transactions judged, {_commits:N0} commits acknowledged and found again, {_repeats:N0} requests sent again, {_lookups:N0} asked for by id");
        if (_excused > 0)
        {
            print($"{_excused} of them took longer than required while the machine was crowded (more than {MachineLoad.Crowded:0} threads per core): marked LATE above; run it alone to judge bounds");
        }

        foreach (var violation in _violations)
        {
            print($"VIOLATION: {violation}");
        }

        if (WasStopped)
        {
            print($"INTERRUPTED after {_rounds.Count} of {(options.Rounds == int.MaxValue ? "as many rounds as fit" : $"{options.Rounds} rounds")}: what clients saw since the last judging was not judged; {_violations.Count} findings in what was");
        }
        else if (_violations.Count == 0)
        {
            print("nothing found");
        }

        if (_violations.Count > 0)
        {
            print($"FAILED: {_violations.Count} findings; run again like this: ./snapper verify --live --seed {options.Seed} --rounds {Math.Max(1, _rounds.Count)}{OnlyThese}");
        }
    }
}
