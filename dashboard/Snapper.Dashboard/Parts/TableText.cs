using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Snapper.Dashboard.Parts;

/// <summary>A table as text for other programs.</summary>
public static class TableText
{
    private static readonly JsonSerializerOptions s_json = new() { WriteIndented = true, Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    /// <summary>RFC 4180, with a head line. A cell that a spreadsheet would take for a formula gets an apostrophe.</summary>
    public static string Csv<T>(IReadOnlyList<Column<T>> columns, IEnumerable<T> rows)
    {
        var text = new StringBuilder();
        text.AppendJoin(',', columns.Select(column => Quote(column.FileTitle))).Append("\r\n");
        foreach (var row in rows) text.AppendJoin(',', columns.Select(column => Cell(column.Value(row)))).Append("\r\n");
        return text.ToString();
    }

    /// <summary>An array of objects, one per row; fields are the heads in camel case.</summary>
    public static string Json<T>(IReadOnlyList<Column<T>> columns, IEnumerable<T> rows)
    {
        var names = columns.Select(column => Name(column.FileTitle)).ToArray();
        var array = new JsonArray();
        foreach (var row in rows)
        {
            var item = new JsonObject();
            for (var i = 0; i < names.Length; i++) item[names[i]] = Node(columns[i].Value(row));
            array.Add(item);
        }

        return array.ToJsonString(s_json);
    }

    /// <summary>Worst wait becomes worstWait.</summary>
    internal static string Name(string title)
    {
        var words = string.Concat(title.Select(c => char.IsAsciiLetterOrDigit(c) ? c : ' ')).Split(' ', StringSplitOptions.RemoveEmptyEntries);
        return string.Concat(words.Select((word, i) => i == 0 ? char.ToLowerInvariant(word[0]) + word[1..] : char.ToUpperInvariant(word[0]) + word[1..]));
    }

    private static JsonNode? Node(object? value) => value switch
    {
        null => null,
        double d => double.IsFinite(d) ? JsonValue.Create(d) : null,
        long l => JsonValue.Create(l),
        int i => JsonValue.Create(i),
        bool b => JsonValue.Create(b),
        JsonElement e => JsonNode.Parse(e.GetRawText()),
        DateTimeOffset at => JsonValue.Create(at.ToString("o", CultureInfo.InvariantCulture)),
        _ => JsonValue.Create(Convert.ToString(value, CultureInfo.InvariantCulture)),
    };

    private static string Cell(object? value) => value switch
    {
        null => "",
        DateTimeOffset at => at.ToString("o", CultureInfo.InvariantCulture),
        string text => Quote(text.Length > 0 && "=+-@\t\r".Contains(text[0]) ? "'" + text : text),
        _ => Quote(Convert.ToString(value, CultureInfo.InvariantCulture) ?? ""),
    };

    private static string Quote(string text) => text.AsSpan().ContainsAny(",\"\r\n") ? $"\"{text.Replace("\"", "\"\"")}\"" : text;
}
