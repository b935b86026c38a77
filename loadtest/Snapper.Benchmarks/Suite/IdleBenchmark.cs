using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>What a worker costs that has nothing to do.</summary>
public sealed class IdleBenchmark : IBenchmark
{
    // Checkpoints and timers of the load's end are not idleness yet.
    private static readonly TimeSpan Settling = TimeSpan.FromSeconds(5);

    /// <inheritdoc />
    public string Name => "idle";

    /// <inheritdoc />
    public string What => "CPU of an idle worker process, after some load, in % of a core";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var snapper = await SnapperSystem.StartAsync();
        var load = new Side(
            "Snapper PACT", [new LoadShape(16)], (_, seed) => new HttpPipeline(snapper.MultiTransfer(context.Transfers()), seed), snapper.Processes);
        var loaded = await load.RunAsync(load.Shapes[0], context.Plan.SweepTimes, context.Plan.Seed);
        var result = new BenchmarkResult { Name = Name, What = What, Unit = "%", Goal = new Goal(1, 0.3, false) };
        if (loaded.Void is { } reason)
        {
            return result with { Missing = $"the load before it: {reason}" };
        }

        await Task.Delay(Settling);
        var window = TimeSpan.FromSeconds(context.Options.Idle);
        var meter = CpuMeter.Start(snapper.Processes);
        await Task.Delay(window);
        var shares = meter.Stop();
        var notes = new Dictionary<string, string>(Facts.Of(snapper)) { ["resolution"] = $"{1.0 / window.TotalSeconds:F2} %" };
        foreach (var share in shares)
        {
            notes[$"idle {share.Role}"] = $"{Percent(share):F2} % of a core";
        }

        return result with { Measured = Percent(shares.First(static share => share.Role == "server")), Notes = notes };

        double Percent(CpuShare share) => share.Microseconds / window.TotalMicroseconds * 100;
    }
}
