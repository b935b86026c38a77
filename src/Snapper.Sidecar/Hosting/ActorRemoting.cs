using System.Runtime.Serialization;
using System.Text;
using System.Text.Json;
using System.Xml;

namespace Snapper.Sidecar.Hosting;

/// <summary>
/// What the typed actor proxies of Dapr's .NET SDK (<c>Dapr.Actors</c> 1.x, <c>ActorProxy.Create</c>) send and read,
/// with JSON as their bodies. The argument stands in an object
/// of the method's parameters, the result in another one, and an exception comes with HTTP 200, a header, and a body of
/// binary XML.
/// </summary>
public static class ActorRemoting
{
    /// <summary>The header of a call. Its text names interface and method, which the address does as well.</summary>
    public const string RequestHeader = "X-DaprRequestHeader";

    /// <summary>The header of an answer that is an exception.</summary>
    public const string ErrorHeader = "X-DaprErrorResponseHeader";

    // Namespace and names are those of the SDK's contracts.
    private const string Namespace = "urn:actors";

    private static readonly DataContractSerializer s_exceptions = new(typeof(ExceptionData));

    /// <summary>Text of <see cref="ErrorHeader"/>.</summary>
    public static string ErrorHeaderText { get; } = MakeErrorHeader();

    /// <summary>Reads the argument of a call.</summary>
    /// <param name="body">The body of the call.</param>
    /// <param name="argument">The argument as JSON; empty: the method has no parameter.</param>
    /// <returns>Null, or why it cannot be read, as a sentence.</returns>
    public static string? TryReadArgument(ReadOnlyMemory<byte> body, out ReadOnlyMemory<byte> argument)
    {
        argument = default;
        if (body.IsEmpty)
        {
            return null;
        }

        if (body.Span[0] != (byte)'{')
        {
            return "The body is not JSON, most likely DataContract XML, which is the default of ActorProxy.Create: "
                + "give it ActorProxyOptions with UseJsonSerialization = true.";
        }

        try
        {
            var json = new Utf8JsonReader(body.Span);
            json.Read();
            json.Read();
            if (json.TokenType != JsonTokenType.PropertyName || !json.ValueTextEquals("value"u8))
            {
                return "The body is not {\"value\":{...}} with the method's parameters.";
            }

            json.Read();
            var problem = json.TokenType switch
            {
                JsonTokenType.Null => null,
                JsonTokenType.StartObject => ReadParameters(body, ref json, out argument),
                _ => "The body is not {\"value\":{...}} with the method's parameters.",
            };
            while (problem is null && json.Read())
            {
                // Throws where the body is not one JSON value.
            }

            return problem;
        }
        catch (JsonException wrong)
        {
            return JsonProblem.Of(wrong);
        }
    }

    /// <summary>The body of an answer with a result.</summary>
    /// <param name="result">The result as JSON.</param>
    public static byte[] Result(ReadOnlySpan<byte> result)
    {
        var before = "{\"value\":{\"retVal\":"u8;
        var after = "}}"u8;
        var body = new byte[before.Length + result.Length + after.Length];
        before.CopyTo(body);
        result.CopyTo(body.AsSpan(before.Length));
        after.CopyTo(body.AsSpan(before.Length + result.Length));
        return body;
    }

    /// <summary>The body of an answer that is an exception; <see cref="ErrorHeader"/> goes with it.</summary>
    /// <param name="type">Name of the exception's type.</param>
    /// <param name="message">Its message.</param>
    public static byte[] Error(string type, string message)
    {
        using var stream = new MemoryStream();
        using (var writer = XmlDictionaryWriter.CreateBinaryWriter(stream))
        {
            s_exceptions.WriteObject(writer, new ExceptionData { Type = type, Message = Valid(message) });
        }

        return stream.ToArray();
    }

    private static string? ReadParameters(ReadOnlyMemory<byte> body, ref Utf8JsonReader json,
        out ReadOnlyMemory<byte> argument)
    {
        argument = default;
        for (var count = 0; json.Read() && json.TokenType == JsonTokenType.PropertyName; count++)
        {
            if (count > 0)
            {
                return "The call has more than one argument: a method of a transactional actor takes one, or none.";
            }

            json.Read();
            var start = (int)json.TokenStartIndex;
            json.Skip();
            argument = body[start..(int)json.BytesConsumed];
        }

        return null;
    }

    private static string MakeErrorHeader()
    {
        var headers = new Headers { Values = new() { ["HasRemoteException"] = [] } };
        using var stream = new MemoryStream();
        using (var writer = XmlDictionaryWriter.CreateTextWriter(stream))
        {
            new DataContractSerializer(typeof(object), [typeof(Headers)]).WriteObject(writer, headers);
        }

        return Encoding.UTF8.GetString(stream.ToArray());
    }

    // XML has no place for most control characters.
    private static string Valid(string text)
    {
        if (text.All(XmlConvert.IsXmlChar))
        {
            return text;
        }

        var valid = new StringBuilder(text.Length);
        foreach (var c in text)
        {
            valid.Append(XmlConvert.IsXmlChar(c) ? c : '\uFFFD');
        }

        return valid.ToString();
    }

    [DataContract(Name = "ActorResponseMessageHeaders", Namespace = Namespace)]
    private sealed class Headers
    {
        [DataMember(Name = "Headers", IsRequired = true)]
        public Dictionary<string, byte[]> Values { get; set; } = [];
    }

    [DataContract(Name = "ActorInvokeExceptionData", Namespace = Namespace)]
    private sealed class ExceptionData
    {
        [DataMember]
        public string Message { get; set; } = "";

        [DataMember]
        public string Type { get; set; } = "";
    }
}
