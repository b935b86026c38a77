using System.Text.Json;
using Snapper.Client.Messages;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Client.Wire;

/// <summary>Reads why a transaction was aborted or a request refused.</summary>
internal static class DetailsReader
{
    public static AbortDetails ReadAbort(ref Utf8JsonReader reader)
    {
        var reason = "";
        var message = "";
        var retryable = false;
        ActorKey? actor = null;
        string? code = null;
        JsonElement? details = null;
        while (reader.ReadProperty())
        {
            if (reader.ValueTextEquals("reason"u8))
            {
                reason = reader.ReadString() ?? "";
            }
            else if (reader.ValueTextEquals("message"u8))
            {
                message = reader.ReadString() ?? "";
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
            else if (reader.ValueTextEquals("code"u8))
            {
                code = reader.ReadString();
            }
            else if (reader.ValueTextEquals("details"u8))
            {
                reader.Read();
                details = JsonElement.ParseValue(ref reader);
            }
            else
            {
                reader.SkipValue();
            }
        }

        return new AbortDetails(ReasonOf(reason), reason, message, retryable, actor) { Code = code, Details = details };
    }

    public static RejectionDetails ReadRejection(ref Utf8JsonReader reader)
    {
        long status = 500;
        string? detail = null, title = null;
        TimeSpan? retryAfter = null;
        while (reader.ReadProperty())
        {
            if (reader.ValueTextEquals("status"u8))
            {
                status = reader.ReadNumber();
            }
            else if (reader.ValueTextEquals("detail"u8) || reader.ValueTextEquals("message"u8))
            {
                detail = reader.ReadString() ?? detail;
            }
            else if (reader.ValueTextEquals("title"u8))
            {
                title = reader.ReadString();
            }
            else if (reader.ValueTextEquals("retryAfterMs"u8))
            {
                retryAfter = TimeSpan.FromMilliseconds(Math.Clamp(reader.ReadNumber(), 0, int.MaxValue));
            }
            else
            {
                reader.SkipValue();
            }
        }

        return new RejectionDetails((int)Math.Clamp(status, 0, 999), detail ?? title ?? "The worker gave no reason.", retryAfter);
    }

    private static ActorKey? ReadActor(ref Utf8JsonReader reader)
    {
        string? type = null;
        string? id = null;
        while (reader.ReadProperty())
        {
            if (reader.ValueTextEquals("type"u8))
            {
                type = reader.ReadString();
            }
            else if (reader.ValueTextEquals("id"u8))
            {
                id = reader.ReadString();
            }
            else
            {
                reader.SkipValue();
            }
        }

        return string.IsNullOrEmpty(type) || string.IsNullOrEmpty(id) ? null : new ActorKey(type, id);
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
}
