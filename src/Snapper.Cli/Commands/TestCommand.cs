using Snapper.Server.Commands;

namespace Snapper.Cli.Commands;

/// <summary>Runs all tests.</summary>
internal static class TestCommand
{
    /// <summary>Arguments of <c>test</c>; all are passed on.</summary>
    public static readonly CommandSyntax Syntax = new(
        "test", "all tests, the same as CI", [], Rest: "[OPTION ...]", PassesOn: true,
        Notes: """
            In a clone of the repository:
              --filter EXPRESSION   only these tests, as 'dotnet test --filter'
              --core                only the assemblies that start no servers, browsers or workers
              --serial              one assembly after another; without it several at once
            """);

    /// <summary>Builds and runs <c>tests/Snapper.TestRunner</c>; its exit code is ours.</summary>
    public static Task<int> Run(ParsedArguments arguments, TextWriter output, TextWriter errors) =>
        RepositoryProgram.Run("tests/Snapper.TestRunner", "Release", "'test'", arguments.Rest, errors);
}
