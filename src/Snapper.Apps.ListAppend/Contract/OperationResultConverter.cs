using System.Collections.Immutable;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Snapper.Apps.ListAppend.Contract;

/// <summary>Writes one member <c>value</c>, a number for an append and a list for a read, as Jepsen's checkers read it.</summary>
internal sealed class OperationResultConverter : JsonConverter<OperationResult>
{
    public override OperationResult Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
    {
        if (reader.TokenType != JsonTokenType.StartObject)
        {
            throw new JsonException("An operation is an object.");
        }

        string? f = null;
        string? key = null;
        long? appended = null;
        ImmutableList<long>? seen = null;
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            if (reader.ValueTextEquals("f"u8))
            {
                reader.Read();
                f = reader.GetString();
            }
            else if (reader.ValueTextEquals("key"u8))
            {
                reader.Read();
                key = reader.GetString();
            }
            else if (reader.ValueTextEquals("value"u8))
            {
                reader.Read();
                if (reader.TokenType == JsonTokenType.StartArray)
                {
                    seen = ReadList(ref reader);
                }
                else
                {
                    appended = reader.GetInt64();
                }
            }
            else
            {
                reader.Read();
                reader.Skip();
            }
        }

        return new OperationResult(
            f ?? throw new JsonException("An operation has no member 'f'."),
            key ?? throw new JsonException("An operation has no member 'key'."),
            appended,
            seen);
    }

    public override void Write(Utf8JsonWriter writer, OperationResult value, JsonSerializerOptions options)
    {
        writer.WriteStartObject();
        writer.WriteString("f"u8, value.F);
        writer.WriteString("key"u8, value.Key);
        if (value.Seen is { } seen)
        {
            writer.WriteStartArray("value"u8);
            foreach (var element in seen)
            {
                writer.WriteNumberValue(element);
            }

            writer.WriteEndArray();
        }
        else if (value.Appended is { } appended)
        {
            writer.WriteNumber("value"u8, appended);
        }

        writer.WriteEndObject();
    }

    private static ImmutableList<long> ReadList(ref Utf8JsonReader reader)
    {
        var list = ImmutableList.CreateBuilder<long>();
        while (reader.Read() && reader.TokenType != JsonTokenType.EndArray)
        {
            list.Add(reader.GetInt64());
        }

        return list.ToImmutable();
    }
}
