using Snapper.Actors;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Execution;

namespace Snapper.Cluster.Branches;

/// <summary>A call of this worker to an actor of another one, from its sending to its result. Used by its caller's executor alone, once it is registered.</summary>
internal abstract class RemoteCall(CallFrame caller, long id, Incarnation to, ActorKey target, string method)
    : IRemoteCall
{
    public CallFrame Caller { get; } = caller;

    /// <summary>Names it on this worker; in the chain of calls under it, too.</summary>
    public long Id { get; } = id;

    /// <summary>The worker that runs it.</summary>
    public Incarnation To { get; } = to;

    public ActorKey Target { get; } = target;

    public string MethodName { get; } = method;

    /// <summary>Its place in the attempt's trace; -1: it has none.</summary>
    public int TraceIndex { get; } = caller.Attempt.Trace?.Asked(target, method, caller.TraceIndex, Incarnation.NameOf(to.Worker)) ?? -1;

    /// <summary>What the caller awaits.</summary>
    public abstract Task Promise { get; }

    public void OnResult(Executor executor, object result)
    {
        var said = (ResultMessage)result;
        var attempt = Caller.Attempt;
        attempt.BranchGoesOn();
        attempt.Trace?.Ended(TraceIndex);
        foreach (var visited in said.Visited)
        {
            if (visited != executor.Worker.Peers.Self)
            {
                attempt.TryAddVisited(visited);
            }
        }

        var shown = said;
        if (said.Failure is { } failure)
        {
            executor.RequestAbort(attempt, RemoteCalls.InfoOf(failure));
        }
        else if (Read(said) is { } unreadable)
        {
            shown = said with { Failure = new BranchFailure(AbortReason.Application, unreadable, Target, 0) };
            executor.RequestAbort(attempt, RemoteCalls.InfoOf(shown.Failure));
        }

        var outer = executor.BeginUserCode(Caller);
        Deliver(shown);
        executor.EndUserCode(outer);
        if (shown.Failure is null)
        {
            Caller.ChildEnded(said.Calls);
        }
    }

    /// <summary>The result goes to the caller's task; on the caller's executor, inside its user code.</summary>
    protected abstract void Deliver(ResultMessage result);

    /// <summary>Checks that a result fits before user code is entered.</summary>
    /// <returns>Null, or why it does not.</returns>
    protected abstract string? Read(ResultMessage result);
}

internal sealed class RemoteCall<TInput, TResult>(CallFrame caller, long id, Incarnation to, ActorKey target, RootMethod<TInput, TResult> method)
    : RemoteCall(caller, id, to, target, method.Name)
{
    private readonly TaskCompletionSource<TResult> _promise = new();
    private TResult _result = default!;

    public override Task Promise => _promise.Task;

    protected override string? Read(ResultMessage result) =>
        result.Failure is null ? method.TryDecodeResult(result.Result, Target, out _result) : null;

    protected override void Deliver(ResultMessage result)
    {
        if (result.Failure is not { } failure)
        {
            _promise.TrySetResult(_result);
        }
        else if (_promise.TrySetException(new TransactionDoomedException(failure.Reason, failure.Message, failure.Actor)))
        {
            _ = _promise.Task.Exception; // looked at: a caller that does not await it is no error of its own (A10)
        }
    }
}
