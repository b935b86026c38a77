using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Locking;
using Snapper.Protocol.Scheduling;
using Snapper.Runtime.Hosting;

namespace Snapper.Runtime.Execution;

/// <summary>
/// One method call on an actor: what the schedule sees of it (<see cref="IActorCall"/>) and what user code sees
/// (<see cref="ActorContext"/>). It ends when its method has returned and all calls under it have (A2).
/// </summary>
internal abstract class CallFrame : ActorContext, IActorCall
{
    private int _children;
    private bool _returned;
    private bool _waitsForItsOwn;
    private TaskCompletionSource<object?>? _lock;
    private LockMode _lockMode;

    protected CallFrame(Attempt attempt, ActorCell? cell, ActorKey target, CallFrame? caller, string method)
    {
        Attempt = attempt;
        Cell = cell;
        Target = target;
        CallerFrame = caller;
        MethodName = method;
        Depth = caller is null ? 1 : caller.Depth + 1;
        Synchronization = new FrameSynchronization(this);
    }

    /// <summary>Brings its continuations back to its executor, and tells whose they are (W5).</summary>
    public FrameSynchronization Synchronization { get; }

    public Attempt Attempt { get; }

    /// <summary>The actor's cell; set by its executor when the call arrives from another one.</summary>
    public ActorCell? Cell { get; set; }

    public ActorKey Target { get; }

    public CallFrame? CallerFrame { get; }

    public string MethodName { get; }

    /// <summary>Calls above it, itself included.</summary>
    public int Depth { get; }

    public bool HasEnded { get; private set; }

    /// <summary>It runs on the stack of its caller, who looks at the result itself.</summary>
    public bool RunsInline { get; set; }

    /// <summary>It left its attempt's count of waiting branches pending (W4).</summary>
    public bool IsWaiting { get; private set; }

    // ---- IActorCall

    public TransactionId Tid => Attempt.Tid;

    public BatchId Bid => Attempt.Bid;

    public TransactionId Age => Attempt.Age;

    public bool IsAlive => Attempt.IsAlive;

    public BatchId Ceil { get => Attempt.Ceil; set => Attempt.Ceil = value; }

    IActorCall? IActorCall.Caller => CallerFrame;

    public IActorCall? Below { get; set; }

    public Visit? Visit { get; set; }

    // ---- ActorContext

    public override ActorKey Actor => Target;

    public override TransactionId Transaction => Attempt.Tid;

    public override string RequestId => Attempt.Request.Id;

    public override string? Caller => Attempt.Request.Asked.Caller;

    public override string? TraceParent => Attempt.Request.Asked.TraceParent;

    public override DateTimeOffset UtcNow => Attempt.StartedAt;

    private Executor Executor => Cell!.Executor;

    /// <summary>Runs the user code on its executor.</summary>
    public void Run()
    {
        _waitsForItsOwn = false;
        StopWaiting();
        if (!IsAlive || Visit is { IsOver: true })
        {
            return; // removed or aborted before it began: it has no caller to tell
        }

        var executor = Executor;
        var outer = executor.BeginUserCode(this);
        Task? task = null;
        Exception? failure = null;
        try
        {
            task = Start();
        }
        catch (Exception exception) when (exception is not DisownedException)
        {
            failure = exception;
        }

        executor.EndUserCode(outer);
        if (failure is not null)
        {
            Fail(failure);
        }
        else if (task!.IsCompleted)
        {
            OnReturned(task);
        }
        else
        {
            Await(task);
        }
    }

    /// <summary>A call that this one made has ended.</summary>
    public void ChildEnded()
    {
        _children--;
        TryEnd();
    }

    public void ChildStarted() => _children++;

    /// <summary>The result goes to the caller's task; on the caller's executor.</summary>
    public abstract void Deliver();

    /// <summary>The result as JSON; only of a root that has ended.</summary>
    public abstract byte[] EncodeResult(Types.RootMethod method);

    public override Guid NewGuid()
    {
        var executor = Demand();
        try
        {
            return executor.NewGuid();
        }
        finally
        {
            executor.LeaveRuntime();
        }
    }

    public override ValueTask<object?> ReadState()
    {
        var executor = Demand();
        try
        {
            return Attempt.IsPact ? new ValueTask<object?>(executor.Machine(Cell!).Read(this)) : ReadLocked(LockMode.Shared);
        }
        finally
        {
            executor.LeaveRuntime();
        }
    }

    public override ValueTask<object?> ReadStateForUpdate()
    {
        var executor = Demand();
        try
        {
            return Attempt.IsPact ? new ValueTask<object?>(OwnState()) : ReadLocked(LockMode.Exclusive);
        }
        finally
        {
            executor.LeaveRuntime();
        }
    }

    public override void WriteState(object state)
    {
        var executor = Demand();
        try
        {
            if (Visit is ActVisit { Held: not LockMode.Exclusive })
            {
                throw new InvalidOperationException($"{Where()}: State.Set in an ACT needs State.ForUpdate first.");
            }

            executor.Machine(Cell!).Write(this, state);
            Attempt.NoteWrite();
        }
        finally
        {
            executor.LeaveRuntime();
        }
    }

    public override Task<TResult> Call<TInput, TResult>(string actorType, string actorId, ActorMethodKey method, TInput input)
    {
        var task = StartCall<TInput, TResult>(actorType, actorId, method, input);
        return (Task<TResult>)task;
    }

    public override Task CallVoid<TInput>(string actorType, string actorId, ActorMethodKey method, TInput input) =>
        StartCall<TInput, Nothing>(actorType, actorId, method, input);

    /// <summary>The lock that it waited for is held.</summary>
    public void LockGranted()
    {
        var waiting = _lock;
        if (waiting is null || !IsAlive || Visit is { IsOver: true })
        {
            return;
        }

        _lock = null;
        StopWaiting();
        var executor = Executor;
        // Another executor may doom the attempt at any moment: nothing here may rely on its being alive.
        var state = executor.Machine(Cell!).Peek();
        if (_lockMode == LockMode.Exclusive && state is not null && !Cell!.Type.Descriptor.StateIsImmutable && !Visit!.Wrote)
        {
            state = Cell.Type.Copy(state);
            if (!executor.Machine(Cell).TryWrite(this, state))
            {
                return;
            }

            Attempt.NoteWrite();
        }

        var outer = executor.BeginUserCode(this);
        waiting.SetResult(state);
        executor.EndUserCode(outer);
    }

    /// <summary>The branch waits for a turn, a lock or a load.</summary>
    public void StartWaiting()
    {
        if (!IsWaiting && !_waitsForItsOwn)
        {
            IsWaiting = true;
            Attempt.BranchWaits();
        }
    }

    /// <inheritdoc/>
    void IActorCall.WaitsForItsOwn()
    {
        _waitsForItsOwn = true;
        StopWaiting();
    }

    public void StopWaiting()
    {
        if (IsWaiting)
        {
            IsWaiting = false;
            Attempt.BranchGoesOn();
        }
    }

    /// <summary>An exception left the method, or a call was refused: the transaction is doomed even if somebody catches it (A10).</summary>
    public void Fail(Exception exception)
    {
        var why = exception switch
        {
            TransactionAbortException abort => new AbortInfo(AbortReason.Application, abort.Message, Target),
            // Only an undo removes an ACT; user code that kept an old exception does not.
            TransactionDoomedException { Reason: AbortReason.Undone } undone when !Attempt.IsPact => new AbortInfo(AbortReason.Application, undone.Message, Target),
            TransactionDoomedException doomed => new AbortInfo(doomed.Reason, doomed.Message, doomed.Actor),
            _ => new AbortInfo(AbortReason.Application, $"{Where()} threw {exception.GetType().Name}: {exception.Message}", Target),
        };
        Failure = exception;
        Attempt.RootExecutor.Doom(Attempt, why);
        if (CallerFrame is not null)
        {
            Worker.PostResult(this);
        }
    }

    /// <summary>What left the method; null: nothing.</summary>
    protected Exception? Failure { get; private set; }

    public string Where() => $"{Target}.{MethodName}";

    /// <summary>The method, which had not returned at once, has returned; on its executor.</summary>
    public abstract void Returned();

    /// <summary>Starts the typed method. May throw what user code throws.</summary>
    protected abstract Task Start();

    protected abstract void Await(Task task);

    protected abstract void TakeResult(Task task);

    /// <summary>The method's task is complete; on the actor's executor.</summary>
    protected void OnReturned(Task task)
    {
        if (!IsAlive)
        {
            _ = task.Exception; // its end counts for nothing; looked at, so that it is not reported as unobserved
            return;
        }

        if (!task.IsCompletedSuccessfully)
        {
            Fail(task.Exception?.InnerException ?? new TaskCanceledException(task));
            return;
        }

        TakeResult(task);
        _returned = true;
        TryEnd();
    }

    private void TryEnd()
    {
        if (_returned && _children == 0 && !HasEnded && IsAlive)
        {
            HasEnded = true;
            Executor.FrameEnded(this);
        }
    }

    private Task StartCall<TInput, TResult>(string actorType, string actorId, ActorMethodKey method, TInput input)
    {
        var executor = Demand();
        try
        {
            if (_returned)
            {
                throw new InvalidOperationException($"{Where()} has returned; its context makes no more calls.");
            }

            return executor.StartCall<TInput, TResult>(this, actorType, actorId, method, input);
        }
        finally
        {
            executor.LeaveRuntime();
        }
    }

    private ValueTask<object?> ReadLocked(LockMode mode)
    {
        var executor = Executor;
        switch (executor.AskLock(Cell!, this, mode, out var blocker))
        {
            case LockAnswer.Granted:
                return new ValueTask<object?>(mode == LockMode.Exclusive ? OwnState() : executor.Machine(Cell!).Read(this));
            case LockAnswer.Waiting:
                if (_lock is not null)
                {
                    throw new InvalidOperationException($"{Where()} asks for its state again before the first answer is here.");
                }

                _lock = new TaskCompletionSource<object?>();
                _lockMode = mode;
                StartWaiting();
                return new ValueTask<object?>(_lock.Task);
            default:
                var why = new AbortInfo(AbortReason.Conflict, $"{Target} is locked by an older transaction.", Target, blocker.Value);
                executor.Doom(Attempt, why);
                throw new TransactionDoomedException(why.Reason, why.Message, Target);
        }
    }

    /// <summary>The state to change: itself when it is immutable, else a copy of this attempt's own (A8).</summary>
    private object? OwnState()
    {
        var machine = Executor.Machine(Cell!);
        var state = machine.Read(this);
        if (state is null || Cell!.Type.Descriptor.StateIsImmutable || Visit!.Wrote)
        {
            return state;
        }

        var copy = Cell.Type.Copy(state);
        machine.Write(this, copy);
        Attempt.NoteWrite();
        return copy;
    }

    /// <summary>Checks that user code may use its context, and enters the runtime; the caller leaves it again.</summary>
    private Executor Demand()
    {
        var executor = Executor;
        if (!executor.IsCurrent)
        {
            throw new TransactionDoomedException(
                AbortReason.Application, $"{Where()} used its context from a thread that is not its actor's.", Target);
        }

        if (!Attempt.IsAlive || HasEnded || Visit is null or { IsOver: true })
        {
            var doom = Attempt.Doom;
            throw new TransactionDoomedException(
                doom?.Reason ?? AbortReason.Undone, doom?.Message ?? $"{Where()} used its context after its transaction had ended.", doom?.Actor);
        }

        if (Cell!.Broken is { } broken)
        {
            throw new TransactionDoomedException(AbortReason.Failure, broken, Target);
        }

        executor.EnterRuntime();
        return executor;
    }
}
