using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Requests;

/// <summary>What became of one request of a body: exactly one of the two is set.</summary>
internal readonly record struct ParsedRequest
{
    private ParsedRequest(TransactionRequest? request, RequestRefusal? refusal)
    {
        Request = request;
        Refusal = refusal;
    }

    /// <summary>The request, when it could be read.</summary>
    public TransactionRequest? Request { get; }

    /// <summary>Otherwise why not.</summary>
    public RequestRefusal? Refusal { get; }

    /// <summary>A request that could be read.</summary>
    public static ParsedRequest Accepted(TransactionRequest request) => new(request, null);

    /// <summary>A request that could not.</summary>
    public static ParsedRequest Refused(RequestRefusal refusal) => new(null, refusal);
}

/// <summary>A body: one request, or a batch of them in the order of the body, each on its own.</summary>
/// <param name="Single">The request, or why the whole body was refused; meaningless when there is a batch.</param>
/// <param name="Batch">1 to 1,000 requests; null when the body is one request or was refused as a whole.</param>
internal readonly record struct ParsedBody(ParsedRequest Single, ParsedRequest[]? Batch);

/// <summary>What the door knows of the caller besides the body.</summary>
/// <param name="Caller">Who calls, where it is certain: <c>token:ann</c>, <c>app:shop</c>; null: unknown.</param>
/// <param name="TraceParent">W3C trace context, valid; null: none.</param>
/// <param name="TraceState">What goes along with it; null: nothing.</param>
/// <param name="CountedFor">To whom ids of requests are counted; null: to all together.</param>
internal readonly record struct RequestOrigin(
    string? Caller, string? TraceParent, string? TraceState = null, string? CountedFor = null)
{
    /// <summary>Of a request at one of the worker's own doors.</summary>
    internal static RequestOrigin Of(HttpContext context)
    {
        var (caller, headers) = (context.Features.Get<RequestCaller>(), context.Request.Headers);
        return Of(caller?.Name, headers.TraceParent, headers.TraceState, caller?.Apart);
    }

    /// <summary>
    /// The same with the trace context that the request has of its own, if that is valid: the requests of a batch come
    /// from different places.
    /// </summary>
    public RequestOrigin WithTrace(string? traceParent, string? traceState) => TraceContext.IsValid(traceParent)
        ? this with { TraceParent = traceParent, TraceState = TraceContext.IsState(traceState) ? traceState : null }
        : this;

    /// <summary>Takes the caller, and the headers as they came. A trace context that is not valid is ignored, as W3C asks for.</summary>
    public static RequestOrigin Of(
        string? caller, string? traceParent, string? traceState = null, string? countedFor = null)
    {
        var valid = TraceContext.IsValid(traceParent);
        return new(
            string.IsNullOrEmpty(caller) ? null : caller, valid ? traceParent : null,
            valid && TraceContext.IsState(traceState) ? traceState : null, countedFor);
    }
}

/// <summary>Carries a refusal out of the parser; never leaves <see cref="TransactionRequestReader"/>.</summary>
internal sealed class MalformedRequestException(RejectionKind kind, string detail) : Exception(detail)
{
    public RejectionKind Kind { get; } = kind;
}
