using Snapper.Terminal;

namespace Snapper.Benchmarks.Tests;

/// <summary>Options as the command line gives them.</summary>
internal static class Parsed
{
    public static BenchmarkOptions Options(params string[] line) =>
        BenchmarkOptions.From(CommandLines.Parse(BenchmarkOptions.Command(_ => Task.FromResult(0), () => 0), line));
}
