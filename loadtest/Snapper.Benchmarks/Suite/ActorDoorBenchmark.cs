using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>
/// Transactions per second of CPU through actors of Dapr's SDK, against the worker's own door: both on one worker, in
/// alternating runs.
/// </summary>
/// <param name="name">On the command line.</param>
/// <param name="type">The actor type of the SDK's door.</param>
/// <param name="how">What it is, in words.</param>
/// <param name="throughDaprd">
/// Through a sidecar, and its CPU counts; else as a sidecar calls the worker, whose CPU counts alone.
/// </param>
public sealed class ActorDoorBenchmark(string name, string type, string how, bool throughDaprd) : IBenchmark
{
    /// <inheritdoc />
    public string Name => name;

    /// <inheritdoc />
    public string What => throughDaprd
        ? $"PACTs of one actor through the sidecar's actor door per second of CPU of all, {how} ÷ our own door"
        : $"PACTs of one actor at the actor door per second of the worker's CPU, {how} ÷ our own door";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var system = await DoorsSystem.StartAsync(throughDaprd);
        var (sdk, own) = await SideBySide.RunAsync(
            SideOf(context, system, how, type), SideOf(context, system, "own door", DoorsSystem.Own), context.Plan,
            context.Progress);
        return BenchmarkResult.PairedRatio(
            Name, What, new Goal(0.95, 1, true), sdk, own,
            run => 1e6 / (throughDaprd ? run.CpuPerTransaction : run.CpuOf("server")), context.Plan.Seed) with
        {
            Notes = new Dictionary<string, string>
            {
                ["worker CPU per transaction, us"] = $"{Cpu(sdk)} and {Cpu(own)}",
                ["transactions per second"] = $"{PerSecond(sdk)} and {PerSecond(own)}",
            },
        };
    }

    private static string Cpu(SideRuns side) => $"{side.Summary(static run => run.CpuOf("server")).Median:F1}";

    private static string PerSecond(SideRuns side) => $"{side.Summary(static run => run.PerSecond).Median:F0}";

    private static Side SideOf(BenchmarkContext context, DoorsSystem system, string name, string type)
    {
        var chooser = new TransferChooser(new ZipfSampler(context.Options.Accounts, 0), 1);
        return new Side(
            name, context.Connections, (_, seed) => new HttpPipeline(system.Deposit(chooser, type), seed),
            system.Processes);
    }
}
