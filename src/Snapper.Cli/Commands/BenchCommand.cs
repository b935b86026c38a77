using Snapper.Server.Commands;

namespace Snapper.Cli.Commands;

/// <summary>Runs the benchmarks.</summary>
internal static class BenchCommand
{
    /// <summary>Arguments of <c>bench</c>; all are passed on.</summary>
    public static readonly CommandSyntax Syntax = new("bench", "benchmarks with their baselines, side by side", [], Rest: "[NAME ...]", PassesOn: true);

    /// <summary>Builds and runs <c>loadtest/Snapper.Benchmarks</c>; its exit code is ours.</summary>
    public static Task<int> Run(ParsedArguments arguments, TextWriter output, TextWriter errors) =>
        RepositoryProgram.Run("loadtest/Snapper.Benchmarks", "Release", "'bench'", arguments.Rest, errors);
}
