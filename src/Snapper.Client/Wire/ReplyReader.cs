using System.Text.Json;
using Snapper.Client.Messages;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;

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
        Expect(ref reader, JsonTokenType.StartObject);
        var count = -1;
        while (ReadProperty(ref reader))
        {
            if (reader.ValueTextEquals("results"u8))
            {
                Expect(ref reader, JsonTokenType.StartArray);
                count = ReadResults(ref reader, utf8, replies);
            }
            else
            {
                SkipValue(ref reader);
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
        Expect(ref reader, JsonTokenType.StartObject);
        return ReadEnvelope(ref reader, utf8);
    }

    /// <summary>What a problem+json, or Dapr's own error object, has to say; null when it is neither.</summary>
    public static string? ReadProblem(ReadOnlySpan<byte> utf8)
    {
        try
        {
            var reader = new Utf8JsonReader(utf8, Options);
            Expect(ref reader, JsonTokenType.StartObject);
            return ReadRejection(ref reader).Detail;
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
        string? id = null;
        TransactionOutcome? outcome = null;
        var mode = TransactionMode.Pact;
        long transaction = 0, batch = 0, attempts = 0;
        byte[]? result = null, touched = null;
        AbortDetails? abort = null;
        RejectionDetails? rejection = null;
        while (ReadProperty(ref reader))
        {
            if (reader.ValueTextEquals("id"u8))
            {
                id = ReadString(ref reader);
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
                transaction = ReadNumber(ref reader);
            }
            else if (reader.ValueTextEquals("batch"u8))
            {
                batch = ReadNumber(ref reader);
            }
            else if (reader.ValueTextEquals("attempts"u8))
            {
                attempts = ReadNumber(ref reader);
            }
            else if (reader.ValueTextEquals("result"u8))
            {
                result = CopyValue(ref reader, utf8);
            }
            else if (reader.ValueTextEquals("touched"u8))
            {
                touched = CopyValue(ref reader, utf8);
            }
            else if (reader.ValueTextEquals("abort"u8))
            {
                reader.Read();
                abort = reader.TokenType == JsonTokenType.StartObject ? ReadAbort(ref reader) : null;
            }
            else if (reader.ValueTextEquals("problem"u8))
            {
                reader.Read();
                rejection = reader.TokenType == JsonTokenType.StartObject ? ReadRejection(ref reader) : null;
            }
            else
            {
                SkipValue(ref reader);
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
            Attempts = (int)Math.Clamp(attempts, 0, int.MaxValue),
            Result = result,
            Touched = touched,
            Abort = abort,
            Rejection = rejection,
        };
    }

    private static AbortDetails ReadAbort(ref Utf8JsonReader reader)
    {
        var reason = "";
        var message = "";
        var retryable = false;
        ActorKey? actor = null;
        while (ReadProperty(ref reader))
        {
            if (reader.ValueTextEquals("reason"u8))
            {
                reason = ReadString(ref reader) ?? "";
            }
            else if (reader.ValueTextEquals("message"u8))
            {
                message = ReadString(ref reader) ?? "";
            }
            else if (reader.ValueTextEquals("retryable"u8))
            {
                reader.Read();
                retryable = reader.TokenType == JsonTokenType.True;
            }
            else if (reader.ValueTextEquals("actor"u8))
            {
                reader.Read();
                actor = reader.TokenType == JsonTokenType.StartObject ? ReadActor(ref reader) : null;
            }
            else
            {
                SkipValue(ref reader);
            }
        }

        return new AbortDetails(ReasonOf(reason), reason, message, retryable, actor);
    }

    private static ActorKey? ReadActor(ref Utf8JsonReader reader)
    {
        string? type = null;
        string? id = null;
        while (ReadProperty(ref reader))
        {
            if (reader.ValueTextEquals("type"u8))
            {
                type = ReadString(ref reader);
            }
            else if (reader.ValueTextEquals("id"u8))
            {
                id = ReadString(ref reader);
            }
            else
            {
                SkipValue(ref reader);
            }
        }

        return string.IsNullOrEmpty(type) || string.IsNullOrEmpty(id) ? null : new ActorKey(type, id);
    }

    private static RejectionDetails ReadRejection(ref Utf8JsonReader reader)
    {
        long status = 500;
        string? detail = null, title = null;
        TimeSpan? retryAfter = null;
        while (ReadProperty(ref reader))
        {
            if (reader.ValueTextEquals("status"u8))
            {
                status = ReadNumber(ref reader);
            }
            else if (reader.ValueTextEquals("detail"u8) || reader.ValueTextEquals("message"u8))
            {
                detail = ReadString(ref reader) ?? detail;
            }
            else if (reader.ValueTextEquals("title"u8))
            {
                title = ReadString(ref reader);
            }
            else if (reader.ValueTextEquals("retryAfterMs"u8))
            {
                retryAfter = TimeSpan.FromMilliseconds(Math.Clamp(ReadNumber(ref reader), 0, int.MaxValue));
            }
            else
            {
                SkipValue(ref reader);
            }
        }

        return new RejectionDetails((int)Math.Clamp(status, 0, 999), detail ?? title ?? "The worker gave no reason.", retryAfter);
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

    private static AbortReason ReasonOf(string reason) => reason switch
    {
        "application" => AbortReason.Application,
        "conflict" => AbortReason.Conflict,
        "deadlock" => AbortReason.Deadlock,
        "serializability" => AbortReason.Serializability,
        "undeclared" => AbortReason.Undeclared,
        "timeout" => AbortReason.Timeout,
        "migration" => AbortReason.Migration,
        "overloaded" => AbortReason.Overloaded,
        "cancelled" => AbortReason.Cancelled,
        "failure" => AbortReason.Failure,
        _ => AbortReason.None,
    };

    private static void Expect(ref Utf8JsonReader reader, JsonTokenType token)
    {
        if (!reader.Read() || reader.TokenType != token)
        {
            throw new JsonException($"Expected {token}, got {reader.TokenType}.");
        }
    }

    private static bool ReadProperty(ref Utf8JsonReader reader) => reader.Read() && reader.TokenType == JsonTokenType.PropertyName;

    private static void SkipValue(ref Utf8JsonReader reader)
    {
        reader.Read();
        reader.Skip();
    }

    private static string? ReadString(ref Utf8JsonReader reader)
    {
        reader.Read();
        if (reader.TokenType == JsonTokenType.String)
        {
            return reader.GetString();
        }

        reader.Skip();
        return null;
    }

    private static long ReadNumber(ref Utf8JsonReader reader)
    {
        reader.Read();
        if (reader.TokenType == JsonTokenType.Number && reader.TryGetInt64(out var number))
        {
            return number;
        }

        reader.Skip();
        return 0;
    }

    private static byte[] CopyValue(ref Utf8JsonReader reader, ReadOnlySpan<byte> utf8)
    {
        reader.Read();
        var start = (int)reader.TokenStartIndex;
        reader.Skip();
        return utf8[start..(int)reader.BytesConsumed].ToArray();
    }
}
