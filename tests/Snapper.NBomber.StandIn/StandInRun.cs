using System.Collections.Concurrent;
using System.Diagnostics;
using NBomber.Contracts;
using NBomber.Contracts.Stats;

namespace Snapper.NBomberStandIn;

/// <summary>Runs what was registered, in order of its phases and at about its rates: enough to see that the host says what it means, and no load test.</summary>
internal static class StandInRun
{
    /// <summary>What was registered and found last; for tests.</summary>
    public static (NBomberContext Context, NodeStats Stats)? Last { get; private set; }

    public static async Task<NodeStats> Run(NBomberContext context)
    {
        var running = context.Scenarios.Select(static scenario => new RunningScenario(scenario)).ToArray();
        foreach (var scenario in running)
        {
            await (scenario.Scenario.Init?.Invoke(new InitContext()) ?? Task.CompletedTask);
        }

        await Task.WhenAll(running.Select(static scenario => scenario.Run()));
        foreach (var scenario in running)
        {
            await (scenario.Scenario.Clean?.Invoke(new InitContext()) ?? Task.CompletedTask);
        }

        var all = running.Select(static scenario => scenario.Stats()).ToArray();
        var thresholds = running.Zip(all).SelectMany(static pair => pair.First.Scenario.Thresholds.Select(threshold =>
            new ThresholdResult(pair.First.Scenario.ScenarioName, threshold.CheckScenario.ToString(), !threshold.CheckScenario.Compile()(pair.Second)))).ToArray();
        var stats = new NodeStats(all, thresholds);
        Last = (context, stats);
        return stats;
    }

    private sealed class InitContext : IScenarioInitContext;
}

/// <summary>One scenario as it runs.</summary>
internal sealed class RunningScenario(ScenarioProps scenario) : IScenarioContext
{
    private readonly ConcurrentQueue<(string Step, string Code, bool IsError, double Ms)> _ended = new();
    private long _invocations;

    public ScenarioProps Scenario { get; } = scenario;

    public long InvocationNumber => Volatile.Read(ref _invocations);

    public CancellationToken ScenarioCancellationToken => CancellationToken.None;

    public void CountStep(string name, IResponse response) => _ended.Enqueue((name, response.StatusCode, response.IsError, response.CustomLatencyMs));

    public async Task Run()
    {
        var rate = 0;
        foreach (var simulation in Scenario.Simulations)
        {
            switch (simulation)
            {
                case LoadSimulation.Pausing pause:
                    await Task.Delay(pause.During);
                    break;
                case LoadSimulation.Iterating iterations:
                    for (var i = 0; i < iterations.Iterations; i++)
                    {
                        await Invoke();
                    }

                    break;
                case LoadSimulation.Injecting steady:
                    rate = steady.Rate;
                    await Inject(rate, rate, steady.During);
                    break;
                case LoadSimulation.RampingInjecting ramp:
                    await Inject(rate, ramp.Rate, ramp.During);
                    rate = ramp.Rate;
                    break;
                default:
                    throw new NotSupportedException($"The stand-in has no {simulation}.");
            }
        }
    }

    public ScenarioStats Stats()
    {
        var own = _ended.Where(static one => one.Step.Length == 0).ToArray();
        var steps = _ended.Where(static one => one.Step.Length > 0).GroupBy(static one => one.Step)
            .Select(static step => new StepStats(step.Key, Of([.. step.Where(static one => !one.IsError)]), Of([.. step.Where(static one => one.IsError)]))).ToArray();
        var (ok, fail) = (Of([.. own.Where(static one => !one.IsError)]), Of([.. own.Where(static one => one.IsError)]));
        return new ScenarioStats(Scenario.ScenarioName, ok, fail, steps, own.Length, ok.Request.Count, fail.Request.Count);
    }

    private static MeasurementStats Of((string Step, string Code, bool IsError, double Ms)[] ended)
    {
        var ms = ended.Select(static one => one.Ms).Order().DefaultIfEmpty(0).ToArray();
        double At(double share) => ms[Math.Clamp((int)Math.Ceiling(share * ms.Length) - 1, 0, ms.Length - 1)];
        var codes = ended.GroupBy(static one => (one.Code, one.IsError)).Select(static code => new StatusCodeStats(code.Key.Code, code.Key.IsError, "", code.Count())).ToArray();
        return new MeasurementStats(new RequestStats(ended.Length), new LatencyStats(ms[0], ms.Average(), ms[^1], At(0.5), At(0.75), At(0.95), At(0.99)), codes);
    }

    private async Task Inject(int from, int to, TimeSpan during)
    {
        var started = Stopwatch.GetTimestamp();
        var under = new List<Task>();
        var sent = 0.0;
        while (Stopwatch.GetElapsedTime(started) is var gone && gone < during)
        {
            var (seconds, share) = (gone.TotalSeconds, gone / during);
            for (var due = seconds * (from + ((to - from) * share / 2)); sent < due; sent++)
            {
                under.Add(Invoke());
            }

            await Task.Delay(5);
        }

        await Task.WhenAll(under);
    }

    private async Task Invoke()
    {
        Interlocked.Increment(ref _invocations);
        var began = Stopwatch.GetTimestamp();
        var response = await Scenario.Run(this);
        _ended.Enqueue(("", response.StatusCode, response.IsError, response.CustomLatencyMs > 0 ? response.CustomLatencyMs : Stopwatch.GetElapsedTime(began).TotalMilliseconds));
    }
}
