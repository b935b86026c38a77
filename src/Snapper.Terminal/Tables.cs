using Spectre.Console;

namespace Snapper.Terminal;

/// <summary>Tables for people; what is no terminal gets plain lines, neither wrapped nor coloured.</summary>
public static class Tables
{
    private const int Unbounded = 4096;

    /// <summary>A table without lines. Cells are plain text.</summary>
    public static Table Of(params IEnumerable<string> columns)
    {
        var table = new Table().NoBorder();
        foreach (var column in columns) table.AddColumn(new TableColumn(column.EscapeMarkup()).PadRight(2));
        return table;
    }

    /// <summary>Adds a row.</summary>
    public static void Add(this Table table, params IEnumerable<string> cells) =>
        table.AddRow(cells.Select(cell => new Text(cell)).ToArray());

    /// <summary>Writes a table.</summary>
    public static void WriteTo(this Table table, TextWriter output)
    {
        if (ReferenceEquals(output, Console.Out) && !Console.IsOutputRedirected)
        {
            AnsiConsole.Write(table);
            return;
        }

        using var plain = new StringWriter();
        var console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Ansi = AnsiSupport.No,
            ColorSystem = ColorSystemSupport.NoColors,
            Interactive = InteractionSupport.No,
            Out = new AnsiConsoleOutput(plain),
        });
        console.Profile.Width = Unbounded;
        console.Write(table);
        foreach (var line in plain.ToString().Split('\n')[..^1]) output.WriteLine(line.TrimEnd());
    }
}
