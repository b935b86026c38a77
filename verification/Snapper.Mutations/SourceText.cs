using System.Text.RegularExpressions;

namespace Snapper.Mutations;

/// <summary>A source file into which edits are written.</summary>
public sealed partial class SourceText
{
    private readonly string _path;
    private readonly string[] _lines;

    // The lines that hold code, and what anchors are compared with: neither blank lines, indentation nor comments.
    private readonly List<int> _codeAt = [];
    private readonly List<string> _code = [];

    private readonly SortedDictionary<int, List<(string Table, EditLine Line)>> _added = [];
    private readonly HashSet<int> _removed = [];

    /// <param name="path">The source's path.</param>
    /// <param name="text">The source.</param>
    public SourceText(string path, string text)
    {
        (_path, _lines) = (path, text.Split('\n'));
        for (var i = 0; i < _lines.Length; i++)
        {
            if (CodeOf(_lines[i]) is { Length: > 0 } code)
            {
                _codeAt.Add(i);
                _code.Add(code);
            }
        }
    }

    /// <summary>Takes an edit over.</summary>
    /// <param name="table">The path of the table's file.</param>
    /// <param name="edit">The edit.</param>
    /// <exception cref="TableException">Its anchor is missing or ambiguous.</exception>
    public void Add(string table, Edit edit)
    {
        var at = Find(table, edit);
        var shift = IndentOf(_lines[_codeAt[at]]) - IndentOf(edit.Lines.First(static line =>
            line.Kind != EditLineKind.Added).Text);
        var before = _codeAt[at];
        foreach (var line in edit.Lines)
        {
            if (line.Kind == EditLineKind.Added)
            {
                if (!_added.TryGetValue(before, out var added))
                {
                    _added.Add(before, added = []);
                }

                added.Add(
                    (table,
                        line with { Text = new string(' ',
                            Math.Max(0, shift + IndentOf(line.Text))) + line.Text.TrimStart() }));
                continue;
            }

            if (line.Kind == EditLineKind.Removed && !_removed.Add(_codeAt[at]))
            {
                throw new TableException(table, line.Number,
                    $"{edit} removes a line of {_path} that another one removes: let one block hold both");
            }

            before = _codeAt[at++] + 1;
        }
    }

    /// <summary>The source with its edits. Errors of the compiler name the line of the source, or of the
    /// table.</summary>
    public override string ToString()
    {
        var text = new System.Text.StringBuilder().Append("#line 1 \"").Append(_path).Append("\"\n");
        for (var i = 0; i < _lines.Length; i++)
        {
            if (_added.TryGetValue(i, out var added))
            {
                for (var j = 0; j < added.Count; j++)
                {
                    var (table, line) = added[j];
                    if (j == 0 || added[j - 1].Table != table || added[j - 1].Line.Number + 1 != line.Number)
                    {
                        text.Append("#line ").Append(line.Number).Append(" \"").Append(table).Append("\"\n");
                    }

                    text.Append(line.Text).Append('\n');
                }

                text.Append("#line ").Append(i + 1).Append(" \"").Append(_path).Append("\"\n");
            }

            text.Append(_removed.Contains(i) ? "" : _lines[i]).Append(i == _lines.Length - 1 ? "" : "\n");
        }

        return text.ToString();
    }

    private int Find(string table, Edit edit)
    {
        EditLine[] anchor = [.. edit.Lines.Where(static line =>
            line.Kind != EditLineKind.Added && CodeOf(line.Text).Length > 0)];
        var found = -1;
        for (var at = 0; at + anchor.Length <= _code.Count; at++)
        {
            if (!Matches(anchor, at))
            {
                continue;
            }

            if (found >= 0)
            {
                throw new TableException(
                    table, anchor[0].Number,
                        $"the anchor of {edit} occurs more than once in {_path}, "
                            + $"at lines {_codeAt[found] + 1} and {_codeAt[at] + 1}: '{anchor[0].Text.Trim()}'");
            }

            found = at;
        }

        if (found < 0)
        {
            var lost = Array.Find(anchor, line => !_code.Contains(CodeOf(line.Text)));
            throw new TableException(
                table, lost.Number > 0 ? lost.Number : anchor[0].Number,
                $"the anchor of {edit} does not occur in {_path}: "
                    + (lost.Number > 0
                        ? $"'{lost.Text.Trim()}' is not there"
                        : $"the lines from '{anchor[0].Text.Trim()}' on do not follow each other"));
        }

        return found;
    }

    private bool Matches(EditLine[] anchor, int at)
    {
        for (var i = 0; i < anchor.Length; i++)
        {
            if (_code[at + i] != CodeOf(anchor[i].Text))
            {
                return false;
            }
        }

        return true;
    }

    private static int IndentOf(string line) => line.Length - line.TrimStart().Length;

    private static string CodeOf(string line) =>
        line.AsSpan().TrimStart().StartsWith("//") ? "" : Comment().Replace(line, "").Trim();

    [GeneratedRegex(@"\s// .*$")]
    private static partial Regex Comment();
}
