using Snapper.Contracts;

namespace Snapper.Runtime.Inspection;

/// <summary>Hears of transactions, to tell them elsewhere. Called on the worker's threads: its methods must return at once, and must not throw.</summary>
public interface ITransactionObserver
{
    /// <summary>Shall the attempt be traced? Asked when it begins, of each one.</summary>
    /// <param name="requestId">The request's id.</param>
    /// <param name="traceParent">W3C trace context of the caller; null: none.</param>
    bool Wants(string requestId, string? traceParent);

    /// <summary>A traced attempt is over.</summary>
    /// <param name="trace">What it did.</param>
    /// <param name="traceParent">W3C trace context of the caller; null: none.</param>
    /// <param name="traceState">What goes along with it; null: nothing.</param>
    void Traced(TraceView trace, string? traceParent, string? traceState);

    /// <summary>A transaction is answered.</summary>
    /// <param name="pact">PACT or ACT.</param>
    /// <param name="reason">Why it is aborted; null: it is committed.</param>
    /// <param name="duration">From its arrival on.</param>
    void Ended(bool pact, string? reason, TimeSpan duration);
}
