using System.Runtime.InteropServices;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Snapper.DaprCompatibility;

/// <summary>Writes values as they are, and reads them without looking into them.</summary>
internal sealed class NamedStatesConverter : JsonConverter<NamedStates>
{
    public override NamedStates Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
    {
        if (reader.TokenType != JsonTokenType.StartObject)
        {
            throw new JsonException("The state of an actor is an object of its named values.");
        }

        var values = new Dictionary<string, byte[]>();
        while (reader.Read() && reader.TokenType != JsonTokenType.EndObject)
        {
            var name = reader.GetString()!;
            reader.Read();
            if (!values.TryAdd(name, ReadValue(ref reader)))
            {
                throw new JsonException($"The value '{name}' is there twice.");
            }
        }

        return new NamedStates(values);
    }

    public override void Write(Utf8JsonWriter writer, NamedStates value, JsonSerializerOptions options)
    {
        writer.WriteStartObject();
        foreach (var (name, json) in value.Values)
        {
            writer.WritePropertyName(name);
            writer.WriteRawValue(json, skipInputValidation: true);
        }

        writer.WriteEndObject();
    }

    private static byte[] ReadValue(ref Utf8JsonReader reader)
    {
        if (reader.TokenType is JsonTokenType.Number or JsonTokenType.True or JsonTokenType.False or JsonTokenType.Null
            && !reader.HasValueSequence)
        {
            return reader.ValueSpan.ToArray();
        }

        using var value = JsonDocument.ParseValue(ref reader);
        return JsonMarshal.GetRawUtf8Value(value.RootElement).ToArray();
    }
}
