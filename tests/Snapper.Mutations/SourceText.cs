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

    private readonly string _table;
    private readonly SortedDictionary<int, List<EditLine>> _added = [];
    private readonly HashSet<int> _removed = [];

    /// <param name="path">The source's path.</param>
    /// <param name="text">The source.</param>
    /// <param name="table">The path of the table's file.</param>
    public SourceText(string path, string text, string table)
    {
        (_path, _table, _lines) = (path, table, text.Split('\n'));
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
    /// <exception cref="TableException">Its anchor is missing or ambiguous.</exception>
    public void Add(Edit edit)
    {
        var at = Find(edit);
        var shift = IndentOf(_lines[_codeAt[at]]) - IndentOf(edit.Lines.First(static line => line.Kind != EditLineKind.Added).Text);
        var before = _codeAt[at];
        foreach (var line in edit.Lines)
        {
            if (line.Kind == EditLineKind.Added)
            {
                if (!_added.TryGetValue(before, out var added))
                {
                    _added.Add(before, added = []);
                }

                added.Add(line with { Text = new string(' ', Math.Max(0, shift + IndentOf(line.Text))) + line.Text.TrimStart() });
                continue;
            }

            if (line.Kind == EditLineKind.Removed && !_removed.Add(_codeAt[at]))
            {
                throw new TableException(_table, line.Number, $"mutation {Named(edit)} removes a line of {_path} that another one removes: let one block hold both");
            }

            before = _codeAt[at++] + 1;
        }
    }

    /// <summary>The source with its edits. Errors of the compiler name the line of the source, or of the table.</summary>
    public override string ToString()
    {
        var text = new System.Text.StringBuilder().Append("#line 1 \"").Append(_path).Append("\"\n");
        for (var i = 0; i < _lines.Length; i++)
        {
            if (_added.TryGetValue(i, out var added))
            {
                for (var j = 0; j < added.Count; j++)
                {
                    if (j == 0 || added[j].Number != added[j - 1].Number + 1)
                    {
                        text.Append("#line ").Append(added[j].Number).Append(" \"").Append(_table).Append("\"\n");
                    }

                    text.Append(added[j].Text).Append('\n');
                }

                text.Append("#line ").Append(i + 1).Append(" \"").Append(_path).Append("\"\n");
            }

            text.Append(_removed.Contains(i) ? "" : _lines[i]).Append(i == _lines.Length - 1 ? "" : "\n");
        }

        return text.ToString();
    }

    private int Find(Edit edit)
    {
        EditLine[] anchor = [.. edit.Lines.Where(static line => line.Kind != EditLineKind.Added && CodeOf(line.Text).Length > 0)];
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
                    _table, anchor[0].Number, $"the anchor of mutation {Named(edit)} occurs more than once in {_path}, at lines {_codeAt[found] + 1} and {_codeAt[at] + 1}: '{anchor[0].Text.Trim()}'");
            }

            found = at;
        }

        if (found < 0)
        {
            var lost = Array.Find(anchor, line => !_code.Contains(CodeOf(line.Text)));
            throw new TableException(
                _table, lost.Number > 0 ? lost.Number : anchor[0].Number,
                $"the anchor of mutation {Named(edit)} does not occur in {_path}: {(lost.Number > 0 ? $"'{lost.Text.Trim()}' is not there" : $"the lines from '{anchor[0].Text.Trim()}' on do not follow each other")}");
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

    private static string Named(Edit edit) => string.Join(", ", edit.Names);

    private static int IndentOf(string line) => line.Length - line.TrimStart().Length;

    private static string CodeOf(string line) => line.AsSpan().TrimStart().StartsWith("//") ? "" : Comment().Replace(line, "").Trim();

    [GeneratedRegex(@"\s// .*$")]
    private static partial Regex Comment();
}
