using System.Globalization;
using Snapper.Server.Processes;

namespace Snapper.Server.Commands;

/// <summary>One option of a command. <paramref name="Value"/> is the placeholder in the help text; null: a flag.</summary>
internal sealed record CommandOption(string Name, string? Value, string Help);

/// <summary>What a command accepts. Options may stand in any order, as <c>--name value</c> or <c>--name=value</c>.</summary>
/// <param name="Name">The word on the command line.</param>
/// <param name="Summary">One line for the list of commands.</param>
/// <param name="Options">All that is accepted; everything else is an error.</param>
/// <param name="Rest">How the help shows free arguments; null: none are allowed.</param>
/// <param name="Notes">What else there is to say of it; null: nothing.</param>
/// <param name="PassesOn">From the first free argument or unknown option on all is passed on to another program as it is; else options may stand behind free arguments.</param>
internal sealed record CommandSyntax(string Name, string Summary, IReadOnlyList<CommandOption> Options, string? Rest = null, string? Notes = null, bool PassesOn = false)
{
    /// <summary>Reads the arguments after the command's name.</summary>
    /// <exception cref="UsageException">An unknown, repeated or incomplete option, or a free argument where none is allowed.</exception>
    public ParsedArguments Parse(IReadOnlyList<string> arguments)
    {
        var values = new Dictionary<string, string>(StringComparer.Ordinal);
        var rest = new List<string>();
        for (var i = 0; i < arguments.Count; i++)
        {
            var argument = arguments[i];
            if (!argument.StartsWith("--", StringComparison.Ordinal))
            {
                if (PassesOn) return new ParsedArguments(this, values, [.. arguments.Skip(i)]);
                if (Rest is null) throw new UsageException($"'{Name}' takes no argument '{argument}'.");
                rest.Add(argument);
                continue;
            }

            var equals = argument.IndexOf('=', StringComparison.Ordinal);
            var name = equals < 0 ? argument : argument[..equals];
            var option = Options.FirstOrDefault(o => o.Name == name);
            if (option is null)
            {
                if (PassesOn) return new ParsedArguments(this, values, [.. arguments.Skip(i)]);
                throw new UsageException($"'{Name}' has no option '{name}'.");
            }

            string value;
            if (option.Value is null)
            {
                if (equals >= 0) throw new UsageException($"{name} takes no value.");
                value = "true";
            }
            else if (equals >= 0)
            {
                value = argument[(equals + 1)..];
            }
            else
            {
                if (i + 1 >= arguments.Count) throw new UsageException($"{name} needs a value: {name} {option.Value}.");
                value = arguments[++i];
            }

            if (option.Value is not null && value.Length == 0) throw new UsageException($"{name} needs a value: {name} {option.Value}.");
            if (!values.TryAdd(name, value)) throw new UsageException($"{name} is given twice.");
        }

        return new ParsedArguments(this, values, rest);
    }
}

/// <summary>The arguments of one command, each checked when it is asked for.</summary>
internal sealed class ParsedArguments(CommandSyntax syntax, IReadOnlyDictionary<string, string> values, IReadOnlyList<string> rest)
{
    /// <summary>The command they belong to.</summary>
    public CommandSyntax Syntax { get; } = syntax;

    /// <summary>The free arguments, unread.</summary>
    public IReadOnlyList<string> Rest { get; } = rest;

    /// <summary>The value as it was given; null when the option is absent.</summary>
    public string? Text(string name) => values.GetValueOrDefault(name);

    /// <summary>Whether the flag is there.</summary>
    public bool Flag(string name) => values.ContainsKey(name);

    /// <summary>A whole number within a range.</summary>
    /// <exception cref="UsageException">Not a number, or out of range.</exception>
    public int Number(string name, int @default, int least, int most)
    {
        if (Text(name) is not { } text) return @default;
        if (!int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) || number < least || number > most)
        {
            throw new UsageException($"{name} must be a whole number from {least} to {most}, not '{text}'.");
        }

        return number;
    }
}
