using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Execution;

/// <summary>A call with the types of its method.</summary>
public sealed class CallFrame<TInput, TResult> : CallFrame
{
    private static readonly Action<Task, object?> s_postReturned = static (_, frame) => ((CallFrame<TInput, TResult>)frame!).PostReturned();

    private readonly TInput _input;
    private readonly RootMethod<TInput, TResult>? _method;
    private TaskCompletionSource<TResult>? _promise;
    private Task? _running;
    private TResult _result = default!;

    public CallFrame(Attempt attempt, ActorCell cell, RootMethod<TInput, TResult> method, TInput input)
        : base(attempt, cell, cell.Key, caller: null, method.Name)
    {
        _method = method;
        _input = input;
    }

    /// <summary>A call of an actor of this worker.</summary>
    /// <param name="attempt">Its attempt.</param>
    /// <param name="target">The actor.</param>
    /// <param name="caller">The call whose method makes it.</param>
    /// <param name="key">Names the method.</param>
    /// <param name="method">The method; null: the actor has none with this name, input and result.</param>
    /// <param name="input">The input, a value.</param>
    public CallFrame(
        Attempt attempt,
        ActorKey target,
        CallFrame caller,
        ActorMethodKey key,
        RootMethod<TInput, TResult>? method,
        TInput input)
        : base(attempt, null, target, caller, key.Name)
    {
        _method = method;
        _input = input;
        CopiesResult = typeof(TResult) != typeof(Nothing) && !key.ResultIsImmutable;
    }

    /// <summary>A call of an actor of another worker.</summary>
    public CallFrame(
        Attempt attempt, ActorKey target, RemoteCaller caller, RootMethod<TInput, TResult> method, TInput input)
        : base(attempt, target, caller, method.Name)
    {
        _method = method;
        _input = input;
    }

    /// <summary>
    /// The caller's task. When the method has returned at once: its own, or one with the copy of its result. Else one
    /// that <see cref="Deliver"/> completes.
    /// </summary>
    public Task TaskForCaller()
    {
        if (HasEnded)
        {
            return CopiesResult ? Task.FromResult(_result) : _running!;
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

    // Its own: what the method threw may hold objects of its actor.
    private TransactionDoomedException AbortRequested()
    {
        var why = Attempt.AbortCause ?? Failure!;
        return new TransactionDoomedException(why.Reason, why.Message, why.Actor);
    }

    public override string? TryEncodeResult(int limit, out byte[] json) =>
        _method!.TryEncodeResult(_result, Target, limit, out json);

    protected override bool ReplacesDamage => typeof(TInput) == typeof(StateReplacement) && ((StateReplacement)(object)_input!).OverDamage;

    public override bool IsReadOnly => _method!.Method.ReadOnly;

    protected override Task Start()
    {
        var cell = Cell!;
        if (_method is null)
        {
            throw new InvalidOperationException(cell.Type.Find(MethodName) is null
                ? $"{cell.Type.Name} has no method {MethodName}."
                : $"{cell.Type.Name}.{MethodName} has another input or result than the interface it was called by.");
        }

        TransactionalActor actor = typeof(TInput) == typeof(StateReplacement) ? new StateHolder()
            : typeof(TResult) == typeof(StateSeen) || typeof(TResult) == typeof(StatesSeen) ? new StateReader()
            : cell.Type.Descriptor.Create(cell.Executor.Services);
        actor.Enter(this);
        return _running = _method.Typed.Run(actor, Input())
            ?? throw new InvalidOperationException($"{Where()} returned no task.");
    }

    // What an earlier attempt has kept or changed of a root's input is not this attempt's: it reads the input anew.
    private TInput Input() =>
        IsRoot && Attempt.Request.Attempts > 1 && !_method!.Typed.InputIsImmutable
        && typeof(TInput) != typeof(Nothing) && typeof(TInput) != typeof(StateReplacement)
            ? (TInput)_method.ParseInput(Attempt.Request.Asked.Input.Span)!
            : _input;

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

    protected override string? CopyResult() =>
        TryEncodeResult(int.MaxValue, out var json) ?? _method!.TryDecodeResult(json, Target, out _result);

    /// <summary>The method, which had not returned at once, has returned; on its executor.</summary>
    public override void Returned() => OnReturned(_running!);

    private void PostReturned() => Cell!.Executor.PostReturned(this);
}
