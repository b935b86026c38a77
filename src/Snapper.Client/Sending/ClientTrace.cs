using System.Diagnostics;
using Snapper.Client.Messages;

namespace Snapper.Client.Sending;

/// <summary>
/// The span of a transaction at its caller, and the W3C trace context that goes with the transaction. Transactions
/// share requests, so that headers cannot carry it.
/// </summary>
internal readonly struct ClientTrace
{
    private static readonly ActivitySource s_source = new(SnapperClient.ActivitySourceName);

    private readonly Activity? _span;

    private ClientTrace(Activity? span, Activity? context)
    {
        _span = span;
        Context = context;
    }

    /// <summary>
    /// Begins the span, if there is a listener and it samples. Without one the caller's own span goes along, as with
    /// every HTTP request of .NET. The current activity stays what it is.
    /// </summary>
    public static ClientTrace Begin(string requestId, string actorType, string actorId, string method)
    {
        var current = Activity.Current;
        if (!s_source.HasListeners() || s_source.StartActivity(
            $"transaction {actorType}.{method}", ActivityKind.Client) is not { } span)
        {
            return new ClientTrace(null, current);
        }

        Activity.Current = current;
        span.SetTag("snapper.request.id", requestId);
        span.SetTag("snapper.actor", $"{actorType}/{actorId}");
        return new ClientTrace(span, span);
    }

    /// <summary>Whose context goes with the transaction; null: none does.</summary>
    public Activity? Context { get; }

    /// <summary>The same delivery; its outcome ends the span.</summary>
    public Task<TransactionReply> Follow(Task<TransactionReply> delivery) =>
        _span is { } span ? Follow(span, delivery) : delivery;

    /// <summary>Ends the span of a request that was not sent.</summary>
    public void Fail(Exception reason)
    {
        if (_span is { } span)
        {
            Fail(span, reason);
            span.Dispose();
        }
    }

    private static async Task<TransactionReply> Follow(Activity span, Task<TransactionReply> delivery)
    {
        try
        {
            var reply = await delivery.ConfigureAwait(false);
            Tag(span, reply);
            return reply;
        }
        catch (Exception e)
        {
            Fail(span, e);
            throw;
        }
        finally
        {
            span.Dispose();
        }
    }

    private static void Tag(Activity span, TransactionReply reply)
    {
        var (outcome, error) = reply.Outcome switch
        {
            TransactionOutcome.Committed => ("committed", null),
            TransactionOutcome.Aborted => ("aborted", reply.Abort?.ReasonName ?? "aborted"),
            TransactionOutcome.Rejected => ("rejected", "rejected"),
            TransactionOutcome.InDoubt => ("inDoubt", "inDoubt"),
            _ => ("running", "inDoubt"),
        };
        span.SetTag("snapper.transaction.outcome", outcome);
        if (reply.Transaction != 0)
        {
            span.SetTag("snapper.transaction.id", reply.Transaction);
        }

        if (error is not null)
        {
            span.SetTag("error.type", error);
            span.SetStatus(ActivityStatusCode.Error, error);
        }
    }

    private static void Fail(Activity span, Exception reason)
    {
        span.SetTag("error.type", reason.GetType().FullName);
        span.SetStatus(ActivityStatusCode.Error, reason.Message);
    }
}
