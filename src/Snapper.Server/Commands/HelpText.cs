namespace Snapper.Server.Commands;

/// <summary>Help as plain text, from the same description that parses the arguments.</summary>
internal static class HelpText
{
    /// <summary>The list of commands.</summary>
    public static void Write(TextWriter writer, IEnumerable<CommandSyntax> commands)
    {
        writer.WriteLine("snapper: ACID transactions over virtual actors on Dapr");
        writer.WriteLine();
        writer.WriteLine("usage: ./snapper COMMAND [options]");
        writer.WriteLine();
        foreach (var command in commands) writer.WriteLine($"  {command.Name,-10} {command.Summary}");
        writer.WriteLine();
        writer.WriteLine("./snapper help COMMAND lists a command's options.");
    }

    /// <summary>One command with its options.</summary>
    public static void Write(TextWriter writer, CommandSyntax command)
    {
        var rest = command.Rest is null ? "" : " " + command.Rest;
        writer.WriteLine($"usage: ./snapper {command.Name}{(command.Options.Count > 0 ? " [options]" : "")}{rest}");
        writer.WriteLine();
        writer.WriteLine(command.Summary);
        if (command.Options.Count > 0) writer.WriteLine();
        foreach (var option in command.Options)
        {
            var left = option.Value is null ? option.Name : $"{option.Name} {option.Value}";
            writer.WriteLine($"  {left,-26} {option.Help}");
        }

        if (command.Notes is null) return;
        writer.WriteLine();
        writer.WriteLine(command.Notes);
    }
}
