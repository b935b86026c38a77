using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;

namespace Snapper.Runtime.Execution;

/// <summary>What user code may know and do (<see cref="ActorContext"/>).</summary>
public abstract partial class CallFrame
{
    public override ActorKey Actor => Target;

    public override TransactionId Transaction => Attempt.Tid;

    public override string RequestId => Attempt.Request.Id;

    public override string? Caller => Attempt.Request.Asked.Caller;

    public override string? TraceParent => Attempt.Request.Asked.TraceParent;

    public override DateTimeOffset UtcNow => Attempt.StartedAt;

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

    public override Task Delay(TimeSpan delay)
    {
        var executor = Demand();
        try
        {
            return Task.Delay(delay, executor.Worker.Time);
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
            return Attempt.IsPact ? new ValueTask<object?>(Seen(executor)) : ReadLocked(LockMode.Shared);
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
            RequireMayWrite(executor);
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
            RequireMayWrite(executor);
            ArgumentNullException.ThrowIfNull(state); // it would be stored, and found damaged when it is loaded
            if (Visit is ActScheduleEntry { Held: not LockMode.Exclusive })
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

    /// <summary>Version of the state that it sees (L7), in its turn.</summary>
    internal long VersionSeen() => Executor.Machine(Cell!).VersionSeenBy(Visit!);

    private ValueTask<object?> ReadLocked(LockMode mode)
    {
        var executor = Executor;
        switch (executor.AskLock(Cell!, this, mode, out var blocker))
        {
            case LockAnswer.Granted:
                return new ValueTask<object?>(mode == LockMode.Exclusive ? OwnState() : Seen(executor));
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
                executor.RequestAbort(Attempt, why);
                throw new TransactionDoomedException(why.Reason, why.Message, Target);
        }
    }

    private void RequireMayWrite(Executor executor)
    {
        if (IsReadOnly)
        {
            throw executor.AbortCall(this, AbortReason.Application, Target, $"{Where()} is marked [ReadOnlyMethod] and asks to change its state.");
        }
    }

    private object? Seen(Executor executor) => AbsentState.Seen(executor.Machine(Cell!).Read(this));

    /// <summary>Ends the attempt: what it would see cannot be read.</summary>
    private TransactionDoomedException Unreadable(Executor executor, DamagedState damage)
    {
        // Trying again would not help against a newer version, and the caller is told so; damage may be mended.
        var reason = damage.Newer is null ? AbortReason.Failure : AbortReason.Application;
        executor.RequestAbort(Attempt, new AbortInfo(reason, damage.Why, Target) { Code = damage.Newer?.Code });
        return new TransactionDoomedException(reason, damage.Why, Target);
    }

    /// <summary>The state to change: itself when it is immutable, else a copy of this attempt's own (A8).</summary>
    private object? OwnState()
    {
        var machine = Executor.Machine(Cell!);
        var state = AbsentState.Seen(machine.Read(this));
        if (state is null or DamagedState || Cell!.Type.Descriptor.StateIsImmutable || Visit!.Wrote)
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
            if (Attempt is { IsAlive: true, IsPact: true } && Visit is { IsOver: true } && !HasEnded)
            {
                // A5: removed here by an undo whose news has not reached the root yet.
                executor.RequestAbort(Attempt, AbortInfo.Removed);
            }

            var doom = Attempt.AbortCause;
            throw new TransactionDoomedException(
                doom?.Reason ?? AbortReason.Undone, doom?.Message ?? $"{Where()} used its context after its transaction had ended.", doom?.Actor);
        }

        if (Cell!.Machine?.Peek() is DamagedState damage && !ReplacesDamage)
        {
            throw Unreadable(executor, damage);
        }

        executor.EnterRuntime();
        return executor;
    }
}
