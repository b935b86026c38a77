using System.Diagnostics;
using Snapper.Simulation.Running;

namespace Snapper.Verify;

/// <summary>Runs many seeds on several threads; shrinks what fails and says how to run it again. Or runs one scenario again.</summary>
/// <typeparam name="TScenario">What a seed decides.</typeparam>
/// <typeparam name="TResult">What a run of it shows.</typeparam>
internal abstract class SeedRun<TScenario, TResult>(VerifyOptions options)
    where TResult : RunResult<TScenario>
{
    private const int MaxFailures = 5;

    private readonly Lock _adding = new();
    private readonly Lock _printing = new();

    protected VerifyOptions Options => options;

    protected long Committed { get; private set; }

    protected long Aborted { get; private set; }

    protected long Unknown { get; private set; }

    protected long Steps { get; private set; }

    protected TimeSpan VirtualTime { get; private set; }

    protected int Failures { get; private set; }

    /// <summary>Seeds that were run.</summary>
    protected abstract long Runs { get; }

    /// <summary>What should have happened in so many seeds and never did.</summary>
    protected abstract IReadOnlyList<string> Missing { get; }

    /// <summary>How many workers there are, in words with a comma behind; empty for one.</summary>
    protected virtual string OfWorkers => "";

    /// <summary>How many seeds there were to be, in words with a space before.</summary>
    protected virtual string OfHowMany => "";

    /// <summary>Runs the seeds.</summary>
    /// <returns>The program's exit code.</returns>
    public int Run(CancellationToken interrupted)
    {
        Console.WriteLine($"seeds from {options.First} on, {OfWorkers}{options.Threads} at once");
        var watch = Stopwatch.StartNew();
        var next = -1L;
        var threads = new Thread[options.Threads];
        for (var i = 0; i < threads.Length; i++)
        {
            threads[i] = new Thread(() =>
            {
                while (watch.Elapsed < options.Time && Failures < MaxFailures && !interrupted.IsCancellationRequested)
                {
                    var number = Interlocked.Increment(ref next);
                    if (number >= options.Seeds)
                    {
                        return;
                    }

                    One(options.First + (ulong)number, interrupted);
                }
            });
            threads[i].Start();
        }

        foreach (var thread in threads)
        {
            thread.Join();
        }

        PrintSums(watch.Elapsed);
        PrintCoverage();
        if (interrupted.IsCancellationRequested)
        {
            Console.WriteLine($"INTERRUPTED after {Runs:N0} seeds{OfHowMany}; go on with --first {options.First + (ulong)Runs}.");
            return Failures > 0 ? 1 : 0;
        }

        var missing = Missing;
        if (missing.Count > 0)
        {
            Console.WriteLine($"FAILED: never happened in {Runs:N0} seeds: {string.Join(", ", missing)}.");
        }

        return Failures > 0 || missing.Count > 0 ? 1 : 0;
    }

    /// <summary>Runs one scenario, twice.</summary>
    /// <returns>The program's exit code.</returns>
    public int Replay(TScenario scenario, CancellationToken interrupted)
    {
        var result = Simulate(scenario);
        Print(result);
        if (Simulator.CountsTransitions)
        {
            Console.WriteLine($"transitions: {string.Join(", ", Taken(result))}");
        }

        if (interrupted.IsCancellationRequested)
        {
            Console.WriteLine("INTERRUPTED before the second run: whether both are alike is not known.");
            return result.Violations.Count > 0 ? 1 : 0;
        }

        var again = Simulate(scenario);
        Console.WriteLine($"digest {result.Digest:x16}, {result.Steps:N0} steps, {result.VirtualTime.TotalSeconds:0.000} s of virtual time");
        if (again.Digest != result.Digest || again.Steps != result.Steps)
        {
            Console.WriteLine($"NOT REPEATABLE: the second run has digest {again.Digest:x16} and {again.Steps:N0} steps.");
            return 1;
        }

        return result.Violations.Count > 0 ? 1 : 0;
    }

    protected abstract TScenario Draw(ulong seed);

    protected abstract TResult Simulate(TScenario scenario);

    /// <summary>The transitions that a run has taken, by name, and how often.</summary>
    protected abstract IEnumerable<string> Taken(TResult result);

    /// <summary>Makes a failing scenario smaller.</summary>
    protected abstract TResult Shrink(TResult failing, CancellationToken interrupted);

    /// <summary>Counts what happened in a run.</summary>
    protected abstract void Cover(TResult result);

    protected abstract void PrintCoverage();

    protected abstract void PrintSums(TimeSpan elapsed);

    private static void Print(TResult result)
    {
        Console.WriteLine(result.Violations.Count == 0 ? $"no violation: {result.Scenario}" : $"VIOLATION: ./snapper verify --scenario \"{result.Scenario}\"");
        foreach (var violation in result.Violations.Distinct().Take(5))
        {
            Console.WriteLine("  " + violation.TrimEnd().Replace("\n", "\n  ", StringComparison.Ordinal));
        }
    }

    private void One(ulong seed, CancellationToken interrupted)
    {
        var result = Simulate(Draw(seed));
        lock (_adding)
        {
            Committed += result.Committed;
            Aborted += result.Aborted;
            Unknown += result.Unknown;
            Steps += result.Steps;
            VirtualTime += result.VirtualTime;
            Cover(result);
            Failures += result.Violations.Count > 0 ? 1 : 0;
        }

        if (result.Violations.Count > 0)
        {
            var small = Shrink(result, interrupted);
            lock (_printing)
            {
                Print(small);
            }
        }
    }
}
