using System.Text.RegularExpressions;

namespace Snapper.Mutations;

/// <summary>What a line of an edit does.</summary>
public enum EditLineKind
{
    /// <summary>Stands in the source, and stays.</summary>
    Kept,

    /// <summary>Stands in the source, and goes.</summary>
    Removed,

    /// <summary>Comes.</summary>
    Added,
}

/// <summary>A line of an edit.</summary>
/// <param name="Kind">What it does.</param>
/// <param name="Text">Its text.</param>
/// <param name="Number">Its number in the table's file, from 1 on.</param>
public readonly record struct EditLine(EditLineKind Kind, string Text, int Number);

/// <summary>A block of the table: one place of one source file, and what the verification build has there.</summary>
/// <param name="IsMark">It marks a place where transitions are taken; otherwise it has mutations, which are selected
/// at run time.</param>
/// <param name="Names">The mutations or transitions.</param>
/// <param name="Number">The line of its header in the table's file, from 1 on.</param>
/// <param name="Lines">Its lines, at least one of which stands in the source.</param>
public sealed partial record Edit(bool IsMark, IReadOnlyList<string> Names, int Number, IReadOnlyList<EditLine> Lines)
{
    private const string Mutation = "mutation ";
    private const string Mark = "mark ";

    /// <summary>Reads a file of the table.</summary>
    /// <exception cref="TableException">It cannot be read.</exception>
    public static IReadOnlyList<Edit> Read(string path, string text)
    {
        var edits = new List<Edit>();
        string[]? names = null;
        var isMark = false;
        var header = 0;
        var lines = new List<EditLine>();
        var number = 0;
        foreach (var line in text.Split('\n'))
        {
            number++;
            if (line.StartsWith(Mutation, StringComparison.Ordinal) || line.StartsWith(Mark, StringComparison.Ordinal))
            {
                End();
                (isMark, names, header) = (line.StartsWith(Mark, StringComparison.Ordinal),
                    line[(line.IndexOf(' ') + 1)..].Split(", "), number);
            }
            else if (line.Trim().Length > 0 && line[0] != '#')
            {
                var kind = line[0] switch
                {
                    ' ' => EditLineKind.Kept,
                    '-' => EditLineKind.Removed,
                    '+' => EditLineKind.Added,
                    _ =>
                        throw new TableException(path, number,
                            $"a line begins with '{Mutation}', '{Mark}', '#', ' ', '-' or '+'"),
                };
                lines.Add(new EditLine(kind, line[1..], number));
            }
        }

        End();
        return edits;

        void End()
        {
            if (names is null && lines.Count > 0)
            {
                throw new TableException(path, lines[0].Number,
                    $"no '{Mutation}NAME' or '{Mark}NAME' stands before this line");
            }

            if (names is not null)
            {
                edits.Add(Checked(new Edit(isMark, names, header, [.. lines]), path));
            }

            lines.Clear();
        }
    }

    /// <summary>As its header.</summary>
    public override string ToString() => (IsMark ? Mark : Mutation) + string.Join(", ", Names);

    private static Edit Checked(Edit edit, string path)
    {
        if (edit.Lines.All(static line => line.Kind == EditLineKind.Added))
        {
            throw new TableException(path, edit.Number, $"{edit} has no anchor");
        }

        var uses = edit.IsMark ? Taken() : Selected();
        var used = edit.Lines.Where(static line => line.Kind == EditLineKind.Added).SelectMany(line =>
            uses.Matches(line.Text)).Select(static use => use.Groups[1].Value);
        return used.ToHashSet().SetEquals(edit.Names)
            ? edit
            : throw new TableException(path, edit.Number,
                $"the header names {string.Join(", ", edit.Names)}, "
                    + $"and the added lines ask for {string.Join(", ", used.Distinct().Order())}");
    }

    [GeneratedRegex(@"\bMutation\.(\w+)")]
    private static partial Regex Selected();

    [GeneratedRegex(@"\b(?:Cluster)?Transition\.(\w+)")]
    private static partial Regex Taken();
}
