using Snapper.Cli.Doctor;
using Snapper.Cli.Setup;
using Snapper.Cli.Supervision;
using Snapper.Server.Commands;

namespace Snapper.Cli.Commands;

/// <summary>The command line of <c>./snapper</c>: its own commands, and those of the server.</summary>
internal static class CommandLine
{
    private static readonly CommandTable s_table = new(
    [
        new(UpOptions.UpSyntax, UpCommand.Run),
        new(UpOptions.DemoSyntax, DemoCommand.Run),
        new(DoctorCommand.Syntax, DoctorCommand.Run),
        new(SetupCommand.Syntax, SetupCommand.Run),
        new(TestCommand.Syntax, TestCommand.Run),
        new(BenchCommand.Syntax, BenchCommand.Run),
        new(LoadCommand.Syntax, LoadCommand.Run),
        new(VerifyCommand.Syntax, VerifyCommand.Run),
        ServerCommands.Workers,
        ServerCommands.Migrations,
        ServerCommands.Migrate,
        ServerCommands.Drain,
        ServerCommands.Rebalance,
        new(MembershipCommands.JoinSyntax, MembershipCommands.Join),
        new(MembershipCommands.LeaveSyntax, MembershipCommands.Leave),
        ServerCommands.Token,
        ServerCommands.Worker,
    ]);

    /// <summary>All commands, as they are described.</summary>
    internal static IEnumerable<CommandSyntax> Syntaxes => s_table.Syntaxes;

    /// <summary>Runs one command line to its end.</summary>
    /// <param name="arguments">Without the program's name.</param>
    /// <param name="output">For what the command produces.</param>
    /// <param name="errors">For messages to people.</param>
    /// <returns>See <see cref="Snapper.Server.Processes.ExitCode"/>.</returns>
    public static Task<int> Run(IReadOnlyList<string> arguments, TextWriter output, TextWriter errors) =>
        s_table.Run(arguments, output, errors);
}
