using Snapper.Server.Processes;

namespace Snapper.Server.Commands;

/// <summary>A command of a program.</summary>
/// <param name="Syntax">Its name and arguments.</param>
/// <param name="Run">Runs it: arguments, output, messages to people; returns an <see cref="ExitCode"/>.</param>
internal sealed record Command(
    CommandSyntax Syntax, Func<ParsedArguments, TextWriter, TextWriter, Task<int>> Run);

/// <summary>
/// The command line of a program: finds the command, reads its arguments, runs it, turns errors into messages and exit
/// codes.
/// </summary>
/// <param name="commands">All that the program has, in the order of its help.</param>
internal sealed class CommandTable(IReadOnlyList<Command> commands)
{
    /// <summary>Runs one command line to its end.</summary>
    /// <param name="arguments">Without the program's name.</param>
    /// <param name="output">For what the command produces.</param>
    /// <param name="errors">For messages to people.</param>
    /// <returns>See <see cref="ExitCode"/>.</returns>
    public async Task<int> Run(IReadOnlyList<string> arguments, TextWriter output, TextWriter errors)
    {
        if (arguments.Count == 0)
        {
            HelpText.Write(errors, Syntaxes);
            return ExitCode.Usage;
        }

        if (IsHelp(arguments[0]))
        {
            var about = commands.FirstOrDefault(c => arguments.Count > 1 && c.Syntax.Name == arguments[1]);
            if (about is not null) HelpText.Write(output, about.Syntax);
            else HelpText.Write(output, Syntaxes);
            return ExitCode.Success;
        }

        var command = commands.FirstOrDefault(c => c.Syntax.Name == arguments[0]);
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
    public IEnumerable<CommandSyntax> Syntaxes => commands.Select(c => c.Syntax);

    private static bool IsHelp(string argument) => argument is "help" or "--help" or "-h" or "-?";
}
