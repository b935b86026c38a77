using Snapper.Actors;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;
using Snapper.Runtime.Inspection.Watching;
using Snapper.Runtime.Json;

namespace Snapper.Runtime.Execution;

/// <summary>
/// One method call on an actor: what the schedule sees of it (<see cref="IActorCall"/>) and what user code sees
/// (<see cref="ActorContext"/>). It ends when its method has returned and all calls under it have (A2).
/// </summary>
public abstract partial class CallFrame : ActorContext, IWatchedCall
{
    private const int MaxTurnsAfterEnd = 1000;

    private int _children;
    private int _turnsAfterEnd;
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
        TraceIndex = attempt.Trace?.Asked(target, method, caller?.TraceIndex ?? -1) ?? -1;
    }

    protected CallFrame(Attempt attempt, ActorKey target, RemoteCaller caller, string method)
    {
        Attempt = attempt;
        Target = target;
        Remote = caller;
        MethodName = method;
        Depth = caller.Depth;
        Synchronization = new FrameSynchronization(this);
        TraceIndex = attempt.Trace?.Asked(target, method, -1) ?? -1;
    }

    /// <summary>Brings its continuations back to its executor, and tells whose they are (W5).</summary>
    public FrameSynchronization Synchronization { get; }

    public Attempt Attempt { get; }

    /// <summary>The actor's cell; set by its executor when the call arrives from another one.</summary>
    public ActorCell? Cell { get; set; }

    public ActorKey Target { get; }

    /// <summary>The call whose method made this one; null for a root, and for one that came from another worker.</summary>
    public CallFrame? CallerFrame { get; }

    /// <summary>The caller on another worker; null: it is here, or there is none.</summary>
    public RemoteCaller? Remote { get; }

    /// <summary>It starts its transaction.</summary>
    public bool IsRoot => CallerFrame is null && Remote is null;

    /// <summary>
    /// Calls made by it and by ended calls under it, on whatever workers, by index of the declaration; null: nobody asks (only PACTs over several workers count so).
    /// </summary>
    public int[]? CallsUnder { get; private set; }

    public string MethodName { get; }

    /// <summary>Calls above it, itself included.</summary>
    public int Depth { get; }

    public bool HasEnded { get; private set; }

    /// <summary>Its place in the attempt's trace; -1: it has none.</summary>
    public int TraceIndex { get; }

    /// <summary>It runs on the stack of its caller, who looks at the result itself.</summary>
    public bool RunsInline { get; set; }

    /// <summary>
    /// A result is a value. This one goes to an actor of this worker and may change: the caller gets a copy. (Results
    /// of roots and for other workers become JSON before other code runs on the actor.)
    /// </summary>
    protected bool CopiesResult { get; init; }

    /// <summary>It left its attempt's count of waiting branches pending (W4).</summary>
    public bool IsWaiting { get; private set; }

    // ---- IActorCall

    public TransactionId Tid => Attempt.Tid;

    public BatchId Bid => Attempt.Bid;

    public TransactionId Age => Attempt.Age;

    public bool IsAlive => Attempt.IsAlive;

    public BatchId Ceil { get => Attempt.Ceil; set => Attempt.Ceil = value; }

    IWatchedRequest IWatchedCall.Request => Attempt.Request;

    IActorCall? IActorCall.Caller => CallerFrame ?? Remote?.Above;

    public IActorCall? Below { get; set; }

    public Visit? Visit { get; set; }

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

        Attempt.Trace?.Started(TraceIndex);
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
    /// <param name="under">Calls made under it; null or empty: nobody counts.</param>
    public void ChildEnded(int[]? under)
    {
        for (var i = 0; i < under?.Length && i < CallsUnder?.Length; i++)
        {
            CallsUnder[i] += under[i];
        }

        _children--;
        TryEnd();
    }

    /// <summary>Counts a call that it makes, or, for a root, is; of a PACT over several workers.</summary>
    public void CountUnder(int declared) => (CallsUnder ??= new int[Attempt.Calls.Length])[declared]++;

    public void ChildStarted() => _children++;

    /// <summary>The result goes to the caller's task; on the caller's executor.</summary>
    public abstract void Deliver();

    /// <summary>The result as JSON; only of a call that has ended.</summary>
    /// <returns>Null, or why there is none, or one of more than <paramref name="limit"/> bytes.</returns>
    public abstract string? TryEncodeResult(int limit, out byte[] json);

    /// <summary>
    /// Code of a call that has ended, or whose attempt is dead, may end what it has begun, and learns that from its
    /// context; code that goes on for ever without asking is not let in again.
    /// </summary>
    public bool MayContinue() => (Attempt.IsAlive && !HasEnded) || ++_turnsAfterEnd <= MaxTurnsAfterEnd;

    /// <summary>The lock that it waited for is held.</summary>
    public void LockGranted()
    {
        var waiting = _lock;
        if (waiting is null || !IsAlive || HasEnded || Visit is { IsOver: true })
        {
            return; // ended: a lock that nobody awaited; its ACT has given its changes already
        }

        _lock = null;
        StopWaiting();
        var executor = Executor;
        // Another executor may doom the attempt at any moment: nothing here may rely on its being alive.
        var state = AbsentState.Seen(executor.Machine(Cell!).Hand(this));
        if (state is DamagedState damage && !ReplacesDamage)
        {
            // It was not damaged when the lock was asked for: what replaced it was undone.
            Throw(executor, waiting, Unreadable(executor, damage));
            return;
        }

        if (_lockMode == LockMode.Exclusive && state is not null and not DamagedState && !Cell!.Type.Descriptor.StateIsImmutable && !Visit!.Wrote)
        {
            try
            {
                state = Cell.Type.Copy(state);
            }
            catch (Exception exception) // the state's own code may throw anything
            {
                Throw(executor, waiting, exception);
                return;
            }

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

    private void Throw(Executor executor, TaskCompletionSource<object?> waiting, Exception exception)
    {
        var outer = executor.BeginUserCode(this);
        waiting.SetException(exception);
        executor.EndUserCode(outer);
    }

    /// <summary>The branch waits for a turn, a lock or a load.</summary>
    public void StartWaiting()
    {
        if (!IsWaiting && !_waitsForItsOwn)
        {
            IsWaiting = true;
            Attempt.BranchWaits();
            Attempt.Trace?.Waits(TraceIndex);
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
            Attempt.Trace?.GoesOn(TraceIndex);
        }
    }

    /// <summary>An exception left the method, or a call was refused: the transaction is doomed even if somebody catches it (A10).</summary>
    /// <remarks>
    /// A <see cref="TransactionDoomedException"/> of the runtime comes after the attempt was doomed for its reason, which counts then. One that user code has made,
    /// or kept from somewhere, is an exception like any other: a reason of its choice would be believed by whoever repeats, records or undoes.
    /// </remarks>
    public void Fail(Exception exception)
    {
        var why = exception is TransactionAbortException or TransactionDoomedException
            ? new AbortInfo(AbortReason.Application, exception.Message, Target)
            {
                Code = exception is TransactionAbortException { Code: { } code } abort
                    ? new AbortCode(code, abort.Details)
                    : null,
            }
            : new AbortInfo(
                AbortReason.Application, $"{Where()} threw {exception.GetType().Name}: {exception.Words()}", Target);
        Fail(why);
    }

    public void Refuse(AbortReason reason, string message) => Fail(new AbortInfo(reason, message, Target));

    private void Fail(AbortInfo why)
    {
        Attempt.RootExecutor.RequestAbort(Attempt, why);
        if (HasEnded)
        {
            return; // unjoined code: its caller has the result, and a sealed transaction its outcome
        }

        Failure = why;
        Attempt.RootExecutor.Worker.Trace?.Failed(Tid);
        if (CallerFrame is not null)
        {
            Worker.PostResult(this);
        }
        else if (Remote is not null)
        {
            Attempt.RootExecutor.Worker.Peers.SendFailure(this, why);
        }
    }

    /// <summary>It is an operator's method that takes the place of a state that cannot be read; it alone is handed one.</summary>
    protected abstract bool ReplacesDamage { get; }

    /// <summary>Its method carries <see cref="ReadOnlyMethodAttribute"/>; only of a call that has begun.</summary>
    public abstract bool IsReadOnly { get; }

    /// <summary>Why it has failed: an exception left the method, or the call was refused; null: it has not.</summary>
    protected AbortInfo? Failure { get; private set; }

    public string Where() => $"{Target}.{MethodName}";

    /// <summary>The method, which had not returned at once, has returned; on its executor.</summary>
    public abstract void Returned();

    /// <summary>Starts the typed method. May throw what user code throws.</summary>
    protected abstract Task Start();

    protected abstract void Await(Task task);

    protected abstract void TakeResult(Task task);

    /// <summary>Puts a copy in the place of the result.</summary>
    /// <returns>Null, or why there is none.</returns>
    protected abstract string? CopyResult();

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
            if (CopiesResult && CopyResult() is { } problem)
            {
                Refuse(AbortReason.Application, problem);
                return;
            }

            HasEnded = true;
            Attempt.Trace?.Ended(TraceIndex);
            Executor.FrameEnded(this);
        }
    }
}
