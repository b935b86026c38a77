using System.Diagnostics;
using System.Globalization;
using Snapper.Simulation.Running;

namespace Snapper.Verify;

/// <summary>Runs many seeds on several threads; shrinks what fails and says how to run it again.</summary>
internal static class SeedRun
{
    private const int MostFailures = 5;

    public static int Run(VerifyOptions options, CancellationToken interrupted)
    {
        Console.WriteLine($"seeds from {options.First} on, {options.Threads} at once");
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

                    One(options.First + (ulong)number, total, interrupted);
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
        var missing = total.Coverage.Missing;
        if (interrupted.IsCancellationRequested)
        {
            var of = options.Seeds == int.MaxValue ? "as many as fit" : options.Seeds.ToString("N0", CultureInfo.InvariantCulture);
            Console.WriteLine($"INTERRUPTED after {total.Coverage.Runs:N0} seeds of {of}; go on with --first {options.First + (ulong)total.Coverage.Runs}.");
            return total.Failures > 0 ? 1 : 0;
        }

        if (missing.Count > 0)
        {
            Console.WriteLine($"FAILED: never happened in {total.Coverage.Runs:N0} seeds: {string.Join(", ", missing)}.");
        }

        return total.Failures > 0 || missing.Count > 0 ? 1 : 0;
    }

    private static void One(ulong seed, Totals total, CancellationToken interrupted)
    {
        var result = Simulator.Run(seed);
        total.Add(result);
        if (result.Violations.Count > 0)
        {
            var small = Shrinker.Shrink(result.Scenario, runs: 400, interrupted);
            lock (total)
            {
                Replay.Print(small);
            }
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

        public Coverage Coverage { get; } = new();

        public int Failures { get; private set; }

        public void Add(SimulationResult result)
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
            var transactions = _committed + _aborted + _unknown;
            Console.WriteLine($"{Coverage.Runs:N0} seeds from {first}: {transactions:N0} transactions ({_committed:N0} committed, {_aborted:N0} aborted, {_unknown:N0} unknown to their clients), {_steps:N0} steps");
            var processor = Environment.CpuUsage.TotalTime.TotalSeconds; // of all threads since the program began, its compiling included
            Console.WriteLine($"{processor:0.0} s of processor time, {transactions / processor:N0} transactions per second of one core");
            Console.WriteLine($"{elapsed.TotalSeconds:0.0} s, {transactions / elapsed.TotalSeconds:N0} transactions/s, {_virtual.TotalHours:0.0} hours of virtual time; {Failures} seeds with violations");
        }
    }
}
