using System.Collections.Concurrent;
using System.Text;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;

namespace Snapper.Server.Tests.Api;

/// <summary>A door that notes what enters and answers what the test says; by default everything commits.</summary>
internal sealed class FakeTransactionService : ITransactionService
{
    private int _submitted;

    public ConcurrentQueue<TransactionRequest> Requests { get; } = new();

    public Func<TransactionRequest, CancellationToken, Task<TransactionEnvelope>> OnSubmit { get; set; } =
        (request, _) => Task.FromResult(Committed(request));

    public Func<string, TransactionEnvelope?> OnFind { get; set; } = _ => null;

    public int Submitted => _submitted;

    public bool Keep { get; set; } = true;

    public static FakeTransactionService Answering(Func<TransactionRequest, TransactionEnvelope> answer) =>
        new() { OnSubmit = (request, _) => Task.FromResult(answer(request)) };

    public static FakeTransactionService Rejecting(RejectionKind kind, TimeSpan? retryAfter = null) => Answering(request => new TransactionEnvelope
    {
        Id = request.Id ?? "g-1",
        Outcome = Outcome.Rejected,
        Mode = request.Mode,
        Rejection = new Rejection(kind, "because", retryAfter),
    });

    public static FakeTransactionService Aborting(AbortReason reason, bool retryable = false) => Answering(request => new TransactionEnvelope
    {
        Id = request.Id ?? "g-1",
        Outcome = Outcome.Aborted,
        Mode = request.Mode,
        Transaction = 7,
        Attempts = 2,
        Abort = new AbortDetails(reason, "insufficient funds", retryable, new ActorKey("Account", "bob")),
    });

    public static TransactionEnvelope Committed(TransactionRequest request) => new()
    {
        Id = request.Id ?? "g-1",
        Outcome = Outcome.Committed,
        Mode = request.Mode,
        Transaction = 9137,
        Batch = 9120,
        Attempts = 1,
        Result = Encoding.UTF8.GetBytes("{\"left\":90}"),
    };

    public Task<TransactionEnvelope> Submit(TransactionRequest request, CancellationToken cancellation)
    {
        Interlocked.Increment(ref _submitted);
        if (Keep)
        {
            Requests.Enqueue(request);
        }

        return OnSubmit(request, cancellation);
    }

    public Task<TransactionEnvelope?> Find(string id, CancellationToken cancellation) => Task.FromResult(OnFind(id));
}
