namespace Snapper.Sidecar;

/// <summary>Header names of Dapr's HTTP protocol, and ours.</summary>
public static class DaprHeaders
{
    /// <summary>Calls with an equal value interleave on an actor; see <see cref="Reentrancy.ConstantId"/>.</summary>
    public const string ReentrancyId = "Dapr-Reentrancy-Id";

    /// <summary>The token of the sidecar's API (towards the sidecar) or of the app (towards the app).</summary>
    public const string ApiToken = "dapr-api-token";

    /// <summary>
    /// App id of the calling sidecar's app. daprd fills it in for actor calls only where the caller left it out: it is a hint for traces, never proof
    /// of who calls.
    /// </summary>
    public const string CallerAppId = "Dapr-Caller-App-Id";

    /// <summary>App id of the called app: daprd adds it to what it calls for others, and to no actor call.</summary>
    public const string CalleeAppId = "Dapr-Callee-App-Id";

    /// <summary>Namespace of the calling sidecar's app; a hint as well.</summary>
    public const string CallerNamespace = "Dapr-Caller-Namespace";

    /// <summary>Names the target app of a service invocation outside <c>/v1.0/invoke</c>.</summary>
    public const string AppId = "dapr-app-id";

    /// <summary>The caller's id of a request, which has its effects once.</summary>
    public const string IdempotencyKey = "Idempotency-Key";

    /// <summary>
    /// With <c>always</c> a call of a method by its name answers with an envelope, whatever the outcome.
    /// </summary>
    public const string Envelope = "Snapper-Envelope";

    /// <summary>W3C trace context.</summary>
    public const string TraceParent = "traceparent";

    /// <summary>W3C trace state.</summary>
    public const string TraceState = "tracestate";

    /// <summary>Set to <c>true</c> on every answer of the embedded stand-in, so that it is not taken for a real sidecar.</summary>
    public const string Embedded = "snapper-embedded";

    internal const string ApiCall = "Dapr-Api-Call";
}

/// <summary>How actor calls interleave.</summary>
public static class Reentrancy
{
    /// <summary>
    /// The one reentrancy id of all our calls. The sidecar's actor lock compares nothing but this text, so calls that carry
    /// it run at the same time on one actor; a call without it waits until none of them is under way.
    /// </summary>
    public const string ConstantId = "snapper";

    /// <summary>
    /// Depth limit that the app announces. daprd counts concurrent calls as depth, and one call too many leaves an actor
    /// locked for good; so the limit must be out of reach. It is a 32-bit integer in some of Dapr's interfaces.
    /// </summary>
    public const int MaxStackDepth = 1_000_000_000;
}
