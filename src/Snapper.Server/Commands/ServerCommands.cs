using System.CommandLine;

namespace Snapper.Server.Commands;

/// <summary>What the server itself can do: serve, and ask other servers. The container image has these commands alone.</summary>
internal static class ServerCommands
{
    public static readonly IReadOnlyList<Command> All =
        [.. ClusterCommands.All, TokenCommand.Command, WorkerCommand.Command];

    /// <summary>Runs one command line of a program that has these commands, and possibly others, to its end.</summary>
    /// <param name="program">The program.</param>
    /// <param name="arguments">Without the program's name.</param>
    /// <param name="output">For what the command produces.</param>
    /// <param name="errors">For messages to people.</param>
    /// <returns>See <see cref="AspNetCore.Processes.ExitCode"/>.</returns>
    public static Task<int> Run(Command program, IReadOnlyList<string> arguments, TextWriter output, TextWriter errors) =>
        CommandLines.Run(
            program, arguments is ["worker", ..] ? WorkerCommand.WithEnvironment(arguments, Environment.GetEnvironmentVariable) : arguments,
            output, errors);

    public static Command Program() =>
        CommandLines.Program(ProgramName.Value, "snapper: ACID transactions over virtual actors on Dapr", All);
}
