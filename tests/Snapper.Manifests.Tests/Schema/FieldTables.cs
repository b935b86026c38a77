using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;

namespace Snapper.Manifests.Tests.Schema;

/// <summary>Compares objects with <see cref="Fields"/>: what is not in the tables is a problem, as for an API server with strict field validation.</summary>
internal static partial class FieldTables
{
    private sealed record Field(string Type, bool Required);

    private static readonly Dictionary<string, Dictionary<string, Field>> s_types = Parse();

    /// <summary>What is wrong with an object's fields.</summary>
    public static IEnumerable<string> Problems(JsonObject one)
    {
        var kind = $"{one["kind"]}@{one["apiVersion"]}";
        var where = $"{one["kind"]}/{one["metadata"]?["name"]}";
        return s_types.ContainsKey(kind) ? Fields(one, kind, where) : [$"{where}: {kind} is no kind that is known here"];
    }

    private static IEnumerable<string> Fields(JsonObject one, string type, string where)
    {
        var fields = s_types[type];
        foreach (var (name, value) in one)
        {
            if (!fields.TryGetValue(name, out var field)) yield return $"{where}: there is no field {name}";
            else foreach (var problem in Check(value, field.Type, $"{where}.{name}")) yield return problem;
        }

        foreach (var (name, field) in fields)
        {
            if (field.Required && !one.ContainsKey(name)) yield return $"{where}: the field {name} is missing";
        }
    }

    private static IEnumerable<string> Check(JsonNode? value, string type, string where)
    {
        if (type[0] == '[')
        {
            return value is JsonArray list ? list.SelectMany((element, i) => Check(element, type[1..^1], $"{where}[{i}]")) : [$"{where} must be a list"];
        }

        if (type[0] == '{')
        {
            return value is JsonObject mapping ? mapping.SelectMany(pair => Check(pair.Value, type[1..^1], $"{where}.{pair.Key}")) : [$"{where} must be a mapping"];
        }

        if (s_types.ContainsKey(type))
        {
            return value is JsonObject one ? Fields(one, type, where) : [$"{where} must be a mapping"];
        }

        return IsScalar(value, type) ? [] : [$"{where} must be {type}, not {value?.ToJsonString() ?? "null"}"];
    }

    private static bool IsScalar(JsonNode? value, string type)
    {
        var kind = value?.GetValueKind() ?? JsonValueKind.Null;
        var text = kind == JsonValueKind.String ? (string)value! : null;
        var number = kind == JsonValueKind.Number && long.TryParse(value!.ToJsonString(), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var whole) ? whole : (long?)null;
        return type switch
        {
            "any" => kind != JsonValueKind.Null,
            "text" => text is not null,
            "bool" => kind is JsonValueKind.True or JsonValueKind.False,
            "name" => text is not null && Name().IsMatch(text),
            "label" => text is not null && Label().IsMatch(text),
            "whole" => number is not null,
            "count" => number >= 0,
            "port" => number is > 0 and <= 65535,
            "portOrName" => number is > 0 and <= 65535 || (text is not null && Name().IsMatch(text) && text.Length <= 15),
            "countOrPercent" => number >= 0 || (text is not null && Percent().IsMatch(text)),
            "quantity" => number >= 0 || (text is not null && Quantity().IsMatch(text)),
            "duration" => text is not null && Duration().IsMatch(text),
            _ when type.Contains('|', StringComparison.Ordinal) || char.IsAsciiLetterUpper(type[0]) => text is not null && type.Split('|').Contains(text),
            _ => throw new InvalidOperationException($"The tables name the type {type}, which is not there."),
        };
    }

    private static Dictionary<string, Dictionary<string, Field>> Parse()
    {
        var types = new Dictionary<string, Dictionary<string, Field>>(StringComparer.Ordinal);
        foreach (var line in Schema.Fields.Tables.Split('\n', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries))
        {
            var words = line.Split(' ');
            var fields = words.Skip(1).Select(word => word.Split(':')).ToDictionary(pair => pair[0].TrimEnd('!'), pair => new Field(pair[1], pair[0].EndsWith('!')), StringComparer.Ordinal);
            if (words[0].Contains('@', StringComparison.Ordinal))
            {
                foreach (var (name, field) in types["Object"]) fields.Add(name, field);
            }

            types.Add(words[0], fields);
        }

        return types;
    }

    [GeneratedRegex("^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$")]
    private static partial Regex Name();

    [GeneratedRegex("^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$")]
    private static partial Regex Label();

    [GeneratedRegex("^[0-9]{1,3}%$")]
    private static partial Regex Percent();

    [GeneratedRegex("^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$")]
    private static partial Regex Quantity();

    [GeneratedRegex("^[0-9]+(ms|s|m|h)$")]
    private static partial Regex Duration();
}
