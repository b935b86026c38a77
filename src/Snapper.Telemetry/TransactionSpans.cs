using System.Diagnostics;
using Snapper.Contracts;
using Snapper.Runtime.Door;

namespace Snapper.Telemetry;

/// <summary>
/// Makes spans of a traced attempt: one for the transaction, below it its phases and its calls. The span of a transaction is a child of its caller's; without a caller it begins a trace
/// whose id is made of the request's, so that branches on other workers join it.
/// </summary>
internal sealed class TransactionSpans : IDisposable
{
    public const string SourceName = "Snapper.Dapr";

    [ThreadStatic]
    private static ActivityTraceId? t_nextTrace;

    private readonly ActivitySource _source = new(SourceName);

    static TransactionSpans()
    {
        // The application may have a generator of its own, for traces that its vendor asks for.
        var others = Activity.TraceIdGenerator ?? ActivityTraceId.CreateRandom;
        Activity.TraceIdGenerator = () => t_nextTrace ?? others();
    }

    /// <summary>
    /// The decision of the samplers that listen. A trace that no caller began has an id made of the request's, so that
    /// samplers that look at the trace's id decide alike on all workers, and here and in <see cref="Write"/>.
    /// </summary>
    public bool IsSampled(string requestId, string? traceParent)
    {
        if (!_source.HasListeners())
        {
            return false;
        }

        using var probe = TraceContext.IsValid(traceParent)
            ? _source.CreateActivity(
                "transaction", ActivityKind.Server, CallerOf(traceParent!, null, TraceContext.IsSampled(traceParent!)))
            : WithTraceOf(requestId, _source, static source =>
                source.CreateActivity("transaction", ActivityKind.Server, default(ActivityContext)));
        return probe is { Recorded: true };
    }

    /// <summary>Makes the spans of an attempt.</summary>
    /// <param name="trace">The attempt.</param>
    /// <param name="traceParent">The caller's W3C trace context; null: none.</param>
    /// <param name="traceState">What goes along with it; null: nothing.</param>
    /// <param name="sampled">
    /// The decision is taken, whatever the caller's sampled flag says; false: the samplers decide by it, once more.
    /// </param>
    public void Write(TraceView trace, string? traceParent, string? traceState, bool sampled = true)
    {
        var ended = trace.CommittedAtMs ?? trace.EndedAtMs ?? trace.StartedAtMs;
        using var root = Begin(trace, traceParent, traceState, sampled);
        if (root is null)
        {
            return; // nothing is exported
        }

        Tag(root, trace);
        Phase(root, "wait", trace.ReceivedAtMs, trace.StartedAtMs);
        if (trace.EndedAtMs is { } over)
        {
            Phase(root, "execute", trace.StartedAtMs, over);
            if (trace.CommittedAtMs is { } committed)
            {
                Phase(root, "commit", over, committed);
            }
        }

        var calls = new ActivityContext[trace.Calls.Count];
        for (var i = 0; i < calls.Length; i++)
        {
            calls[i] = Call(trace, i, trace.Calls[i].Parent is >= 0 and var parent && parent < i ? calls[parent] : root.Context, ended);
        }

        root.SetEndTime(At(ended));
        root.Stop();
    }

    public void Dispose() => _source.Dispose();

    private Activity? Begin(TraceView trace, string? traceParent, string? traceState, bool sampled)
    {
        var isBranch = trace.Outcome == "branch";
        var verb = isBranch ? "branch" : trace.Outcome == "repeated" ? "attempt" : "transaction";
        var name = $"{verb} {TypeOf(trace.Root)}.{trace.Method}";
        var kind = isBranch ? ActivityKind.Internal : ActivityKind.Server;
        var at = At(trace.ReceivedAtMs);
        if (TraceContext.IsValid(traceParent))
        {
            var caller = CallerOf(traceParent!, traceState, sampled || TraceContext.IsSampled(traceParent!));
            return _source.StartActivity(name, kind, caller, startTime: at);
        }

        Activity.Current = null;
        return WithTraceOf(trace.Request, (_source, name, kind, at), static its =>
            its._source.StartActivity(its.name, its.kind, default(ActivityContext), startTime: its.at));
    }

    private static Activity? WithTraceOf<TState>(string requestId, TState state, Func<TState, Activity?> make)
    {
        t_nextTrace = TraceSampling.TraceOf(requestId);
        try
        {
            return make(state);
        }
        finally
        {
            t_nextTrace = null;
        }
    }

    private static ActivityContext CallerOf(string traceParent, string? traceState, bool sampled)
    {
        var ids = traceParent.AsSpan();
        return new ActivityContext(
            ActivityTraceId.CreateFromString(ids.Slice(3, 32)), ActivitySpanId.CreateFromString(ids.Slice(36, 16)),
            sampled ? ActivityTraceFlags.Recorded : ActivityTraceFlags.None, traceState, isRemote: true);
    }

    private static void Tag(Activity root, TraceView trace)
    {
        root.SetTag("snapper.request.id", trace.Request);
        root.SetTag("snapper.transaction.id", trace.Transaction);
        root.SetTag("snapper.transaction.mode", trace.Mode);
        root.SetTag("snapper.transaction.attempt", trace.Attempt);
        root.SetTag("snapper.transaction.outcome", trace.Outcome);
        root.SetTag("snapper.worker", trace.Worker);
        root.SetTag("snapper.actor", trace.Root);
        if (trace.Batch != 0)
        {
            root.SetTag("snapper.batch.id", trace.Batch);
        }

        if (trace.CallsDropped > 0)
        {
            root.SetTag("snapper.calls.dropped", trace.CallsDropped);
        }

        if (trace.Reason is { } reason)
        {
            root.SetTag("error.type", reason);
            root.SetStatus(ActivityStatusCode.Error, reason);
        }
    }

    private void Phase(Activity root, string name, double fromMs, double toMs)
    {
        using var phase = _source.StartActivity(name, ActivityKind.Internal, root.Context, startTime: At(fromMs));
        phase?.SetTag("snapper.phase", name);
        phase?.SetEndTime(At(Math.Max(fromMs, toMs)));
    }

    private ActivityContext Call(TraceView trace, int index, ActivityContext parent, double ended)
    {
        var call = trace.Calls[index];
        using var span = _source.StartActivity($"call {TypeOf(call.Actor)}.{call.Method}", ActivityKind.Internal, parent, startTime: At(call.AskedAtMs));
        if (span is null)
        {
            return parent;
        }

        span.SetTag("snapper.actor", call.Actor);
        span.SetTag("snapper.waited_ms", call.WaitedMs);
        if (call.Worker != trace.Worker)
        {
            span.SetTag("snapper.worker", call.Worker);
        }

        span.SetEndTime(At(Math.Max(call.AskedAtMs, call.EndedAtMs ?? ended)));
        return span.Context;
    }

    // Names of spans are few: no ids in them.
    private static string TypeOf(string actor) => actor[..actor.IndexOf('/', StringComparison.Ordinal)];

    private static DateTime At(double unixMs) => DateTime.UnixEpoch.AddTicks((long)(unixMs * TimeSpan.TicksPerMillisecond));
}
