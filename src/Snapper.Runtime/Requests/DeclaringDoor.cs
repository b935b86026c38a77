using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;

namespace Snapper.Runtime.Requests;

/// <summary>
/// The door as callers see it: what a request leaves open, its root's method declares, once, where it comes in.
/// Thread-safe.
/// </summary>
internal sealed class DeclaringDoor : ITransactionService, IDisposable
{
    private readonly ITransactionService _inner;
    private readonly Worker _worker;
    private readonly Declarations _declarations;
    private readonly DeclarationThread? _thread;

    public DeclaringDoor(ITransactionService inner, Worker worker)
    {
        _inner = inner;
        _worker = worker;
        _declarations = new Declarations(worker.Options.TenantsApart);
        _thread = worker.Background.HasThreads ? new DeclarationThread(worker, _declarations) : null;
    }

    /// <summary>Threads that were given up in declarations, and have not come back.</summary>
    public int Disowned => _thread?.Disowned ?? 0;

    public Task<TransactionEnvelope> Submit(TransactionRequest request, CancellationToken cancellation)
    {
        if (request.AccessSource != AccessSource.Open
            || _worker.FindType(request.Actor.Type)?.Find(request.Method) is not { Declares: true } method)
        {
            return _inner.Submit(request, cancellation);
        }

        return method.Method.DeclarationIsBounded || _thread is null
            ? Enter(_declarations.Of(request, method), cancellation)
            : EnterLater(_thread.Declare(request, method), cancellation);
    }

    public Task<TransactionEnvelope?> Find(string id, CancellationToken cancellation) => _inner.Find(id, cancellation);

    public void Dispose() => _thread?.Dispose();

    private async Task<TransactionEnvelope> EnterLater(
        Task<TransactionRequest> declared, CancellationToken cancellation) =>
        await Enter(await declared.ConfigureAwait(false), cancellation).ConfigureAwait(false);

    // What is forbidden is said at the door, and nowhere else.
    private Task<TransactionEnvelope> Enter(TransactionRequest declared, CancellationToken cancellation) =>
        declared.Undeclared is not { Kind: RejectionKind.Forbidden } forbidden
            ? _inner.Submit(declared, cancellation)
            : Task.FromResult(new TransactionEnvelope
            {
                Id = declared.Id ?? string.Empty,
                Outcome = Outcome.Rejected,
                Mode = declared.Mode,
                Rejection = forbidden,
            });
}
