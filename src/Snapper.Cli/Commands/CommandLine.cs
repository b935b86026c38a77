using System.CommandLine;
using Snapper.Cli.Doctor;
using Snapper.Server.Commands;

namespace Snapper.Cli.Commands;

/// <summary>The command line of <c>./snapper</c>: its own commands, those of the server, and the names of the programs of the clone.</summary>
internal static class CommandLine
{
    internal static readonly Command Program = CommandLines.Program(
        ProgramName.Value, "snapper: ACID transactions over virtual actors on Dapr",
        [
            UpCommand.Command, DemoCommand.Command, DashboardCommand.Command, DoctorCommand.Command,
            OfClone("setup", "brings what is missing, Redis and the Dapr runtime, asking before each step"),
            OfClone("test", "all tests, the same as CI"),
            OfClone("bench", "benchmarks with their baselines, side by side"),
            OfClone("load", "load scenarios against a running system, with thresholds, checks and a report"),
            OfClone("verify", "attacks the product, in a simulator or as a running system (--live), or judges a recorded history (--history)"),
            .. MembershipCommands.All, ImportCommand.Command, .. ServerCommands.All,
        ]);

    /// <summary>Runs one command line to its end.</summary>
    /// <param name="arguments">Without the program's name.</param>
    /// <param name="output">For what the command produces.</param>
    /// <param name="errors">For messages to people.</param>
    /// <returns>See <see cref="Snapper.AspNetCore.Processes.ExitCode"/>.</returns>
    public static Task<int> Run(IReadOnlyList<string> arguments, TextWriter output, TextWriter errors) =>
        ServerCommands.Run(Program, arguments, output, errors);

    /// <summary>What measures, tests or attacks the product is no part of it: the script <c>snapper</c> starts it, and knows its options.</summary>
    private static Command OfClone(string name, string summary)
    {
        var command = CommandLines.Command(
            name, summary, (_, _, _) => throw new CommandException($"'{name}' runs in a clone of the repository: './snapper {name}' there."));
        command.TreatUnmatchedTokensAsErrors = false;
        return command;
    }
}
