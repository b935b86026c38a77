using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Invocation;
using System.CommandLine.Parsing;

namespace Snapper.Terminal;

/// <summary>What a command does.</summary>
/// <param name="line">The values of its options and arguments.</param>
/// <param name="output">For what the command produces.</param>
/// <param name="errors">For messages to people.</param>
/// <returns>The exit code.</returns>
public delegate Task<int> CommandAction(ParseResult line, TextWriter output, TextWriter errors);

/// <summary>Command lines by System.CommandLine, with the same messages and exit codes in all programs.</summary>
public static class CommandLines
{
    /// <summary>The exit code of a wrong command line; nothing was started.</summary>
    public const int WrongLine = UsageException.WrongLine;

    private static readonly ParserConfiguration s_parser = new()
    {
        ResponseFileTokenReplacer = null, EnablePosixBundling = false,
    };

    /// <summary>A command with its options and arguments. A name of several words is that of a whole program.</summary>
    public static Command Command(string name, string summary, CommandAction run, params IEnumerable<Symbol> accepts)
    {
        var command = name.Contains(' ', StringComparison.Ordinal)
            ? new RootCommand(summary) { HelpName = name }
            : new Command(name, summary);
        foreach (var symbol in accepts)
        {
            if (symbol is Option option) command.Add(option);
            else command.Add((Argument)symbol);
        }

        // An option with a slip of the pen would otherwise be taken for an argument.
        foreach (var argument in command.Arguments)
        {
            argument.Validators.Add(static given =>
            {
                var wrong = given.Tokens.FirstOrDefault(
                    token => token.Value.StartsWith("--", StringComparison.Ordinal));
                if (wrong is not null) given.AddError($"There is no option '{wrong.Value}'.");
            });
        }

        command.SetAction(
            (line, _) => run(line, line.InvocationConfiguration.Output, line.InvocationConfiguration.Error));
        return command;
    }

    /// <summary>A program that consists of commands.</summary>
    /// <param name="name">As people type it.</param>
    /// <param name="summary">One line.</param>
    /// <param name="commands">In the order of the help.</param>
    public static Command Program(string name, string summary, params IEnumerable<Command> commands)
    {
        var program = new Command(name, summary);
        foreach (var command in commands) program.Add(command);
        return program;
    }

    /// <summary>Reads a line without running it.</summary>
    /// <exception cref="UsageException">The line is wrong.</exception>
    public static ParseResult Parse(Command command, IEnumerable<string> arguments)
    {
        var line = command.Parse([.. arguments], s_parser);
        return line.Errors.Count == 0 ? line : throw new UsageException(line.Errors[0].Message);
    }

    /// <summary>
    /// Runs a line to its end. <c>help</c>, <c>help COMMAND</c> and <c>--help</c> describe what there is.
    /// </summary>
    /// <returns>The command's exit code; of a line that is wrong, <see cref="WrongLine"/>.</returns>
    public static async Task<int> Run(
        Command program, IReadOnlyList<string> arguments, TextWriter output, TextWriter errors)
    {
        if (!program.Options.OfType<HelpOption>().Any()) program.Add(new HelpOption { Recursive = true });
        if (!program.Options.OfType<VersionOption>().Any()) program.Add(new VersionOption());
        var helps = arguments is [] or ["help", ..];
        var line = program.Parse(helps ? [.. arguments.Skip(1), "--help"] : [.. arguments], s_parser);
        var path = string.Join(' ', Path(line.CommandResult).Reverse());
        if (line.Action is ParseErrorAction)
        {
            foreach (var error in line.Errors) errors.WriteLine($"snapper: {error.Message}");
            errors.WriteLine($"snapper: see '{path} --help'.");
            return WrongLine;
        }

        try
        {
            var isMissing = arguments.Count == 0;
            var exit = await line.InvokeAsync(new InvocationConfiguration
            {
                Output = isMissing ? errors : output,
                Error = errors,
                EnableDefaultExceptionHandler = false,
                ProcessTerminationTimeout = null,
            });
            return isMissing ? WrongLine : exit;
        }
        catch (CommandException problem)
        {
            errors.WriteLine($"snapper: {problem.Message}");
            if (problem is UsageException) errors.WriteLine($"snapper: see '{path} --help'.");
            return problem.ExitCode;
        }
    }

    private static IEnumerable<string> Path(SymbolResult? at)
    {
        for (; at is CommandResult command; at = at.Parent)
        {
            yield return command.Command is RootCommand { HelpName: { } name } ? name : command.Command.Name;
        }
    }
}
