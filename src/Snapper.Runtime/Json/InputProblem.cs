using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Snapper.Runtime.Json;

/// <summary>
/// Says what is wrong with an input that could not be read, in the caller's words: where, as in <c>input.to[1]</c>, and what is expected there. The
/// serializer's own messages name .NET types, which no caller knows.
/// </summary>
/// <remarks>Walks input and type together, only when reading has failed. Good inputs pay nothing.</remarks>
public static class InputProblem
{
    private const string Root = "input";
    private const int NameLengthMax = 40;

    /// <summary>The first thing that is wrong.</summary>
    /// <param name="json">The input.</param>
    /// <param name="type">What it was read as.</param>
    /// <param name="failure">What reading it threw.</param>
    public static string Find(ReadOnlySpan<byte> json, JsonTypeInfo type, Exception failure)
    {
        JsonElement input;
        try
        {
            var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = type.Options.MaxDepth });
            input = JsonElement.ParseValue(ref reader);
        }
        catch (JsonException unreadable)
        {
            return string.Create(CultureInfo.InvariantCulture, $"{Root} is not readable JSON (byte {unreadable.BytePositionInLine + 1} of line {unreadable.LineNumber + 1})");
        }

        return (type.Options.AllowDuplicateProperties ? null : FindRepeated(input, Root))
            ?? Check(input, type, Root)
            ?? OwnWords(failure)
            ?? $"{Root} cannot be read";
    }

    private static string? Check(JsonElement value, JsonTypeInfo type, string path)
    {
        if (value.ValueKind == JsonValueKind.Null)
        {
            return type.Type.IsValueType && Nullable.GetUnderlyingType(type.Type) is null ? Expected(path, type) : null;
        }

        return type.PolymorphismOptions is not null ? CheckWhole(value, type, path) : type.Kind switch
        {
            JsonTypeInfoKind.Object => CheckObject(value, type, path),
            JsonTypeInfoKind.Enumerable => CheckArray(value, type, path),
            JsonTypeInfoKind.Dictionary => CheckDictionary(value, type, path),
            _ => CheckWhole(value, type, path),
        };
    }

    private static string? CheckObject(JsonElement value, JsonTypeInfo type, string path)
    {
        if (value.ValueKind != JsonValueKind.Object)
        {
            return $"{path} must be an object";
        }

        var seen = new HashSet<JsonPropertyInfo>();
        foreach (var field in value.EnumerateObject())
        {
            var at = $"{path}.{Clip(field.Name)}";
            if (FindProperty(type, field.Name) is not { } property)
            {
                if (TakesUnknown(type))
                {
                    continue;
                }

                return $"{at} is unknown; {path} has {string.Join(", ", type.Properties.Where(IsRead).Select(p => p.Name))}";
            }

            if (!seen.Add(property) && !type.Options.AllowDuplicateProperties)
            {
                return $"{at} appears more than once";
            }

            if (CheckProperty(field.Value, type, property, at) is { } wrong)
            {
                return wrong;
            }
        }

        foreach (var property in type.Properties)
        {
            if (!seen.Contains(property) && IsRequired(type, property))
            {
                return $"{path}.{property.Name} is missing";
            }
        }

        return null;
    }

    private static string? CheckProperty(JsonElement value, JsonTypeInfo type, JsonPropertyInfo property, string path)
    {
        if (property.CustomConverter is not null)
        {
            return null; // what it takes is its own affair
        }

        var propertyType = type.Options.GetTypeInfo(property.PropertyType);
        if (value.ValueKind == JsonValueKind.Null && type.Options.RespectNullableAnnotations && !(property.IsSetNullable && property.AssociatedParameter is null or { IsNullable: true }))
        {
            return Expected(path, propertyType) + ", not null";
        }

        return Check(value, propertyType, path);
    }

    private static string? CheckArray(JsonElement value, JsonTypeInfo type, string path)
    {
        if (value.ValueKind != JsonValueKind.Array)
        {
            return $"{path} must be an array";
        }

        var elementType = type.Options.GetTypeInfo(type.ElementType!);
        var index = 0;
        foreach (var element in value.EnumerateArray())
        {
            if (Check(element, elementType, string.Create(CultureInfo.InvariantCulture, $"{path}[{index++}]")) is { } wrong)
            {
                return wrong;
            }
        }

        return null;
    }

    private static string? CheckDictionary(JsonElement value, JsonTypeInfo type, string path)
    {
        if (value.ValueKind != JsonValueKind.Object)
        {
            return $"{path} must be an object";
        }

        var elementType = type.Options.GetTypeInfo(type.ElementType!);
        foreach (var field in value.EnumerateObject())
        {
            if (Check(field.Value, elementType, $"{path}.{Clip(field.Name)}") is { } wrong)
            {
                return wrong;
            }
        }

        return null;
    }

    /// <summary>A value that is read in one piece, by a converter.</summary>
    private static string? CheckWhole(JsonElement value, JsonTypeInfo type, string path)
    {
        try
        {
            value.Deserialize(type);
            return null;
        }
        catch (Exception failure) // a converter may throw anything
        {
            return InputKinds.Of(type) is null && OwnWords(failure) is { } words ? $"{path}: {words}" : Expected(path, type);
        }
    }

    private static string? FindRepeated(JsonElement value, string path)
    {
        if (value.ValueKind == JsonValueKind.Array)
        {
            var index = 0;
            foreach (var element in value.EnumerateArray())
            {
                if (FindRepeated(element, string.Create(CultureInfo.InvariantCulture, $"{path}[{index++}]")) is { } repeated)
                {
                    return repeated;
                }
            }
        }
        else if (value.ValueKind == JsonValueKind.Object)
        {
            var names = new HashSet<string>(StringComparer.Ordinal);
            foreach (var field in value.EnumerateObject())
            {
                var at = $"{path}.{Clip(field.Name)}";
                if (!names.Add(field.Name))
                {
                    return $"{at} appears more than once";
                }

                if (FindRepeated(field.Value, at) is { } repeated)
                {
                    return repeated;
                }
            }
        }

        return null;
    }

    private static JsonPropertyInfo? FindProperty(JsonTypeInfo type, string name)
    {
        var comparison = type.Options.PropertyNameCaseInsensitive ? StringComparison.OrdinalIgnoreCase : StringComparison.Ordinal;
        foreach (var property in type.Properties)
        {
            if (IsRead(property) && property.Name.Equals(name, comparison))
            {
                return property;
            }
        }

        return null;
    }

    private static bool IsRead(JsonPropertyInfo property) => !property.IsExtensionData && (property.Set is not null || property.AssociatedParameter is not null);

    private static bool IsRequired(JsonTypeInfo type, JsonPropertyInfo property) =>
        property.IsRequired || (type.Options.RespectRequiredConstructorParameters && property.AssociatedParameter is { HasDefaultValue: false });

    private static bool TakesUnknown(JsonTypeInfo type)
    {
        if ((type.UnmappedMemberHandling ?? type.Options.UnmappedMemberHandling) == JsonUnmappedMemberHandling.Skip)
        {
            return true;
        }

        foreach (var property in type.Properties)
        {
            if (property.IsExtensionData)
            {
                return true;
            }
        }

        return false;
    }

    private static string Expected(string path, JsonTypeInfo type) => $"{path} {(InputKinds.Of(type) is { } kind ? "must be " + kind : "cannot be read")}";

    /// <summary>What the input's own code says; null when the words are the serializer's.</summary>
    private static string? OwnWords(Exception failure) =>
        failure is JsonException or NotSupportedException or InvalidOperationException && failure.Source == typeof(JsonSerializer).Assembly.GetName().Name
            ? null
            : failure.Words();

    private static string Clip(string name)
    {
        if (name.Length <= NameLengthMax)
        {
            return name;
        }

        // Half of a pair at the cut would come out as a replacement character.
        return name[..(char.IsHighSurrogate(name[NameLengthMax - 1]) ? NameLengthMax - 1 : NameLengthMax)] + "...";
    }
}
