using Snapper.Server.Commands;

namespace Snapper.Cli.Commands;

/// <summary>Runs the load tests.</summary>
internal static class LoadCommand
{
    /// <summary>Arguments of <c>load</c>; all are passed on.</summary>
    public static readonly CommandSyntax Syntax = new(
        "load",
        "load scenarios against a running system, with thresholds, checks and a report",
        [],
        Rest: "NAME [OPTION ...]",
        Notes: """
            In a clone of the repository:
              ./snapper load --list                                         the scenarios, and what thresholds may name
              ./snapper load smallbank-mixed --rate 500 --duration 30s      one of them, against the workers of ./snapper up
              ./snapper load --calibrate                                    how punctual the load generator is itself
            './snapper load --help NAME' says all of it; docs/load-tests.md explains it.
            """,
        PassesOn: true);

    // 256 MiB between two collections, which stop the thread that keeps the time; only the environment can say it.
    private static readonly KeyValuePair<string, string> s_fewCollections = new("DOTNET_GCgen0size", "10000000");

    /// <summary>Builds and runs <c>loadtest/Snapper.Load</c>; its exit code is ours.</summary>
    public static Task<int> Run(ParsedArguments arguments, TextWriter output, TextWriter errors) =>
        RepositoryProgram.Run("loadtest/Snapper.Load", "Release", "'load'", arguments.Rest, errors, s_fewCollections);
}
