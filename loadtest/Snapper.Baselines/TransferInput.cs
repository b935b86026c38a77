using System.Buffers;
using System.Text.Json;

namespace Snapper.Baselines;

/// <summary>The input of <c>MultiTransfer</c> (<c>{"to":[ids],"amount":n}</c>) and of <c>Deposit</c> (<c>{"amount":n}</c>), read without reflection.</summary>
public readonly record struct TransferInput(string[] To, decimal Amount)
{
    /// <summary>Most receivers that a transfer may name.</summary>
    public const int ReceiversMax = 64;

    /// <summary>Reads the input; fields in any order, unknown ones ignored.</summary>
    /// <exception cref="JsonException">Not JSON, a field of the wrong type, a negative or missing amount, or too many receivers.</exception>
    public static TransferInput Read(in ReadOnlySequence<byte> json)
    {
        var reader = new Utf8JsonReader(json);
        if (!reader.Read() || reader.TokenType != JsonTokenType.StartObject)
        {
            throw new JsonException("The input must be an object.");
        }

        string[] to = [];
        decimal amount = -1;
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            if (reader.ValueTextEquals("amount"u8))
            {
                reader.Read();
                if (reader.TokenType != JsonTokenType.Number || !reader.TryGetDecimal(out amount))
                {
                    throw new JsonException("\"amount\" must be a number.");
                }
            }
            else if (reader.ValueTextEquals("to"u8))
            {
                reader.Read();
                to = ReadIds(ref reader);
            }
            else
            {
                reader.Skip();
            }
        }

        if (amount < 0)
        {
            throw new JsonException("\"amount\" is missing or negative.");
        }

        return new TransferInput(to, amount);
    }

    private static string[] ReadIds(ref Utf8JsonReader reader)
    {
        if (reader.TokenType != JsonTokenType.StartArray)
        {
            throw new JsonException("\"to\" must be a list of account ids.");
        }

        // Three receivers are the usual case of the benchmark; the array then needs no copy.
        var ids = new string[3];
        var count = 0;
        while (reader.Read() && reader.TokenType == JsonTokenType.String)
        {
            if (count == ReceiversMax)
            {
                throw new JsonException($"\"to\" names more than {ReceiversMax} accounts.");
            }

            if (count == ids.Length)
            {
                Array.Resize(ref ids, count * 2);
            }

            ids[count++] = reader.GetString()!;
        }

        if (reader.TokenType != JsonTokenType.EndArray)
        {
            throw new JsonException("\"to\" must be a list of account ids.");
        }

        if (count != ids.Length)
        {
            Array.Resize(ref ids, count);
        }

        return ids;
    }
}
