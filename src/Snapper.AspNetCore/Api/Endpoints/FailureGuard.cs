using Microsoft.AspNetCore.Connections;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;

namespace Snapper.AspNetCore.Api.Endpoints;

/// <summary>Around every endpoint: what no endpoint answered for becomes a problem, and is logged when it is ours.</summary>
internal sealed partial class FailureGuard(RequestDelegate next, ILogger log, TimeSpan retryAfter)
{
    public async Task Run(HttpContext context)
    {
        try
        {
            await next(context);
        }
        catch (BadHttpRequestException bad) when (!context.Response.HasStarted)
        {
            // Kestrel's words for a body that came too slowly (408), in broken chunks (400) or past its limit (413).
            await Respond.Send(context, bad.StatusCode == StatusCodes.Status413PayloadTooLarge
                ? new Problem(bad.StatusCode, "urn:snapper:too-large", "Too large", bad.Message)
                : new Problem(bad.StatusCode, "urn:snapper:invalid-request", "Invalid request", bad.Message));
        }
        catch (StorageUnavailableException unavailable) when (!context.Response.HasStarted)
        {
            await Respond.Send(context, Problem.Of(new Rejection(RejectionKind.Unavailable, unavailable.Message), retryAfter));
        }
        catch (DamagedStateException damage) when (!context.Response.HasStarted)
        {
            await Respond.Send(context, new Problem(StatusCodes.Status409Conflict, "urn:snapper:damaged-state", "Stored state is damaged", damage.Message));
        }
        catch (Exception gone) when (IsCallerGone(gone, context))
        {
            // Nobody is there to be answered. A transaction that was numbered goes on; the caller asks by id.
            LogCallerGone(log, context.Request.Path);
        }
        catch (Exception failure) when (!context.Response.HasStarted)
        {
            LogFailure(log, failure, context.Request.Method, context.Request.Path);
            await Respond.Send(context, new Problem(
                StatusCodes.Status500InternalServerError, "urn:snapper:internal-error", "Internal error",
                "The worker failed to answer. Whether what was asked for was done is unknown; ask by id, or send it again with the same id."));
        }
    }

    private static bool IsCallerGone(Exception exception, HttpContext context) =>
        exception is ConnectionResetException or ConnectionAbortedException
        || (exception is IOException or OperationCanceledException && context.RequestAborted.IsCancellationRequested);

    [LoggerMessage(EventId = 3001, Level = LogLevel.Error, Message = "{Method} {Path} failed")]
    private static partial void LogFailure(ILogger log, Exception failure, string method, PathString path);

    [LoggerMessage(EventId = 3002, Level = LogLevel.Debug, Message = "The caller of {Path} went away before the answer")]
    private static partial void LogCallerGone(ILogger log, PathString path);
}
