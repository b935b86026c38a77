using System.Net.Sockets;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>Runs one benchmark such that its failure does not cost the others their results.</summary>
public static class BenchmarkRunner
{
    /// <summary>Runs it; a system that does not start, or breaks, is a result without a number that says why.</summary>
    public static async Task<BenchmarkResult> RunAsync(IBenchmark benchmark, BenchmarkContext context)
    {
        var command = $"./snapper bench {benchmark.Name} {context.Options.Given}".TrimEnd();
        try
        {
            return await benchmark.RunAsync(context) with { Command = command };
        }
        catch (Exception broken) when (broken is MissingToolException or InvalidOperationException or HttpRequestException or IOException or SocketException)
        {
            context.Progress($"  no result: {broken.Message}");
            return new BenchmarkResult { Name = benchmark.Name, What = benchmark.What, Missing = broken.Message, Command = command };
        }
    }
}
