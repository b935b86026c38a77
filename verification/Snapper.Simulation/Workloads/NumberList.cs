using System.Collections.Immutable;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Snapper.Simulation.Workloads;

/// <summary>Immutable state: numbers in the order in which they were appended; in JSON an array.</summary>
[JsonConverter(typeof(Converter))]
public sealed class NumberList
{
    private readonly ImmutableArray<long> _values;

    private NumberList(ImmutableArray<long> values) => _values = values;

    /// <summary>No numbers.</summary>
    public static NumberList Empty { get; } = new([]);

    /// <summary>The numbers.</summary>
    public ReadOnlySpan<long> Values => _values.AsSpan();

    /// <summary>A list with one number more.</summary>
    public NumberList With(long value) => new(_values.Add(value));

    /// <summary>The same numbers in another object.</summary>
    public NumberList Again() => new(_values);

    private sealed class Converter : JsonConverter<NumberList>
    {
        public override NumberList Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
        {
            if (reader.TokenType != JsonTokenType.StartArray)
            {
                throw new JsonException("A list of numbers is an array.");
            }

            var values = ImmutableArray.CreateBuilder<long>();
            while (reader.Read() && reader.TokenType != JsonTokenType.EndArray)
            {
                values.Add(reader.GetInt64());
            }

            return new NumberList(values.DrainToImmutable());
        }

        public override void Write(Utf8JsonWriter writer, NumberList value, JsonSerializerOptions options)
        {
            Unruly.Written(value);
            writer.WriteStartArray();
            foreach (var number in value.Values)
            {
                writer.WriteNumberValue(number);
            }

            writer.WriteEndArray();
        }
    }
}
