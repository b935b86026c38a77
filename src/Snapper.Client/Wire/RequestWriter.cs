using System.Diagnostics;
using System.Text;
using System.Text.Json;
using Snapper.Client.Messages;

namespace Snapper.Client.Wire;

/// <summary>Writes the parts of a request, in the fields of the HTTP contract.</summary>
internal static class RequestWriter
{
    private static readonly UTF8Encoding s_strict = new(false, throwOnInvalidBytes: true);

    /// <summary>
    /// Refuses half a character: JSON would say another one in its place, and name another actor or request.
    /// </summary>
    /// <exception cref="ArgumentException">A surrogate stands alone.</exception>
    public static void CheckText(string text, string name)
    {
        try
        {
            s_strict.GetByteCount(text);
        }
        catch (EncoderFallbackException)
        {
            throw new ArgumentException("A name or an id has a surrogate that stands alone.", name);
        }
    }

    /// <summary>Opens the request and writes its id and whom it goes to.</summary>
    public static void Begin(Utf8JsonWriter json, string id, string actorType, string actorId)
    {
        json.WriteStartObject();
        json.WriteString("id"u8, id);
        json.WriteStartObject("actor"u8);
        json.WriteString("type"u8, actorType);
        json.WriteString("id"u8, actorId);
        json.WriteEndObject();
    }

    /// <summary>Writes how it is to be run and closes the request.</summary>
    public static void End(
        Utf8JsonWriter json, TransactionMode mode, AccessMode accessMode, IReadOnlyList<ActorCalls>? access,
        TimeSpan timeout, Activity? context)
    {
        if (mode != TransactionMode.AsDeclared)
        {
            json.WriteString("mode"u8, mode == TransactionMode.Pact ? "pact"u8 : "act"u8);
        }

        if (accessMode != AccessMode.Strict)
        {
            json.WriteString("accessMode"u8, accessMode == AccessMode.Record ? "record"u8 : "audit"u8);
        }

        if (access is not null)
        {
            WriteAccess(json, access);
        }

        json.WriteNumber("timeoutMs"u8, Math.Max(1, (long)timeout.TotalMilliseconds));
        WriteTrace(json, context);
        json.WriteEndObject();
    }

    /// <summary>Writes the context of a span, if it has the form that W3C has made.</summary>
    private static void WriteTrace(Utf8JsonWriter json, Activity? context)
    {
        if (context is not { IdFormat: ActivityIdFormat.W3C, Id: { } parent })
        {
            return;
        }

        json.WriteString("traceparent"u8, parent);
        if (context.TraceStateString is { Length: > 0 } state)
        {
            json.WriteString("tracestate"u8, state);
        }
    }

    /// <summary>Writes <c>{"Account":{"alice":1,"bob":1}}</c>: the actors grouped by type.</summary>
    private static void WriteAccess(Utf8JsonWriter json, IReadOnlyList<ActorCalls> access)
    {
        json.WriteStartObject("access"u8);
        for (var i = 0; i < access.Count; i++)
        {
            if (!IsFirstOfItsType(access, i))
            {
                continue;
            }

            var type = access[i].Type;
            json.WriteStartObject(type);
            for (var j = i; j < access.Count; j++)
            {
                if (access[j].Type == type)
                {
                    json.WriteNumber(access[j].Id, access[j].Calls);
                }
            }

            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    private static bool IsFirstOfItsType(IReadOnlyList<ActorCalls> access, int index)
    {
        for (var i = 0; i < index; i++)
        {
            if (access[i].Type == access[index].Type)
            {
                return false;
            }
        }

        return true;
    }
}
