using System.Text.Json;
using Snapper.Client.Messages;

namespace Snapper.Client.Wire;

/// <summary>Reads envelopes as the HTTP contract defines them; unknown fields are skipped.</summary>
internal static class ReplyReader
{
    private static readonly JsonReaderOptions Options = new() { MaxDepth = 1024 };

    /// <summary>Reads <c>{"results":[...]}</c>.</summary>
    /// <param name="utf8">The whole answer.</param>
    /// <param name="replies">Filled; has as many elements as transactions were sent.</param>
    /// <exception cref="JsonException">The answer is not that, or has another number of results. Nothing of it may be used.</exception>
    public static void ReadBatch(ReadOnlySpan<byte> utf8, Span<TransactionReply> replies)
    {
        var reader = new Utf8JsonReader(utf8, Options);
        reader.Expect(JsonTokenType.StartObject);
        var count = -1;
        while (reader.ReadProperty())
        {
            if (reader.ValueTextEquals("results"u8))
            {
                reader.Expect(JsonTokenType.StartArray);
                count = ReadResults(ref reader, utf8, replies);
            }
            else
            {
                reader.SkipValue();
            }
        }

        if (count != replies.Length)
        {
            throw new JsonException($"{replies.Length} transactions were sent, {Math.Max(count, 0)} results came back.");
        }
    }

    /// <summary>Reads one envelope.</summary>
    /// <exception cref="JsonException">The answer is not one.</exception>
    public static TransactionReply ReadOne(ReadOnlySpan<byte> utf8)
    {
        var reader = new Utf8JsonReader(utf8, Options);
        reader.Expect(JsonTokenType.StartObject);
        return ReadEnvelope(ref reader, utf8);
    }

    /// <summary>What a problem+json, or Dapr's own error object, has to say; null when it is neither.</summary>
    public static string? ReadProblem(ReadOnlySpan<byte> utf8)
    {
        try
        {
            var reader = new Utf8JsonReader(utf8, Options);
            reader.Expect(JsonTokenType.StartObject);
            return DetailsReader.ReadRejection(ref reader).Detail;
        }
        catch (JsonException)
        {
            return null; // Some proxy's page; the status alone counts.
        }
    }

    private static int ReadResults(ref Utf8JsonReader reader, ReadOnlySpan<byte> utf8, Span<TransactionReply> replies)
    {
        var count = 0;
        while (reader.Read() && reader.TokenType != JsonTokenType.EndArray)
        {
            if (reader.TokenType != JsonTokenType.StartObject)
            {
                throw new JsonException("A result is not an object.");
            }

            var reply = ReadEnvelope(ref reader, utf8);
            if (count < replies.Length)
            {
                replies[count] = reply;
            }

            count++;
        }

        return count;
    }

    private static TransactionReply ReadEnvelope(ref Utf8JsonReader reader, ReadOnlySpan<byte> utf8)
    {
        string? id = null, worker = null;
        TransactionOutcome? outcome = null;
        var mode = TransactionMode.Pact;
        long transaction = 0, batch = 0, attempts = 0;
        byte[]? result = null, touched = null;
        AbortDetails? abort = null;
        RejectionDetails? rejection = null;
        var isResultDropped = false;
        while (reader.ReadProperty())
        {
            if (reader.ValueTextEquals("id"u8))
            {
                id = reader.ReadString();
            }
            else if (reader.ValueTextEquals("outcome"u8))
            {
                outcome = ReadOutcome(ref reader);
            }
            else if (reader.ValueTextEquals("mode"u8))
            {
                reader.Read();
                mode = reader.TokenType == JsonTokenType.String && reader.ValueTextEquals("act"u8) ? TransactionMode.Act : TransactionMode.Pact;
            }
            else if (reader.ValueTextEquals("transaction"u8))
            {
                transaction = reader.ReadNumber();
            }
            else if (reader.ValueTextEquals("batch"u8))
            {
                batch = reader.ReadNumber();
            }
            else if (reader.ValueTextEquals("attempts"u8))
            {
                attempts = reader.ReadNumber();
            }
            else if (reader.ValueTextEquals("worker"u8))
            {
                worker = reader.ReadString();
            }
            else if (reader.ValueTextEquals("result"u8))
            {
                result = reader.CopyValue(utf8);
            }
            else if (reader.ValueTextEquals("resultDropped"u8))
            {
                isResultDropped = reader.ReadTrue();
            }
            else if (reader.ValueTextEquals("touched"u8))
            {
                touched = reader.CopyValue(utf8);
            }
            else if (reader.ValueTextEquals("abort"u8))
            {
                reader.Read();
                abort = reader.TokenType == JsonTokenType.StartObject ? DetailsReader.ReadAbort(ref reader) : null;
            }
            else if (reader.ValueTextEquals("problem"u8))
            {
                reader.Read();
                rejection = reader.TokenType == JsonTokenType.StartObject ? DetailsReader.ReadRejection(ref reader) : null;
            }
            else
            {
                reader.SkipValue();
            }
        }

        // Of a request that it could not read, the worker may not know the id either.
        if (id is null && outcome != TransactionOutcome.Rejected)
        {
            throw new JsonException("A result has no 'id'.");
        }

        return new TransactionReply
        {
            Id = id ?? "",
            Outcome = outcome ?? throw new JsonException("A result has no 'outcome'."),
            Mode = mode,
            Transaction = transaction,
            Batch = batch,
            Worker = worker,
            Attempts = (int)Math.Clamp(attempts, 0, int.MaxValue),
            Result = result,
            IsResultDropped = isResultDropped,
            Touched = touched,
            Abort = abort,
            Rejection = rejection,
        };
    }

    private static TransactionOutcome ReadOutcome(ref Utf8JsonReader reader)
    {
        reader.Read();
        if (reader.TokenType == JsonTokenType.String)
        {
            if (reader.ValueTextEquals("committed"u8))
            {
                return TransactionOutcome.Committed;
            }

            if (reader.ValueTextEquals("aborted"u8))
            {
                return TransactionOutcome.Aborted;
            }

            if (reader.ValueTextEquals("inDoubt"u8))
            {
                return TransactionOutcome.InDoubt;
            }

            if (reader.ValueTextEquals("running"u8))
            {
                return TransactionOutcome.Running;
            }

            if (reader.ValueTextEquals("rejected"u8))
            {
                return TransactionOutcome.Rejected;
            }
        }

        throw new JsonException("A result has an outcome that this client does not know.");
    }
}
