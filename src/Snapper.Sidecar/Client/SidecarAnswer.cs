using System.Text.Json;

namespace Snapper.Sidecar.Client;

/// <summary>What came back through a sidecar.</summary>
public sealed class SidecarAnswer
{
    private SidecarError? _error;

    internal SidecarAnswer(int status, byte[] body, string? contentType, TimeSpan? retryAfter)
    {
        Status = status;
        Body = body;
        ContentType = contentType;
        RetryAfter = retryAfter;
    }

    /// <summary>
    /// HTTP status. Of an actor call: 200 exactly when the app answered; everything else is the sidecar's own. Of a service invocation: the app's, or
    /// the sidecar's when <see cref="SidecarError"/> is there.
    /// </summary>
    public int Status { get; }

    /// <summary>The body, complete; may be empty.</summary>
    public byte[] Body { get; }

    /// <summary>Media type without parameters; null when there is none.</summary>
    public string? ContentType { get; }

    /// <summary>The <c>Retry-After</c> header in seconds; null: there is none.</summary>
    public TimeSpan? RetryAfter { get; }

    /// <summary>The sidecar's own error, e.g. that it did not reach the app; null when the answer is the app's.</summary>
    public SidecarError? SidecarError => _error ??= Status < 400 ? null : SidecarError.TryRead(Body);
}

/// <summary>An error that a sidecar reports about itself or its way to the app.</summary>
/// <param name="Code">E.g. <c>ERR_ACTOR_INVOKE_METHOD</c>.</param>
/// <param name="Message">For people.</param>
public sealed record SidecarError(string Code, string Message)
{
    /// <summary>Reads an error body; null when it is none.</summary>
    public static SidecarError? TryRead(ReadOnlySpan<byte> body)
    {
        // Cheap first look: bodies of apps are rarely taken for errors, and never parsed twice.
        if (body.Length > 64 * 1024 || body.IndexOf("\"errorCode\""u8) < 0)
        {
            return null;
        }

        try
        {
            return JsonSerializer.Deserialize(body, SidecarJson.Default.DaprErrorBody) is { ErrorCode: { } code, Message: { } message }
                ? new SidecarError(code, message)
                : null;
        }
        catch (JsonException)
        {
            // Not JSON, so not an error of a sidecar.
            return null;
        }
    }
}

/// <summary>The sidecar could not be reached, or the connection broke before its answer was complete: whether the call was executed is not known.</summary>
public sealed class SidecarUnreachableException : IOException
{
    /// <summary>Names the endpoint and the cause.</summary>
    public SidecarUnreachableException(Uri endpoint, Exception cause, bool neverSent)
        : base($"The sidecar at {endpoint} {(neverSent ? "cannot be reached" : "broke the connection")}: {cause.Message}", cause)
    {
        Endpoint = endpoint;
        NeverSent = neverSent;
    }

    /// <summary>The sidecar's address.</summary>
    public Uri Endpoint { get; }

    /// <summary>No connection came about, so the call was not executed.</summary>
    public bool NeverSent { get; }
}
