using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Inspection;
using Snapper.Runtime.Inspection.Watching;
using Snapper.Runtime.Tests.Cluster;

namespace Snapper.Runtime.Tests.Watching;

/// <summary>A watch without a worker, on a clock that the test moves.</summary>
internal sealed class WatchBench
{
    public static readonly TimeSpan Lease = TimeSpan.FromSeconds(IWorkerWatch.LeaseSeconds);
    public static readonly TraceFilter All = new(1000);

    private int _ids;

    public WatchBench(ITransactionObserver? observer = null)
    {
        Time.Advance(TimeSpan.FromHours(1));
        Watch = new TransactionWatch(Time, "w", Lease, observer, static (_, action) => action());
    }

    public ManualTime Time { get; } = new();

    public TransactionWatch Watch { get; }

    public TracesView Look() => Watch.Traces(All);

    /// <summary>An ACT that came some time ago and begins now, with its root.</summary>
    public Attempt Begin(TimeSpan waited = default, byte[]? input = null, string actor = "a")
    {
        var asked = new TransactionRequest { Actor = new ActorKey("Box", actor), Method = "Run" };
        var request = new Request(asked, null!, input, $"r{_ids++}", default, declared: null, answersInline: true) { ReceivedAt = Time.GetTimestamp() - waited.Ticks };
        var attempt = new Attempt(request, TransactionId.Act(_ids, 1), BatchId.None, TransactionId.None, null!, default) { BeganAt = Time.GetTimestamp() };
        request.Attempt = attempt;
        request.Attempts = 1;
        attempt.Trace = Watch.Begin(attempt, before: null);
        attempt.Trace?.Started(attempt.Trace.Asked(asked.Actor, "Run", -1));
        return attempt;
    }

    public void End(Attempt attempt, Outcome outcome = Outcome.Committed)
    {
        attempt.Trace?.CodeEnded();
        attempt.Trace?.Answered(outcome, outcome == Outcome.Committed ? AbortReason.None : AbortReason.Application);
    }

    public void Run(int transactions, TimeSpan waited = default)
    {
        for (var i = 0; i < transactions; i++)
        {
            End(Begin(waited));
        }
    }
}
