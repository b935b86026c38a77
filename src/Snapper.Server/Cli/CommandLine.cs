using Snapper.Server.Cli.Doctor;
using Snapper.Server.Cli.Setup;
using Snapper.Server.Supervision;

namespace Snapper.Server.Cli;

/// <summary>The command line: finds the command, reads its arguments, runs it, turns errors into messages and exit codes.</summary>
internal static class CommandLine
{
    private sealed record Command(CommandSyntax Syntax, Func<ParsedArguments, TextWriter, TextWriter, Task<int>> Run);

    private static readonly Command[] Commands =
    [
        new(UpOptions.UpSyntax, UpCommand.Run),
        new(UpOptions.DemoSyntax, DemoCommand.Run),
        new(DoctorCommand.Syntax, DoctorCommand.Run),
        new(SetupCommand.Syntax, SetupCommand.Run),
        new(TestCommand.Syntax, TestCommand.Run),
        new(BenchCommand.Syntax, BenchCommand.Run),
        new(LoadCommand.Syntax, LoadCommand.Run),
        new(VerifyCommand.Syntax, VerifyCommand.Run),
        new(ClusterCommands.WorkersSyntax, ClusterCommands.Workers),
        new(ClusterCommands.MigrationsSyntax, ClusterCommands.Migrations),
        new(ClusterCommands.MigrateSyntax, ClusterCommands.Migrate),
        new(ClusterCommands.DrainSyntax, ClusterCommands.Drain),
        new(ClusterCommands.RebalanceSyntax, ClusterCommands.Rebalance),
        new(MembershipCommands.JoinSyntax, MembershipCommands.Join),
        new(MembershipCommands.LeaveSyntax, MembershipCommands.Leave),
        new(TokenCommand.Syntax, TokenCommand.Run),
        new(WorkerCommand.Syntax, WorkerCommand.Run),
    ];

    /// <summary>Runs one command line to its end.</summary>
    /// <param name="arguments">Without the program's name.</param>
    /// <param name="output">For what the command produces.</param>
    /// <param name="errors">For messages to people.</param>
    /// <returns>See <see cref="ExitCode"/>.</returns>
    public static async Task<int> Run(IReadOnlyList<string> arguments, TextWriter output, TextWriter errors)
    {
        if (arguments.Count == 0)
        {
            HelpText.Write(errors, Syntaxes);
            return ExitCode.Usage;
        }

        if (IsHelp(arguments[0]))
        {
            var about = Commands.FirstOrDefault(c => arguments.Count > 1 && c.Syntax.Name == arguments[1]);
            if (about is not null) HelpText.Write(output, about.Syntax);
            else HelpText.Write(output, Syntaxes);
            return ExitCode.Success;
        }

        var command = Commands.FirstOrDefault(c => c.Syntax.Name == arguments[0]);
        if (command is null)
        {
            errors.WriteLine($"snapper: there is no command '{arguments[0]}'. Commands: {string.Join(", ", Syntaxes.Select(s => s.Name))}.");
            return ExitCode.Usage;
        }

        if (arguments.Count == 2 && IsHelp(arguments[1]))
        {
            HelpText.Write(output, command.Syntax);
            return ExitCode.Success;
        }

        try
        {
            return await command.Run(command.Syntax.Parse([.. arguments.Skip(1)]), output, errors);
        }
        catch (UsageException wrong)
        {
            errors.WriteLine($"snapper: {wrong.Message}");
            errors.WriteLine($"snapper: see './snapper help {command.Syntax.Name}'.");
            return ExitCode.Usage;
        }
        catch (StartupException problem)
        {
            errors.WriteLine($"snapper: {problem.Message}");
            return problem.ExitCode;
        }
        catch (OperatorException refused)
        {
            errors.WriteLine($"snapper: {refused.Message}");
            return ExitCode.Failure;
        }
    }

    /// <summary>All commands, as they are described.</summary>
    internal static IEnumerable<CommandSyntax> Syntaxes => Commands.Select(c => c.Syntax);

    private static bool IsHelp(string argument) => argument is "help" or "--help" or "-h" or "-?";
}
