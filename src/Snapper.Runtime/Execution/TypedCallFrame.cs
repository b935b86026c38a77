using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Cluster.Branches;
using Snapper.Runtime.Types;

namespace Snapper.Runtime.Execution;

/// <summary>A call with the types of its method.</summary>
internal sealed class CallFrame<TInput, TResult> : CallFrame
{
    private static readonly Action<Task, object?> s_postReturned = static (_, frame) => ((CallFrame<TInput, TResult>)frame!).PostReturned();

    private readonly TInput _input;
    private ActorMethod<TInput, TResult>? _method;
    private TaskCompletionSource<TResult>? _promise;
    private Task? _running;
    private TResult _result = default!;

    /// <summary>A call whose actor is on this executor.</summary>
    public CallFrame(Attempt attempt, ActorCell cell, CallFrame? caller, ActorMethod<TInput, TResult> method, TInput input)
        : base(attempt, cell, cell.Key, caller, method.Name)
    {
        _method = method;
        _input = input;
    }

    /// <summary>A call whose actor is on another executor.</summary>
    public CallFrame(Attempt attempt, ActorKey target, CallFrame caller, string method, TInput input)
        : base(attempt, null, target, caller, method) => _input = input;

    /// <summary>A call of an actor of another worker.</summary>
    public CallFrame(Attempt attempt, ActorKey target, RemoteCaller caller, ActorMethod<TInput, TResult> method, TInput input)
        : base(attempt, target, caller, method.Name)
    {
        _method = method;
        _input = input;
    }

    /// <summary>The caller's task: the method's own when it has returned at once, else one that <see cref="Deliver"/> completes.</summary>
    public Task TaskForCaller()
    {
        if (HasEnded)
        {
            return _running!;
        }

        if (Failure is not null)
        {
            return Task.FromException<TResult>(AbortRequested());
        }

        _promise ??= new TaskCompletionSource<TResult>();
        return _promise.Task;
    }

    public override void Deliver()
    {
        if (_promise is null)
        {
            return;
        }

        if (Failure is null)
        {
            _promise.TrySetResult(_result);
        }
        else if (_promise.TrySetException(AbortRequested()))
        {
            _ = _promise.Task.Exception; // looked at: a caller that does not await it is no error of its own (A10)
        }
    }

    private TransactionDoomedException AbortRequested() => Failure as TransactionDoomedException
        ?? new TransactionDoomedException(
            Attempt.AbortCause?.Reason ?? Snapper.Protocol.Messages.AbortReason.Application, Attempt.AbortCause?.Message ?? Failure!.Message, Attempt.AbortCause?.Actor);

    public override byte[] EncodeResult(RootMethod method, int limit) => ((RootMethod<TInput, TResult>)method).EncodeResult(_result, limit);

    protected override bool ReplacesDamage => typeof(TInput) == typeof(StateReplacement) && ((StateReplacement)(object)_input!).OverDamage;

    public override bool IsReadOnly => _method!.ReadOnly;

    protected override Task Start()
    {
        var cell = Cell!;
        _method ??= cell.Type.Find(MethodName) switch
        {
            RootMethod<TInput, TResult> found => found.Typed,
            null => throw new InvalidOperationException($"{cell.Type.Name} has no method {MethodName}."),
            _ => throw new InvalidOperationException($"{cell.Type.Name}.{MethodName} has another input or result than the interface it was called by."),
        };
        var actor = typeof(TInput) == typeof(StateReplacement) ? new StateHolder() : cell.Type.Descriptor.Create(cell.Executor.Services);
        actor.Enter(this);
        return _running = _method.Run(actor, _input) ?? throw new InvalidOperationException($"{Where()} returned no task.");
    }

    // Whoever completes the task, a pool thread or user code, the end of the call is a turn of its own on its executor. Not an
    // awaiter: user code completes it under its own synchronization context, and an awaiter would hop to the pool then.
    protected override void Await(Task task) =>
        task.ContinueWith(s_postReturned, this, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);

    protected override void TakeResult(Task task)
    {
        if (typeof(TResult) == typeof(Nothing))
        {
            return;
        }

        _result = task is Task<TResult> typed
            ? typed.Result
            : throw new InvalidOperationException($"{Where()} returned a task without its result.");
    }

    /// <summary>The method, which had not returned at once, has returned; on its executor.</summary>
    public override void Returned() => OnReturned(_running!);

    private void PostReturned() => Cell!.Executor.PostReturned(this);
}
