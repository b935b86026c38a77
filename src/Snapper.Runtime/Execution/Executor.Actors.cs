using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;
using Snapper.Runtime.Json;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Runtime.Execution;

/// <summary>Actors of this executor: loading, stepping, calls between them.</summary>
public sealed partial class Executor
{
    /// <summary>A stored state that could not be read is read again at most this often.</summary>
    internal static readonly TimeSpan ReloadEvery = TimeSpan.FromSeconds(1);

    private readonly ResidentActors _residents;
    private int _loads; // on their way

    /// <summary>Actors in memory; from any thread.</summary>
    public int Residents => _residents.Count;

    /// <summary>Their bytes, estimated; from any thread.</summary>
    public long BytesOfResidents => _residents.Bytes;

    public ActorCell? FindCell(ActorKey key) => _residents.TryGet(key, out var cell) ? cell : null;

    public LockAnswer AskLock(ActorCell cell, CallFrame frame, LockMode mode, out TransactionId blocker)
    {
        var answer = Machine(cell).AskLock(frame, mode, out blocker, _outputs);
        Dispatch(cell);
        return answer;
    }

    /// <summary>A method calls another actor: inline when that one lives here, else by message.</summary>
    public Task StartCall<TInput, TResult>(CallFrame caller, string actorType, string actorId, ActorMethodKey method, TInput input)
    {
        var attempt = caller.Attempt;
        if (Door.NameRules.ActorIdError(actorId) is { } wrong)
        {
            throw AbortCall(caller, AbortReason.Application, caller.Target, $"{caller.Where()} names a wrong actor: {wrong}.");
        }

        if (Door.NameRules.ActorTypeError(actorType) is { } wrongType)
        {
            throw AbortCall(caller, AbortReason.Application, caller.Target, $"{caller.Where()} names a wrong actor type: {wrongType}.");
        }

        if (Worker.Options.TenantsApart && !Door.TenantNames.AreTogether(caller.Target.Id, actorId))
        {
            throw AbortCall(caller, AbortReason.Application, caller.Target, $"{caller.Where()} calls {actorType}/{actorId}, an actor of another tenant.");
        }

        var key = new ActorKey(actorType, actorId);
        if (Worker.FindType(actorType) is not { } type)
        {
            throw AbortCall(caller, AbortReason.Application, key, $"{caller.Where()} calls {key}: there is no actor type '{actorType}'.");
        }

        if (caller.IsReadOnly && type.Find(method.Name) is { Method.ReadOnly: false })
        {
            throw AbortCall(
                caller, AbortReason.Application, caller.Target, $"{caller.Where()} is marked [ReadOnlyMethod] and calls {key}.{method.Name}, which is not.");
        }

        if (caller.Depth >= Worker.Options.MaxCallDepth)
        {
            throw AbortCall(caller, AbortReason.Application, key, $"{caller.Where()} calls {key}: more than {Worker.Options.MaxCallDepth} calls deep.");
        }

        if (attempt.IsPact)
        {
            var count = attempt.CountCall(key, out var declared);
            if (count != 0)
            {
                throw AbortCall(caller, AbortReason.Undeclared, key, count == 1
                    ? $"{caller.Where()} calls {key}.{method.Name}, but {key} is not declared."
                    : $"{caller.Where()} calls {key}.{method.Name}: more calls on {key} than were declared.");
            }
            if (attempt.Global is { } member)
            {
                caller.CountUnder(declared);
                if (member.Owners[declared] != Worker.Peers.Self)
                {
                    return CallElsewhere<TInput, TResult>(caller, member.Owners[declared], key, method, input);
                }
            }
        }
        else if (Worker.Peers.IsElsewhere(attempt, key, out var owner))
        {
            if (owner.IsNone)
            {
                throw AbortCall(caller, AbortReason.Migration, key, $"{caller.Where()} calls {key}, which is being moved."); // M3
            }

            return CallElsewhere<TInput, TResult>(caller, owner, key, method, input);
        }
        else if (!attempt.TryAddParticipant(key))
        {
            throw new TransactionDoomedException(attempt.AbortCause!.Reason, attempt.AbortCause.Message, attempt.AbortCause.Actor);
        }

        var typed = type.Find(method.Name) as RootMethod<TInput, TResult>;
        if (typeof(TInput) != typeof(Nothing) && !method.InputIsImmutable && input is not null && typed is not null)
        {
            input = Copy(caller, key, typed, input);
        }

        var target = Worker.ExecutorOf(key);
        var frame = new CallFrame<TInput, TResult>(attempt, key, caller, method, typed, input);
        caller.ChildStarted();
        var promise = ReferenceEquals(target, this) ? EnterHere(frame) : null;
        if (promise is not null)
        {
            return promise;
        }

        promise = frame.TaskForCaller();
        if (!ReferenceEquals(target, this))
        {
            frame.StartWaiting();
            target.Post(WorkItem.Call(frame));
        }

        return promise;
    }

    /// <summary>An input is a value: its caller and the called method each have one of their own.</summary>
    private TInput Copy<TInput, TResult>(
        CallFrame caller, ActorKey key, RootMethod<TInput, TResult> method, TInput input)
    {
        if (method.TryEncodeInput(input, out var json) is { } why)
        {
            throw AbortCall(
                caller, AbortReason.Application, key, $"{caller.Where()} calls {key}.{method.Name}: {why}");
        }

        return method.TryParseInput(json, key, out var copy) is { } unfit
            ? throw AbortCall(caller, AbortReason.Application, key, unfit)
            : (TInput)copy!;
    }

    /// <summary>Dooms an attempt; its root's executor ends it. From any executor.</summary>
    public void RequestAbort(Attempt attempt, AbortInfo why, bool evenSealed = false)
    {
        if (attempt.TryAbort(why, evenSealed))
        {
            attempt.RootExecutor.Post(WorkItem.AbortRequested(attempt));
        }
    }

    internal TransactionDoomedException AbortCall(CallFrame caller, AbortReason reason, ActorKey actor, string message)
    {
        RequestAbort(caller.Attempt, new AbortInfo(reason, message, actor));
        return new TransactionDoomedException(reason, message, actor);
    }

    private Task? EnterHere<TInput, TResult>(CallFrame<TInput, TResult> frame)
    {
        var cell = GetCell(frame.Target, isCalled: true);
        frame.Cell = cell;
        if (!cell.IsLoaded || frame.Depth % InlineDepth == 0 || Worker.SchedulingPolicy.CallPosted())
        {
            frame.StartWaiting();
            _local.Enqueue(WorkItem.Call(frame));
            return null;
        }

        var entered = Machine(cell).Enter(frame, Worker.Final, _outputs);
        Dispatch(cell);
        if (!entered)
        {
            frame.StartWaiting();
            return null;
        }

        frame.RunsInline = true;
        frame.Run();
        frame.RunsInline = false;
        if (frame.HasEnded)
        {
            frame.CallerFrame!.ChildEnded(frame.CallsUnder);
        }

        return frame.TaskForCaller();
    }

    /// <summary>A call has ended with all calls under it: its actor goes on, and its caller or the root learns of it.</summary>
    public void FrameEnded(CallFrame frame)
    {
        var cell = frame.Cell!;
        if (frame.Visit!.Wrote && IsWeighed(frame.Attempt, cell) && FindUnfit(frame.Attempt, cell) is { } why)
        {
            RequestAbort(frame.Attempt, why);
            if (frame.Remote is not null)
            {
                Worker.Peers.SendFailure(frame, why);
            }

            return;
        }

        var message = new Snapper.Protocol.Messages.Message { Kind = Snapper.Protocol.Messages.MessageKind.CallEnded, Body = frame };
        Machine(cell).Step(message, Worker.Final, _outputs);
        Dispatch(cell);
        if (frame.IsRoot)
        {
            EndSucceeded(frame);
        }
        else if (frame.Remote is not null)
        {
            Worker.Peers.SendResult(frame);
        }
        else if (!frame.RunsInline)
        {
            Worker.PostResult(frame);
        }
    }

    /// <summary>
    /// One that runs again is. A branch of a PACT does not know whether it does: its state is weighed from the first
    /// state of the type on that could not be kept here, or the first branch that could not.
    /// </summary>
    private bool IsWeighed(Attempt attempt, ActorCell cell) => attempt.EnforceRecordLimit
        || ((cell.Type.WasUnfit || Worker.WeighsParts) && attempt is { Origin: not null, IsPact: true });

    /// <summary>Why the state, or all that a branch leaves here, is not kept. A root is weighed at its end.</summary>
    private AbortInfo? FindUnfit(Attempt attempt, ActorCell cell)
    {
        if (WeighState(attempt, cell) is { } unfit)
        {
            return new AbortInfo(AbortReason.Application, unfit, cell.Key);
        }

        var most = Worker.Options.MaxTransactionBytes;
        return attempt.Origin is null || attempt.StatesWeight <= most
            ? null
            : AbortInfo.TooLarge(attempt.StatesWeight, most);
    }

    private string? WeighState(Attempt attempt, ActorCell cell)
    {
        if (TryEncode(cell, Machine(cell).Peek()!, out var bytes) is { } unfit)
        {
            return unfit;
        }

        cell.Weighed = (attempt.Tid, bytes);
        attempt.NoteWeight(cell.Key, RecordWeight.Of(cell.Key, bytes.Length));
        return null;
    }

    /// <summary>The state as bytes.</summary>
    /// <returns>Null, or why it cannot be kept.</returns>
    private string? TryEncode(ActorCell cell, object state, out byte[] bytes)
    {
        if (ReferenceEquals(state, AbsentState.Instance))
        {
            bytes = [];
            return null;
        }

        try
        {
            bytes = cell.Type.Encode(state);
        }
        catch (Exception exception)
        {
            // A number that JSON does not know, a ring of references, a property that throws: the state's own code may throw anything.
            bytes = [];
            return $"The state of {cell.Key} cannot be written as JSON: {exception.Words()}";
        }

        if (!cell.Type.IsReadBack && TryReadBack(cell, bytes) is { } unread)
        {
            return unread;
        }

        return bytes.Length > Worker.Options.MaxStateBytes ? Worker.StateTooLarge(cell.Key, bytes.Length) : null;
    }

    /// <summary>
    /// A type that writes what it does not read would damage its actors, and nothing would show it before they are
    /// loaded again. So what is written is read: of a type whose code has no part in it only the first.
    /// </summary>
    private static string? TryReadBack(ActorCell cell, byte[] bytes)
    {
        try
        {
            cell.Type.Decode(bytes);
            cell.Type.IsReadBack = cell.Type.Descriptor.StateReadsAsWritten;
            return null;
        }
        catch (Exception exception)
        {
            return $"The state of {cell.Key} is written as JSON that cannot be read again: {exception.Words()}";
        }
    }

    private void StepActor(in WorkItem item)
    {
        var isCalled = item.Message.Body is CallFrame or SubBatch { HasRoot: true };
        var cell = GetCell(item.Message.Actor!, isCalled);
        if (isCalled && cell.Machine is { IsLoaded: false } declared)
        {
            (cell.Unloaded, cell.Machine) = (declared, null);
            Load(cell);
        }

        if (cell.Machine is null)
        {
            (cell.Pending ??= []).Add(item);
            return;
        }

        if (item.Message.Body is CallFrame frame)
        {
            frame.Cell = cell;
        }

        cell.Machine.Step(item.Message, Worker.Final, _outputs);
        Dispatch(cell);
    }

    /// <param name="key">The actor.</param>
    /// <param name="isCalled">Not only declared: it needs its state.</param>
    private ActorCell GetCell(ActorKey key, bool isCalled)
    {
        if (_residents.TryGet(key, out var cell) && !LeavesBeforeUse(cell))
        {
            cell.IdleSweeps = 0;
            if (cell.Broken is not null)
            {
                ReloadIfIdle(cell);
            }

            return cell;
        }

        cell = new ActorCell(key, Worker.FindType(key.Type), this);
        _residents.Add(cell);
        if (cell.IsHosted)
        {
            Begin(cell, isCalled);
        }
        else
        {
            // Of several workers that are being replaced, one may own actors of a type that is new to it. A transaction
            // of another worker that names one takes its place here; what calls it is refused (RemoteCalls).
            cell.Machine = new ActorMachine(key, null, 0, Worker.Undone) { Trace = Worker.Trace };
        }

        return cell;
    }

    private void Begin(ActorCell cell, bool isCalled)
    {
        if (isCalled || _loads < Worker.Options.LoadsAhead)
        {
            Load(cell);
            return;
        }

        cell.Machine = ActorMachine.BeforeLoading(cell.Key, Worker.Undone);
        cell.Machine.Trace = Worker.Trace;
        Worker.Watch.Timelines.Loaded(cell.Key, cell.Machine);
    }

    /// <summary>
    /// Reads a state again that could not be read. While the machine still holds the damage nothing was changed through this cell, so that what is stored is all there is; its
    /// machine is replaced only when nothing under way depends on it.
    /// </summary>
    private void ReloadIfIdle(ActorCell cell)
    {
        if (cell.Machine is not { } machine || Worker.Time.GetElapsedTime(cell.BrokenAt) < ReloadEvery)
        {
            return;
        }

        machine.ForgetFinal(Worker.Final);
        if (!machine.IsReplaceable)
        {
            return;
        }

        if (machine.Peek() is not DamagedState)
        {
            cell.Broken = null; // replaced, and that is final
            return;
        }

        cell.Machine = null;
        Load(cell);
    }

    private void Load(ActorCell cell)
    {
        if (Worker.Checkpoints.IsSetAside(cell.Key))
        {
            Activate(
                cell,
                stored: null,
                $"The state of {cell.Key} is not stored: its place in the store was damaged when the log was read. "
                + "The log has its changes, and they are stored once the place is repaired.");
            return;
        }

        var load = Worker.Store.Load(cell.Key, Worker.Stopping);
        if (load.IsCompletedSuccessfully)
        {
            Activate(cell, load.Result, broken: null);
            return;
        }

        _loads++;
        _ = FinishLoad(cell, load);
    }

    private async Task FinishLoad(ActorCell cell, Task<StoredState?> load)
    {
        for (var attempt = 0; ; attempt++)
        {
            try
            {
                var stored = await load.ConfigureAwait(false);
                Post(new WorkItem { Kind = WorkKind.Loaded, Extra = new Loading(cell, stored, null) });
                return;
            }
            catch (OperationCanceledException) when (Worker.Stopping.IsCancellationRequested)
            {
                return;
            }
            catch (CorruptLogException exception)
            {
                Post(new WorkItem { Kind = WorkKind.Loaded, Extra = new Loading(cell, null, exception.Message) });
                return;
            }
            catch (Exception exception)
            {
                // The store cannot be reached: those who wait for the actor wait on, until their own deadlines.
                Worker.NoteLoadFailure(cell.Key, exception);
                await Background.Pause(TimeSpan.FromMilliseconds(Math.Min(1000, 20 << Math.Min(attempt, 6))), Worker.Time, Worker.Stopping).ConfigureAwait(false);
                load = Worker.Store.Load(cell.Key, Worker.Stopping);
            }
        }
    }

    private void OnLoaded(Loading loading)
    {
        _loads--;
        Activate(loading.Cell, loading.Stored, loading.Unreadable is { } why ? $"The stored state of {loading.Cell.Key} is damaged: {why}" : null);
        var pending = loading.Cell.Pending;
        loading.Cell.Pending = null;
        if (pending is not null)
        {
            foreach (var item in pending)
            {
                StepActor(item);
            }
        }
    }

    private void Activate(ActorCell cell, StoredState? stored, string? broken)
    {
        object? state = null;
        NewerStateException? newer = null;
        _residents.Resize(cell, stored is null ? 0 : SizeOf(stored));
        if (stored is not null)
        {
            try
            {
                state = Decode(cell.Type, stored);
            }
            catch (Exception exception)
            {
                // Whatever the state's constructor or its upgrade throws. What is stored stays as it is: nobody writes over a state
                // that could not be read but an operator who says so.
                var type = cell.Type.Descriptor.StateType.Name;
                broken = $"The stored state of {cell.Key} cannot be read as {type}: {exception.Words()}";
                newer = exception as NewerStateException;
            }
        }

        if (broken is not null)
        {
            cell.BrokenAt = Worker.Time.GetTimestamp();
            state = new DamagedState(broken, hasVersion: stored is not null) { Newer = newer };
            if (broken != cell.Broken)
            {
                // Once, not at each load that finds it unchanged.
                Worker.NoteBrokenState(cell.Key, broken, newer);
            }
        }

        cell.Broken = broken;
        Worker.Trace?.Loaded(cell.Key, stored, state);
        if (cell.Unloaded is { } declared)
        {
            declared.SetLoaded(state, stored?.Version ?? 0);
            (cell.Machine, cell.Unloaded) = (declared, null);
            return;
        }

        cell.Machine = new ActorMachine(cell.Key, state, stored?.Version ?? 0, Worker.Undone) { Trace = Worker.Trace };
        Worker.Watch.Timelines.Loaded(cell.Key, cell.Machine);
    }

    private static int SizeOf(StoredState stored)
    {
        var bytes = 0;
        foreach (var field in stored.Fields)
        {
            bytes += field.Value?.Length ?? 0;
        }

        return bytes;
    }

    private static object? Decode(ActorType type, StoredState stored)
    {
        foreach (var field in stored.Fields)
        {
            if (field.Name == StateField.WholeState && field.Value is { } value)
            {
                return type.Decode(value.Span);
            }
        }

        return null;
    }

    private sealed record Loading(ActorCell Cell, StoredState? Stored, string? Unreadable);
}
