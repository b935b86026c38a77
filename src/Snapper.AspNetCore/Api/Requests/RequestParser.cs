using System.Text.Json;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Requests;

/// <summary>One pass over a body with <see cref="Utf8JsonReader"/>; see <see cref="TransactionRequestReader"/>.</summary>
/// <remarks>
/// Unknown and repeated fields are refused. A misspelt <c>acess</c> that was ignored would silently turn a PACT into an
/// ACT, and of two <c>amount</c>-like fields a reader and a logger could each believe another one.
/// </remarks>
internal ref struct RequestParser
{
    // Depth is checked here per request, so that one request nested too deeply does not spoil its batch. The JSON reader's
    // own bound only has to be out of the way; it keeps one bit per level.
    private const int ReaderDepthMax = 1 << 24;

    private readonly ReadOnlySpan<byte> _body;
    private readonly RequestOrigin _origin;
    private readonly ApiOptions _options;
    private Utf8JsonReader _json;
    private int _outerLevels;

    public RequestParser(ReadOnlySpan<byte> body, RequestOrigin origin, ApiOptions options)
    {
        _body = body;
        _origin = origin;
        _options = options;
        _json = new Utf8JsonReader(body, new JsonReaderOptions { MaxDepth = ReaderDepthMax });
        Field = string.Empty;
    }

    [Flags]
    private enum Fields
    {
        None = 0,
        Actor = 1,
        Method = 2,
        Input = 4,
        Mode = 8,
        AccessMode = 16,
        Access = 32,
        Id = 64,
        TimeoutMs = 128,
        TraceParent = 256,
        TraceState = 512,
    }

    /// <summary>The field being read, for messages; empty between fields.</summary>
    public string Field { get; private set; }

    /// <summary>Reads the whole body as one request.</summary>
    /// <exception cref="JsonException">The body is not JSON.</exception>
    public ParsedRequest ReadSingle(ActorKey? root)
    {
        _json.Read();
        var beginning = _json;
        try
        {
            var request = ReadRequest(root);
            _json.Read(); // Throws when anything follows.
            return ParsedRequest.Accepted(request);
        }
        catch (MalformedRequestException malformed)
        {
            return ParsedRequest.Refused(new RequestRefusal(malformed.Kind, malformed.Message, RequestFields.FindId(beginning)));
        }
    }

    /// <summary>Reads the whole body as a batch.</summary>
    /// <exception cref="JsonException">The body is not JSON.</exception>
    /// <exception cref="MalformedRequestException">The batch as such is wrong: its size, or a field beside <c>transactions</c>.</exception>
    public ParsedRequest[] ReadBatch()
    {
        _json.Read(); // {
        _json.Read(); // "transactions", as the caller has seen.
        _json.Read();
        if (_json.TokenType != JsonTokenType.StartArray)
        {
            throw Malformed("transactions must be an array of 1 to 1000 requests.");
        }

        _outerLevels = 2;
        var requests = new List<ParsedRequest>();
        while (_json.Read() && _json.TokenType != JsonTokenType.EndArray)
        {
            if (requests.Count == ApiOptions.BatchTransactionsMax)
            {
                throw Malformed("transactions must hold 1 to 1000 requests; there are more.");
            }

            requests.Add(ReadElement());
        }

        if (requests.Count == 0)
        {
            throw Malformed("transactions must hold 1 to 1000 requests; there are none.");
        }

        _json.Read();
        if (_json.TokenType == JsonTokenType.PropertyName)
        {
            throw Malformed($"Beside transactions a batch has no fields; {ClippedText.Of(_json)} is unknown or repeated.");
        }

        _json.Read(); // Throws when anything follows.
        return [.. requests];
    }

    private ParsedRequest ReadElement()
    {
        var beginning = _json;
        var start = _json.TokenStartIndex;
        try
        {
            var request = ReadRequest(null);
            return _json.BytesConsumed - start > _options.TransactionBodyBytesMax
                ? ParsedRequest.Refused(new RequestRefusal(RejectionKind.TooLarge, TransactionRequestReader.TooLarge(_options), request.Id))
                : ParsedRequest.Accepted(request);
        }
        catch (MalformedRequestException malformed)
        {
            // The next request begins behind this one, wherever in it the parser gave up.
            _json = beginning;
            _json.Skip();
            Field = string.Empty;
            return ParsedRequest.Refused(new RequestRefusal(malformed.Kind, malformed.Message, RequestFields.FindId(beginning)));
        }
    }

    private TransactionRequest ReadRequest(ActorKey? root)
    {
        if (_json.TokenType != JsonTokenType.StartObject)
        {
            throw Malformed("A request must be a JSON object.");
        }

        ActorKey? actor = null;
        string? method = null;
        string? id = null;
        TransactionMode? mode = null;
        var accessMode = AccessMode.Strict;
        DeclaredAccess[]? access = null;
        var timeout = _options.DefaultTimeout;
        ReadOnlyMemory<byte> input = default;
        string? traceParent = null;
        string? traceState = null;
        var seen = Fields.None;

        while (_json.Read() && _json.TokenType == JsonTokenType.PropertyName)
        {
            var field = NextField(seen);
            seen |= field;
            _json.Read();
            switch (field)
            {
                case Fields.Actor: actor = RequestFields.Actor(ref _json); break;
                case Fields.Method: method = RequestFields.Method(in _json); break;
                case Fields.Input: input = ReadInput(); break;
                case Fields.Mode: mode = RequestFields.Mode(in _json); break;
                case Fields.AccessMode: accessMode = RequestFields.AccessMode(in _json); break;
                case Fields.Access: access = AccessSetReader.Read(ref _json, root ?? actor); break;
                case Fields.Id: id = RequestFields.Id(in _json); break;
                case Fields.TraceParent: traceParent = RequestFields.Trace(in _json, "traceparent"); break;
                case Fields.TraceState: traceState = RequestFields.Trace(in _json, "tracestate"); break;
                default: timeout = RequestFields.Timeout(in _json, timeout); break;
            }

            Field = string.Empty;
        }

        actor = RootOf(actor, root);
        var origin = _origin.WithTrace(traceParent, traceState);
        return new TransactionRequest
        {
            Actor = actor,
            Method = method ?? throw Malformed("method is missing."),
            Input = input,
            Mode = ModeOf(mode, accessMode, access),
            AccessMode = accessMode,
            AccessSource = mode is null && access is null && accessMode == AccessMode.Strict
                ? AccessSource.Open
                : AccessSource.Request,
            // Of an ACT nothing is declared; what it brought was read for its form all the same.
            Access = mode == TransactionMode.Act ? null : CheckedAccess(access, actor),
            Id = id,
            Timeout = timeout,
            Caller = _origin.Caller,
            CountedFor = _origin.CountedFor,
            TraceParent = origin.TraceParent,
            TraceState = origin.TraceState,
        };
    }

    private static ActorKey RootOf(ActorKey? actor, ActorKey? root)
    {
        if (root is not null && actor is not null && !actor.Equals(root))
        {
            throw Malformed("actor differs from the actor that was called; leave it out.");
        }

        return root ?? actor ?? throw Malformed("actor is missing.");
    }

    private static TransactionMode ModeOf(TransactionMode? mode, AccessMode accessMode, DeclaredAccess[]? access)
    {
        if (access is null && accessMode == AccessMode.Audit)
        {
            throw Malformed("accessMode audit checks a declaration, but access is missing.");
        }

        if (access is not null || mode != TransactionMode.Pact)
        {
            return mode ?? (access is null ? TransactionMode.Act : TransactionMode.Pact);
        }

        // Recording runs the request as an ACT and answers the declaration; to have one already is not required.
        return accessMode == AccessMode.Record ? TransactionMode.Act : throw Malformed("mode pact needs access: the actors it will touch.");
    }

    private static DeclaredAccess[]? CheckedAccess(DeclaredAccess[]? access, ActorKey root)
    {
        if (access is null)
        {
            return null;
        }

        foreach (ref readonly var declared in access.AsSpan())
        {
            if (declared.Actor.Equals(root))
            {
                return access;
            }
        }

        throw Malformed($"access must contain the root actor {ClippedText.Of(root.Type)} {ClippedText.Of(root.Id)}; its own call counts.");
    }

    private Fields NextField(Fields seen)
    {
        var (field, name) =
            JsonNames.Is(in _json, "actor"u8) ? (Fields.Actor, "actor")
            : JsonNames.Is(in _json, "method"u8) ? (Fields.Method, "method")
            : JsonNames.Is(in _json, "input"u8) ? (Fields.Input, "input")
            : JsonNames.Is(in _json, "access"u8) ? (Fields.Access, "access")
            : JsonNames.Is(in _json, "id"u8) ? (Fields.Id, "id")
            : JsonNames.Is(in _json, "mode"u8) ? (Fields.Mode, "mode")
            : JsonNames.Is(in _json, "timeoutMs"u8) ? (Fields.TimeoutMs, "timeoutMs")
            : JsonNames.Is(in _json, "accessMode"u8) ? (Fields.AccessMode, "accessMode")
            : JsonNames.Is(in _json, "traceparent"u8) ? (Fields.TraceParent, "traceparent")
            : JsonNames.Is(in _json, "tracestate"u8) ? (Fields.TraceState, "tracestate")
            : throw Malformed(
                $"Unknown field {ClippedText.Of(_json)}; a request has actor, method, input, mode, accessMode, access, id, "
                + "timeoutMs, traceparent, tracestate, and a batch begins with transactions.");
        if ((seen & field) != 0)
        {
            throw Malformed($"The field {name} appears more than once.");
        }

        Field = name;
        return field;
    }

    private ReadOnlyMemory<byte> ReadInput()
    {
        if (_json.TokenType == JsonTokenType.Null)
        {
            return default;
        }

        var start = (int)_json.TokenStartIndex;
        var depth = _json.CurrentDepth;
        if (_json.TokenType is JsonTokenType.StartObject or JsonTokenType.StartArray)
        {
            do
            {
                // The request's own object is level 1, as a container that begins inside it is level CurrentDepth + 1.
                if (_json.CurrentDepth - _outerLevels >= ApiOptions.JsonLevelsMax)
                {
                    throw Malformed("input nests deeper than 64 levels, the request's own object included.");
                }
            }
            while (_json.Read() && _json.CurrentDepth > depth);
        }

        return _body[start..(int)_json.BytesConsumed].ToArray();
    }

    private static MalformedRequestException Malformed(string detail) => new(RejectionKind.Invalid, detail);
}
