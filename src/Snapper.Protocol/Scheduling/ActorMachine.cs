using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Scheduling;

/// <summary>
/// One actor: its state, its local schedule (batches chained by previous batch, PACTs in tid order, ACTs by their places
/// between batches), its locks and its part of an undo. Start reading at <see cref="Step"/>.
/// </summary>
/// <remarks>
/// Pure: no clock, task or I/O; not thread-safe. User code runs outside and comes back as <see cref="MessageKind.CallEnded"/>;
/// it reads and writes the state through <see cref="Read"/>, <see cref="Write"/> and <see cref="AskLock"/> inside its turn.
/// Sources: thesis 3.3.2 (PACT), 3.3.3 (ACT), 3.3.4 (hybrid); docs/protocol.md A, H, W.
/// </remarks>
public sealed partial class ActorMachine
{
    private object? _state;
    private long _version;
    private BatchId _final;
    private bool _frozen;
    private bool _isLoaded = true;
    private long _undoNumber;
    private IProtocolTrace? _trace;

    /// <summary>An actor as it was loaded.</summary>
    /// <param name="key">Its name.</param>
    /// <param name="state">Its committed state; null when it was never written.</param>
    /// <param name="version">Number of its committed changes (L7).</param>
    /// <param name="undone">
    /// Number of the worker's last undo that is over: one before this machine may have waited for the actor (A5).
    /// </param>
    public ActorMachine(ActorKey key, object? state, long version, long undone = 0)
    {
        _undoNumber = undone;
        Key = key;
        _state = state;
        _version = version;
    }

    /// <summary>
    /// An actor that is scheduled before it is loaded: a declaration needs no state. It is given its state before a
    /// call enters it, or its own root begins (<see cref="SetLoaded"/>).
    /// </summary>
    public static ActorMachine BeforeLoading(ActorKey key, long undone) =>
        new(key, null, 0, undone) { _isLoaded = false };

    /// <summary>Its name.</summary>
    public ActorKey Key { get; }

    /// <summary>Its state is here.</summary>
    public bool IsLoaded => _isLoaded;

    /// <summary>Who listens; null: nobody. May change while the actor lives.</summary>
    internal IProtocolTrace? Trace
    {
        get => _trace;
        set
        {
            _trace = value;
            _locks?.Trace = value;
        }
    }

    /// <summary>Version of the newest change that was given one, final or not.</summary>
    public long Version => _version;

    /// <summary>
    /// Version of the state that a call sees in its turn: all that has its place before is counted. A change of its own
    /// batch, which has no version yet, is counted as one.
    /// </summary>
    /// <param name="visit">Of the call, whose turn it is.</param>
    public long VersionSeenBy(Visit visit)
    {
        var batch = (visit as PactScheduleEntry)?.Batch;
        var changed = visit is ActScheduleEntry { Wrote: true };
        for (var i = Math.Min(_cursor, _visits.Count - 1); i >= 0 && ReferenceEquals(_visits[i].Batch, batch); i--)
        {
            changed |= _visits[i] is { Wrote: true, Removed: false };
        }

        return changed ? _version + 1 : _version;
    }

    /// <summary>
    /// Nothing is scheduled, running or kept for an undo, and nothing that may still arrive depends on what this
    /// machine remembers: its batches are final, those too whose transactions were all removed, and no removal waits
    /// for its sub-batch. The actor may leave memory, or another machine may take this one's place, once its changes
    /// are checkpointed (L8).
    /// </summary>
    public bool IsReplaceable => _visits.Count == 0
        && _batches.Count == 0
        && _acts is null
        && _early is null
        && _parked is null
        && !_frozen
        && _removedEarly is null;

    /// <summary>Handles one message.</summary>
    /// <param name="message">What happened.</param>
    /// <param name="final">Every batch up to this one is final; others may be.</param>
    /// <param name="outputs">Receives the effects.</param>
    public void Step(in Message message, BatchId final, OutputBuffer outputs)
    {
        Trace?.Arrived(Key, message);
        ForgetFinal(final);
        switch (message.Kind)
        {
            case MessageKind.SubBatch:
                OnSubBatch(message.SubBatch, outputs);
                break;
            case MessageKind.Call:
                OnCall((IActorCall)message.Body!, outputs);
                break;
            case MessageKind.CallEnded:
                OnCallEnded((IActorCall)message.Body!, outputs);
                break;
            case MessageKind.Ended:
                OnEnded(message.Tid, message.Bid, message.Flag, message.Count, outputs);
                break;
            case MessageKind.ActCollect:
                OnActCollect(message.Tid, message.Flag, outputs);
                break;
            case MessageKind.ActEnd:
                OnActEnd(message.Tid, message.Flag, outputs);
                break;
            case MessageKind.Undo:
                OnUndo(message.Undo, outputs);
                break;
            case MessageKind.UndoDone:
                OnUndoDone(message.Value, outputs);
                break;
            default:
                throw new ProtocolViolationException($"{Key}: no transition for {message.Kind}.");
        }
    }

    /// <summary>
    /// Gives it its state. What it has executed until now has not touched it, so that no version was given.
    /// </summary>
    /// <param name="state">As for a new one.</param>
    /// <param name="version">As for a new one.</param>
    public void SetLoaded(object? state, long version)
    {
        if (_isLoaded)
        {
            throw new ProtocolViolationException($"{Key} is loaded twice.");
        }

        (_isLoaded, _state, _version) = (true, state, version);
        foreach (var batch in _batches)
        {
            batch.VersionBefore = version;
        }
    }

    /// <summary>Handles a call at once. The same as a <see cref="MessageKind.Call"/> message, without copying one.</summary>
    /// <returns>True: run it now, and do not look for it among the outputs.</returns>
    public bool Enter(IActorCall call, BatchId final, OutputBuffer outputs)
    {
        ForgetFinal(final);
        DemandLoaded();
        return call.Tid.IsAct ? EnterAct(call, outputs) : EnterPact(call, outputs);
    }

    /// <summary>The state as the call's transaction sees it; null when it was never written.</summary>
    public object? Read(IActorCall call)
    {
        Demand(call);
        Trace?.Read(Key, call, _state);
        return _state;
    }

    /// <summary>As <see cref="Read"/>, for a call whose lock was granted: it may have been doomed a moment ago.</summary>
    public object? Hand(IActorCall call)
    {
        Trace?.Read(Key, call, _state);
        return _state;
    }

    /// <summary>The state as it is, for the shell's own use: to weigh it.</summary>
    public object? Peek() => _state;

    /// <summary>Replaces the state. An ACT must hold the exclusive lock.</summary>
    public void Write(IActorCall call, object state)
    {
        var visit = Demand(call);
        if (visit is ActScheduleEntry { Held: not LockMode.Exclusive })
        {
            throw new ProtocolViolationException($"{Key}: ACT {call.Tid} writes without an exclusive lock.");
        }

        visit.NoteWrite(_state);
        _state = state;
        Trace?.Wrote(Key, call, state);
    }

    /// <summary>As <see cref="Write"/>, for the shell's own use.</summary>
    /// <returns>False: the stay is over; nothing was written.</returns>
    public bool TryWrite(IActorCall call, object state)
    {
        if (call.Visit is not { IsOver: false } visit)
        {
            return false;
        }

        visit.NoteWrite(_state);
        _state = state;
        Trace?.Wrote(Key, call, state);
        return true;
    }

    /// <summary>True when somebody waits behind the transaction here: for its turn, its lock or its place (W4).</summary>
    public bool HasWaitersBehind(TransactionId tid)
    {
        if (tid.IsAct)
        {
            var act = FindAct(tid);
            return act is not null && (act.Behind != BatchId.None || (_locks is not null && _locks.HasWaitersBehind(act)));
        }

        var at = IndexOf(tid);
        if (at < 0 || _visits[at].IsOver)
        {
            return false;
        }

        for (var i = at + 1; i < _visits.Count; i++)
        {
            if (!_visits[i].IsOver)
            {
                return true;
            }
        }

        if (_acts is not null)
        {
            foreach (var act in _acts)
            {
                if (act.Ahead >= _visits[at].Batch.Bid)
                {
                    return true;
                }
            }
        }

        return false;
    }

    private Visit Demand(IActorCall call)
    {
        var visit = call.Visit;
        if (visit is null || visit.IsOver || !call.IsAlive)
        {
            throw new ProtocolViolationException($"{Key}: {call.Tid} uses the actor outside its stay.");
        }

        return visit;
    }

    private void DemandLoaded()
    {
        if (!_isLoaded)
        {
            throw new ProtocolViolationException($"{Key} is called before it is loaded.");
        }
    }

    private void OnCall(IActorCall call, OutputBuffer outputs)
    {
        DemandLoaded();
        if (call.Tid.IsAct ? EnterAct(call, outputs) : EnterPact(call, outputs))
        {
            outputs.Add(OutputKind.Invoke).Body = call;
        }
    }

    /// <summary>A call that was kept is let in now.</summary>
    private void Invoke(IActorCall call, OutputBuffer outputs)
    {
        Trace?.LetIn(Key, call);
        outputs.Add(OutputKind.Invoke).Body = call;
    }

    /// <summary>Lets a call of a transaction in whose time has come, unless another call of its own is inside.</summary>
    private bool Admit(Visit visit, IActorCall call)
    {
        if (!visit.Admit(call))
        {
            return false;
        }

        Trace?.LetIn(Key, call);
        return true;
    }

    private void OnCallEnded(IActorCall call, OutputBuffer outputs)
    {
        var visit = call.Visit ?? throw new ProtocolViolationException($"{Key}: a call of {call.Tid} ended that never began.");
        if (visit.IsOver)
        {
            return; // undone or aborted meanwhile: the result counts for nothing (A8)
        }

        visit.Leave(call);
        if (visit.NextWaiting() is { } next)
        {
            Invoke(next, outputs);
            return;
        }

        if (visit is PactScheduleEntry)
        {
            Advance(outputs);
        }
    }

    private static void Refuse(IActorCall call, AbortReason reason, OutputBuffer outputs)
    {
        ref var message = ref outputs.Add(OutputKind.Refuse);
        message.Body = call;
        message.Reason = reason;
        message.Tid = call.Tid;
    }

    private static void RefuseAll(Visit visit, AbortReason reason, OutputBuffer outputs)
    {
        var waiting = visit.TakeWaiting();
        if (waiting is not null)
        {
            foreach (var call in waiting)
            {
                Refuse(call, reason, outputs);
            }
        }
    }
}
