namespace Snapper.Generators.Baselines;

/// <summary>Who writes the JSON of a type, and who reads it.</summary>
internal enum Direction
{
    /// <summary>Callers of before write it.</summary>
    In,

    /// <summary>Callers of before read it.</summary>
    Out,

    /// <summary>A program of before wrote it, and while workers are replaced one reads it, too.</summary>
    Stored,
}

/// <summary>Compares the JSON of two types.</summary>
/// <param name="old">What the baseline has.</param>
/// <param name="now">What the code has.</param>
/// <param name="direction">Who writes and who reads it.</param>
internal sealed class ShapeComparison(Baseline old, Baseline now, Direction direction)
{
    private readonly HashSet<(string, string)> _seen = new(); // types of themselves

    /// <summary>What those of before do not get on with.</summary>
    public List<string> Breaks { get; } = new();

    /// <summary>What they do not know, and get on with.</summary>
    public List<string> Additions { get; } = new();

    /// <summary>Compares what two types are.</summary>
    /// <param name="path">What has the type.</param>
    /// <param name="was">In the baseline.</param>
    /// <param name="found">In the code.</param>
    public void Compare(string path, string was, string found)
    {
        var (wasNull, isNull) = (CutNull(ref was), CutNull(ref found));
        if (wasNull != isNull)
        {
            var breaks = direction == Direction.Out ? isNull : wasNull;
            (breaks ? Breaks : Additions).Add($"the {path} {(isNull ? "may be null now" : "may be null no more")}");
        }

        if (IsList(was) && IsList(found))
        {
            Compare(path + "[]", was.Substring(0, was.Length - 2), found.Substring(0, found.Length - 2));
        }
        else if (MapOf(was) is var (wasKey, wasValue) && MapOf(found) is var (key, value))
        {
            Compare(path + "{key}", wasKey, key);
            Compare(path + "{}", wasValue, value);
        }
        else
        {
            old.Types.TryGetValue(was, out var wasShape);
            now.Types.TryGetValue(found, out var shape);
            if (wasShape is null || shape is null || wasShape.IsEnum != shape.IsEnum
                || wasShape.Converter != shape.Converter)
            {
                if (was != found || wasShape is not null || shape is not null)
                {
                    Breaks.Add($"the {path} was '{was}' and is '{found}'{(was == found ? " of another kind" : "")}");
                }
            }
            else if (_seen.Add((was, found)))
            {
                Shapes(path, wasShape, shape);
            }
        }
    }

    private void Shapes(string path, TypeShape was, TypeShape found)
    {
        if (was.IsEnum)
        {
            Enums(path, was, found);
            return;
        }

        var gone = 0;
        foreach (var member in was.Members.Where(one => Counts(one.Value)))
        {
            var name = path + "." + member.Key;
            if (!found.Members.TryGetValue(member.Key, out var there) || !Counts(there))
            {
                gone++;
                var harmless = direction == Direction.Stored && member.Value.IsOptional;
                (harmless ? Additions : Breaks).Add($"the {name} was removed");
                continue;
            }

            Compare(name, member.Value.Type, there.Type);
            if (direction != Direction.Out && member.Value.IsOptional != there.IsOptional)
            {
                (there.IsOptional ? Additions : Breaks).Add(
                    $"the {name} {(there.IsOptional ? "may be left out now" : "may be left out no more")}");
            }
        }

        foreach (var member in found.Members.Where(one => Counts(one.Value)))
        {
            if (was.Members.TryGetValue(member.Key, out var before) && Counts(before))
            {
                continue;
            }

            var name = path + "." + member.Key;
            if (direction == Direction.Out || IsCase(member.Key) || (member.Value.IsOptional && gone == 0))
            {
                Additions.Add($"the {name} is new");
            }
            else if (!member.Value.IsOptional)
            {
                Breaks.Add($"the {name} is new and may not be left out");
            }
            else if (direction == Direction.Stored)
            {
                Breaks.Add($"the {name} is new where another was removed, whose values it does not have");
            }
            else
            {
                Additions.Add($"the {name} is new");
            }
        }
    }

    private void Enums(string path, TypeShape was, TypeShape found)
    {
        foreach (var member in was.Members)
        {
            if (!found.Members.TryGetValue(member.Key, out var there))
            {
                Breaks.Add($"the {path} has no member '{member.Key}' any more");
            }
            else if (there.Type != member.Value.Type)
            {
                Breaks.Add($"the {path}'s member '{member.Key}' was {member.Value.Type} and is {there.Type}");
            }
        }

        foreach (var member in found.Members.Where(one => !was.Members.ContainsKey(one.Key)))
        {
            Additions.Add($"the {path} has the new member '{member.Key}'");
        }
    }

    private bool Counts(MemberShape member) => direction == Direction.Out || !member.IsComputed;

    private static bool IsCase(string name) => name.StartsWith("case ", StringComparison.Ordinal);

    private static (string Key, string Value)? MapOf(string type)
    {
        var colon = type.IndexOf(": ", StringComparison.Ordinal);
        return type.Length > 1 && type[0] == '{' && type[type.Length - 1] == '}' && colon > 0
            ? (type.Substring(1, colon - 1), type.Substring(colon + 2, type.Length - colon - 3))
            : null;
    }

    private static bool IsList(string type) => type.EndsWith("[]", StringComparison.Ordinal);

    private static bool CutNull(ref string type)
    {
        var isNull = type.EndsWith("?", StringComparison.Ordinal);
        type = isNull ? type.Substring(0, type.Length - 1) : type;
        return isNull;
    }
}
