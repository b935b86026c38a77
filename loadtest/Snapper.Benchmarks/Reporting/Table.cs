using System.Text;

namespace Snapper.Benchmarks.Reporting;

/// <summary>A table that reads well in a terminal and renders as Markdown.</summary>
public sealed class Table(params string[] columns)
{
    private readonly List<string[]> rows = [columns];

    /// <summary>Adds a row.</summary>
    /// <exception cref="ArgumentException">Not as many cells as columns.</exception>
    public void Add(params string[] cells)
    {
        if (cells.Length != columns.Length)
        {
            throw new ArgumentException($"The table has {columns.Length} columns, the row {cells.Length} cells.", nameof(cells));
        }

        // A bar would end the cell, a line break the row.
        rows.Add(cells.Select(static cell => cell.Replace("|", "\\|", StringComparison.Ordinal).ReplaceLineEndings(" ")).ToArray());
    }

    /// <inheritdoc />
    public override string ToString()
    {
        var widths = Enumerable.Range(0, columns.Length).Select(i => Math.Max(3, rows.Max(row => row[i].Length))).ToArray();
        var text = new StringBuilder();
        for (var r = 0; r < rows.Count; r++)
        {
            Line(text, rows[r].Select((cell, i) => cell.PadRight(widths[i])));
            if (r == 0)
            {
                Line(text, widths.Select(static width => new string('-', width)));
            }
        }

        return text.ToString();
    }

    private static void Line(StringBuilder text, IEnumerable<string> cells) => text.Append("| ").AppendJoin(" | ", cells).Append(" |\n");
}
