using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;

namespace Snapper.Runtime.Execution;

/// <summary>The requests of a worker, as those need them that execute them. Thread-safe.</summary>
public interface IRequestManager : ITransactionService
{
    /// <summary>Requests under way.</summary>
    int InFlight { get; }

    /// <summary>Ids of requests whose outcomes are known.</summary>
    long KeptIds { get; }

    List<Request> UnderWay();

    /// <summary>A PACT was dropped before it was numbered.</summary>
    void Dropped(Request request, AbortReason reason);

    /// <summary>The last word on a request. Only the first call counts.</summary>
    void Answer(Request request, TransactionEnvelope envelope);

    /// <summary>The deadline passed after the root had ended: the outcome is on its way, but not known.</summary>
    void InDoubt(Request request);

    /// <summary>
    /// Whether the outcome of a request that needs no record is recorded all the same (I3): its caller was answered in
    /// doubt, and knows its generated id. Not where another sending of that id decides, nor where another worker does.
    /// </summary>
    bool IsRecordedLate(Request request);

    /// <summary>
    /// A request that has not been executed here follows its root to another worker, which keeps its id from now on.
    /// </summary>
    void Release(Request request);

    /// <summary>Another worker has run a request that began here: its root has moved.</summary>
    void AnswerFromElsewhere(Request request, TransactionEnvelope envelope);

    /// <summary>Answers all requests under way; the worker has ended.</summary>
    void GiveUpAll();

    /// <summary>Forgets outcomes that were known before then.</summary>
    /// <param name="before">A timestamp of the worker's clock.</param>
    void Forget(long before);
}
