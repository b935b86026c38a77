using System.Diagnostics;
using Snapper.Simulation.Cluster;

namespace Snapper.Verify;

/// <summary>Runs many seeds of several workers on several threads; shrinks what fails and says how to run it again.</summary>
internal static class ClusterSeedRun
{
    private const int MostFailures = 5;
    private const int ShrinkingRuns = 300;

    public static int Run(VerifyOptions options, CancellationToken interrupted)
    {
        Console.WriteLine($"seeds from {options.First} on, of {(options.Workers == 0 ? "2 to 4" : options.Workers)} workers, {options.Threads} at once");
        var total = new Totals();
        var watch = Stopwatch.StartNew();
        var next = -1L;
        var threads = new Thread[options.Threads];
        for (var i = 0; i < threads.Length; i++)
        {
            threads[i] = new Thread(() =>
            {
                while (watch.Elapsed < options.Time && total.Failures < MostFailures && !interrupted.IsCancellationRequested)
                {
                    var number = Interlocked.Increment(ref next);
                    if (number >= options.Seeds)
                    {
                        return;
                    }

                    One(ClusterScenario.Draw(options.First + (ulong)number, options.Workers!.Value), total, interrupted);
                }
            });
            threads[i].Start();
        }

        foreach (var thread in threads)
        {
            thread.Join();
        }

        total.Print(options.First, watch.Elapsed);
        CoverageReport.Print(total.Coverage, options.Markdown);
        if (interrupted.IsCancellationRequested)
        {
            Console.WriteLine($"INTERRUPTED after {total.Coverage.Runs:N0} seeds; go on with --first {options.First + (ulong)total.Coverage.Runs}.");
            return total.Failures > 0 ? 1 : 0;
        }

        var missing = total.Coverage.Missing;
        if (missing.Count > 0)
        {
            Console.WriteLine($"FAILED: never happened in {total.Coverage.Runs:N0} seeds: {string.Join(", ", missing)}.");
        }

        return total.Failures > 0 || missing.Count > 0 ? 1 : 0;
    }

    /// <summary>Runs one scenario again, twice.</summary>
    public static int Replay(ClusterScenario scenario)
    {
        var result = ClusterSimulator.Run(scenario);
        Print(result);
        var again = ClusterSimulator.Run(scenario);
        Console.WriteLine($"digest {result.Digest:x16}, {result.Steps:N0} steps, {result.VirtualTime.TotalSeconds:0.000} s of virtual time");
        if (again.Digest != result.Digest || again.Steps != result.Steps)
        {
            Console.WriteLine($"NOT REPEATABLE: the second run has digest {again.Digest:x16} and {again.Steps:N0} steps.");
            return 1;
        }

        return result.Violations.Count > 0 ? 1 : 0;
    }

    private static void One(ClusterScenario scenario, Totals total, CancellationToken interrupted)
    {
        var result = ClusterSimulator.Run(scenario);
        total.Add(result);
        if (result.Violations.Count > 0)
        {
            var small = ClusterShrinker.Shrink(result, ShrinkingRuns, interrupted);
            lock (total)
            {
                Print(small);
            }
        }
    }

    private static void Print(ClusterRunResult result)
    {
        Console.WriteLine(result.Violations.Count == 0 ? $"no violation: {result.Scenario}" : $"VIOLATION: ./snapper verify --scenario \"{result.Scenario}\"");
        foreach (var violation in result.Violations.Distinct().Take(5))
        {
            Console.WriteLine("  " + violation.TrimEnd().Replace("\n", "\n  ", StringComparison.Ordinal));
        }
    }

    private sealed class Totals
    {
        private readonly Lock _lock = new();
        private long _committed;
        private long _aborted;
        private long _unknown;
        private long _steps;
        private TimeSpan _virtual;

        public ClusterCoverage Coverage { get; } = new();

        public int Failures { get; private set; }

        public void Add(ClusterRunResult result)
        {
            lock (_lock)
            {
                _committed += result.Committed;
                _aborted += result.Aborted;
                _unknown += result.Unknown;
                _steps += result.Steps;
                _virtual += result.VirtualTime;
                Coverage.Add(result);
                Failures += result.Violations.Count > 0 ? 1 : 0;
            }
        }

        public void Print(ulong first, TimeSpan elapsed)
        {
            Console.WriteLine($"{Coverage.Runs:N0} seeds from {first}: {_committed:N0} transactions committed, {_aborted:N0} aborted, {_unknown:N0} unknown to their clients, {_steps:N0} steps");
            Console.WriteLine($"{elapsed.TotalSeconds:0.0} s, {Coverage.Runs / elapsed.TotalMinutes:N0} seeds per minute, {_virtual.TotalHours:0.0} hours of virtual time; {Failures} seeds with violations");
        }
    }
}
