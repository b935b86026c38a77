using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Snapper.Runtime.Json;

/// <summary>What a caller has to write for a type, in words that stand behind "must be".</summary>
public static class InputKinds
{
    private static readonly Dictionary<Type, string> Known = new()
    {
        [typeof(string)] = "a string",
        [typeof(char)] = "a string of one character",
        [typeof(bool)] = "true or false",
        [typeof(byte)] = Whole(byte.MinValue, byte.MaxValue),
        [typeof(sbyte)] = Whole(sbyte.MinValue, sbyte.MaxValue),
        [typeof(short)] = Whole(short.MinValue, short.MaxValue),
        [typeof(ushort)] = Whole(ushort.MinValue, ushort.MaxValue),
        [typeof(int)] = Whole(int.MinValue, int.MaxValue),
        [typeof(uint)] = Whole(uint.MinValue, uint.MaxValue),
        [typeof(long)] = Whole(long.MinValue, long.MaxValue),
        [typeof(ulong)] = Whole(ulong.MinValue, ulong.MaxValue),
        [typeof(float)] = "a number",
        [typeof(double)] = "a number",
        [typeof(decimal)] = "a number, -7.9e28 to 7.9e28",
        [typeof(DateTime)] = "a date and time (ISO 8601)",
        [typeof(DateTimeOffset)] = "a date and time (ISO 8601)",
        [typeof(DateOnly)] = "a date (YYYY-MM-DD)",
        [typeof(TimeOnly)] = "a time (hh:mm:ss)",
        [typeof(TimeSpan)] = "a length of time (hh:mm:ss)",
        [typeof(Guid)] = "a UUID",
        [typeof(Uri)] = "a URI",
        [typeof(byte[])] = "a string in base64",
        [typeof(Memory<byte>)] = "a string in base64",
        [typeof(ReadOnlyMemory<byte>)] = "a string in base64",
    };

    /// <summary>The kind of value; null for a type that reads itself in its own way.</summary>
    public static string? Of(JsonTypeInfo type)
    {
        var plain = Nullable.GetUnderlyingType(type.Type) ?? type.Type;
        return Known.GetValueOrDefault(plain) ?? type.Kind switch
        {
            JsonTypeInfoKind.Object or JsonTypeInfoKind.Dictionary => "an object",
            JsonTypeInfoKind.Enumerable => "an array",
            _ => plain.IsEnum ? OneOf(plain, type.Options) : null,
        };
    }

    private static string Whole<T>(T from, T to)
        where T : IFormattable => string.Create(CultureInfo.InvariantCulture, $"a whole number, {from} to {to}");

    // By names or by numbers, as it would be written.
    private static string? OneOf(Type type, JsonSerializerOptions options)
    {
        try
        {
            var names = Enum.GetValues(type).Cast<object>().Select(one => JsonSerializer.Serialize(one, type, options));
            return "one of " + string.Join(", ", names);
        }
        catch (Exception) // a converter may throw anything: many only read
        {
            return null;
        }
    }
}
