using Snapper.Actors;
using Snapper.Client.Messages;
using Snapper.Protocol.Identity;

namespace Snapper.Client.Calls;

/// <summary>
/// An actor as the root of transactions. The lambda names the one method to run, with its input:
/// <c>await snapper.Actor&lt;IAccount&gt;("alice").Act(a => a.Transfer(new("bob", 10)))</c>.
/// </summary>
/// <remarks>
/// All calls throw <see cref="TransactionAbortedException"/>, <see cref="TransactionInDoubtException"/>,
/// <see cref="TransactionRejectedException"/>, <see cref="InvalidOperationException"/> when the lambda is anything but one
/// call, and <see cref="OperationCanceledException"/>, after which the transaction may still commit.
/// </remarks>
public readonly struct ActorClient<TActor>
    where TActor : class, ITransactionalActor
{
    private readonly ISnapperClient _client;
    private readonly string _type;
    private readonly string _id;

    internal ActorClient(ISnapperClient client, string type, string id)
    {
        _client = client;
        _type = type;
        _id = id;
    }

    /// <summary>The actor's name.</summary>
    public ActorKey Key => new(_type, _id);

    /// <summary>Runs a method as a PACT over the declared actors.</summary>
    /// <param name="call">Calls the root's method, once.</param>
    /// <param name="touches">Adds the other actors, and calls back to the root; null: only the root.</param>
    /// <param name="options">Null: the client's.</param>
    /// <param name="cancellation">Ends the wait, not the transaction.</param>
    public async Task<TResult> Pact<TResult>(
        Func<TActor, Task<TResult>> call, Action<Touches>? touches = null, CallOptions? options = null, CancellationToken cancellation = default)
    {
        var json = (_client as SnapperClient)?.Json;
        var reply = await Submit(call, TransactionMode.Pact, touches, options, cancellation).ConfigureAwait(false);
        return reply.ResultAs<TResult>(json);
    }

    /// <summary>Runs a method without result as a PACT over the declared actors.</summary>
    /// <param name="call">Calls the root's method, once.</param>
    /// <param name="touches">Adds the other actors, and calls back to the root; null: only the root.</param>
    /// <param name="options">Null: the client's.</param>
    /// <param name="cancellation">Ends the wait, not the transaction.</param>
    public async Task Pact(
        Func<TActor, Task> call, Action<Touches>? touches = null, CallOptions? options = null, CancellationToken cancellation = default)
    {
        var reply = await Submit(call, TransactionMode.Pact, touches, options, cancellation).ConfigureAwait(false);
        reply.EnsureCommitted();
    }

    /// <summary>
    /// Runs a method as it declares: a PACT over the actors that it names, or an ACT when it declares nothing.
    /// </summary>
    /// <param name="call">Calls the root's method, once.</param>
    /// <param name="options">Null: the client's.</param>
    /// <param name="cancellation">Ends the wait, not the transaction.</param>
    public async Task<TResult> Run<TResult>(
        Func<TActor, Task<TResult>> call, CallOptions? options = null, CancellationToken cancellation = default)
    {
        var json = (_client as SnapperClient)?.Json;
        var reply = await Submit(call, TransactionMode.AsDeclared, null, options, cancellation).ConfigureAwait(false);
        return reply.ResultAs<TResult>(json);
    }

    /// <summary>
    /// Runs a method without result as it declares: a PACT over the actors that it names, or an ACT when it declares
    /// nothing.
    /// </summary>
    /// <param name="call">Calls the root's method, once.</param>
    /// <param name="options">Null: the client's.</param>
    /// <param name="cancellation">Ends the wait, not the transaction.</param>
    public async Task Run(
        Func<TActor, Task> call, CallOptions? options = null, CancellationToken cancellation = default)
    {
        var reply = await Submit(call, TransactionMode.AsDeclared, null, options, cancellation).ConfigureAwait(false);
        reply.EnsureCommitted();
    }

    /// <summary>Runs a method as an ACT.</summary>
    /// <param name="call">Calls the root's method, once.</param>
    /// <param name="options">Null: the client's.</param>
    /// <param name="cancellation">Ends the wait, not the transaction.</param>
    public async Task<TResult> Act<TResult>(
        Func<TActor, Task<TResult>> call, CallOptions? options = null, CancellationToken cancellation = default)
    {
        var json = (_client as SnapperClient)?.Json;
        var reply = await Submit(call, TransactionMode.Act, null, options, cancellation).ConfigureAwait(false);
        return reply.ResultAs<TResult>(json);
    }

    /// <summary>Runs a method without result as an ACT.</summary>
    /// <param name="call">Calls the root's method, once.</param>
    /// <param name="options">Null: the client's.</param>
    /// <param name="cancellation">Ends the wait, not the transaction.</param>
    public async Task Act(Func<TActor, Task> call, CallOptions? options = null, CancellationToken cancellation = default)
    {
        var reply = await Submit(call, TransactionMode.Act, null, options, cancellation).ConfigureAwait(false);
        reply.EnsureCommitted();
    }

    private Task<TransactionReply> Submit(
        Func<TActor, Task> call, TransactionMode mode, Action<Touches>? touches, CallOptions? options,
        CancellationToken cancellation) => _client is SnapperClient own
        ? own.Run(_type, _id, call, mode, touches, options, cancellation)
        : _client.Submit(UntypedCall.Of(_type, _id, call, mode, touches, options), cancellation);
}
