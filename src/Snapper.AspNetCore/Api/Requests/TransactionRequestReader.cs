using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Unicode;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Requests;

/// <summary>Turns the body of a transaction request, or of a batch of them, into <see cref="TransactionRequest"/>s.</summary>
/// <remarks>
/// Never throws for any input. The body may be reused as soon as the call returns: inputs are copied out of it. The
/// reader is iterative, so nesting costs no stack. Cost: one pass over the body.
/// </remarks>
internal static class TransactionRequestReader
{
    private static ReadOnlySpan<byte> ByteOrderMark => [0xEF, 0xBB, 0xBF];

    /// <summary>Reads a body of the service or direct door: one request, or <c>{"transactions":[...]}</c>.</summary>
    public static ParsedBody Read(ReadOnlySpan<byte> body, RequestOrigin origin, ApiOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        if (TextError(ref body) is { } unreadable)
        {
            return new ParsedBody(Refuse(RejectionKind.Invalid, unreadable), null);
        }

        var parser = new RequestParser(body, origin, options);
        try
        {
            if (IsBatch(body))
            {
                return new ParsedBody(default, parser.ReadBatch());
            }

            return new ParsedBody(ReadOne(ref parser, body.Length, null, options), null);
        }
        catch (MalformedRequestException malformed)
        {
            return new ParsedBody(Refuse(malformed.Kind, malformed.Message), null);
        }
        catch (JsonException unreadableJson)
        {
            return new ParsedBody(Refuse(RejectionKind.Invalid, Describe(unreadableJson, parser.Field)), null);
        }
    }

    /// <summary>Reads a body of the actor door: one request, whose root is the actor that was called.</summary>
    public static ParsedRequest ReadForActor(ReadOnlySpan<byte> body, ActorKey root, RequestOrigin origin, ApiOptions options)
    {
        ArgumentNullException.ThrowIfNull(root);
        ArgumentNullException.ThrowIfNull(options);
        if (TextError(ref body) is { } unreadable)
        {
            return Refuse(RejectionKind.Invalid, unreadable);
        }

        var parser = new RequestParser(body, origin, options);
        try
        {
            return ReadOne(ref parser, body.Length, root, options);
        }
        catch (JsonException unreadableJson)
        {
            return Refuse(RejectionKind.Invalid, Describe(unreadableJson, parser.Field));
        }
    }

    /// <summary>
    /// True when a body, or the beginning of one, is a batch: <c>transactions</c> must be its first field, for a batch has
    /// no other. Decides how much of a long body is read at all.
    /// </summary>
    public static bool IsBatch(ReadOnlySpan<byte> beginning)
    {
        if (beginning.StartsWith(ByteOrderMark))
        {
            beginning = beginning[ByteOrderMark.Length..];
        }

        var json = new Utf8JsonReader(beginning, isFinalBlock: false, default);
        try
        {
            return json.Read() && json.TokenType == JsonTokenType.StartObject
                && json.Read() && json.TokenType == JsonTokenType.PropertyName && JsonNames.Is(in json, "transactions"u8);
        }
        catch (JsonException)
        {
            // Whoever parses the body finds the same error and has the words for it.
            return false;
        }
    }

    private static ParsedRequest ReadOne(ref RequestParser parser, int length, ActorKey? root, ApiOptions options)
    {
        if (length > options.TransactionBodyBytesMax)
        {
            return Refuse(RejectionKind.TooLarge, TooLarge(options));
        }

        return parser.ReadSingle(root);
    }

    internal static string TooLarge(ApiOptions options) => string.Create(
        CultureInfo.InvariantCulture, $"A transaction request is longer than {options.TransactionBodyBytesMax} bytes.");

    private static ParsedRequest Refuse(RejectionKind kind, string detail) => ParsedRequest.Refused(new RequestRefusal(kind, detail, null));

    private static string? TextError(ref ReadOnlySpan<byte> body)
    {
        if (body.StartsWith(ByteOrderMark))
        {
            body = body[ByteOrderMark.Length..];
        }

        if (body.IsEmpty)
        {
            return "The body is empty; a JSON object is expected.";
        }

        // The JSON reader leaves the bytes inside strings unchecked; after this check no reader further in meets a bad one.
        return Utf8.IsValid(body) ? null : $"The body is not UTF-8: byte {FirstInvalid(body).ToString(CultureInfo.InvariantCulture)} fits no character.";
    }

    private static int FirstInvalid(ReadOnlySpan<byte> body)
    {
        var position = 0;
        while (position < body.Length && Rune.DecodeFromUtf8(body[position..], out _, out var consumed) == System.Buffers.OperationStatus.Done)
        {
            position += consumed;
        }

        return position + 1;
    }

    private static string Describe(JsonException exception, string field)
    {
        var message = exception.Message.AsSpan();
        var end = message.IndexOf(" LineNumber:", StringComparison.Ordinal);
        message = end < 0 ? message : message[..end];
        if (message.Length > 120)
        {
            message = message[..120];
        }

        var place = field.Length == 0 ? string.Empty : $" in {field}";
        return string.Create(
            CultureInfo.InvariantCulture,
            $"The body is not readable JSON{place} (line {exception.LineNumber + 1}, byte {exception.BytePositionInLine + 1}): {message}");
    }
}
