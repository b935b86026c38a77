using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Scheduling;

/// <summary>
/// The stay of one transaction on one actor: its calls, one at a time, in the order in which they were sent; a call back
/// to an actor that waits in the same call chain is let in (ReactDB's safety rule, without refusing).
/// </summary>
public abstract class Visit(TransactionId tid)
{
    private IActorCall? _running;
    private List<IActorCall>? _waiting;

    /// <summary>The transaction.</summary>
    public TransactionId Tid { get; } = tid;

    /// <summary>Calls that have ended.</summary>
    public int EndedCalls { get; private set; }

    /// <summary>True when user code was let in: from then on it may have read the state (A5: a touch).</summary>
    public bool Touched { get; set; }

    /// <summary>True when it replaced the state.</summary>
    public bool Wrote { get; private set; }

    /// <summary>The state before its first write (A5). Meaningful while <see cref="Wrote"/>.</summary>
    public object? BeforeImage { get; private set; }

    /// <summary>True once it was undone or has ended: nothing of it may be used any more (A8).</summary>
    public bool IsOver { get; set; }

    /// <summary>A call is inside the actor.</summary>
    public bool IsRunning => _running is not null;

    /// <summary>Calls that wait for another call of the same transaction, or for the turn.</summary>
    public int WaitingCalls => _waiting?.Count ?? 0;

    /// <summary>Lets the call in if it may run now, else keeps it.</summary>
    /// <returns>True: run it.</returns>
    public bool Admit(IActorCall call)
    {
        if (MayEnter(call))
        {
            Enter(call);
            return true;
        }

        Keep(call);
        call.WaitsForItsOwn();
        return false;
    }

    /// <summary>Keeps a call until <see cref="NextWaiting"/>.</summary>
    public void Keep(IActorCall call) => (_waiting ??= []).Add(call);

    /// <summary>Takes the first kept call that may run now, or null. It is inside afterwards.</summary>
    public IActorCall? NextWaiting()
    {
        if (_waiting is null)
        {
            return null;
        }

        for (var i = 0; i < _waiting.Count; i++)
        {
            var call = _waiting[i];
            if (MayEnter(call))
            {
                _waiting.RemoveAt(i);
                Enter(call);
                foreach (var kept in _waiting)
                {
                    kept.WaitsForItsOwn();
                }

                return call;
            }
        }

        return null;
    }

    /// <summary>Takes every kept call out, to be refused.</summary>
    public List<IActorCall>? TakeWaiting()
    {
        var waiting = _waiting;
        _waiting = null;
        return waiting;
    }

    /// <summary>A call that was inside has ended, with all calls under it.</summary>
    public void Leave(IActorCall call)
    {
        if (!ReferenceEquals(_running, call))
        {
            // A call ends after all calls under it, so calls leave in the reverse order of entering.
            throw new ProtocolViolationException($"A call of {Tid} left out of order.");
        }

        _running = call.Below;
        call.Below = null;
        EndedCalls++;
    }

    /// <summary>Notes a write: the first one keeps the before-image.</summary>
    public void NoteWrite(object? before)
    {
        if (!Wrote)
        {
            Wrote = true;
            BeforeImage = before;
        }
    }

    /// <summary>Forgets the writes: they were put back, or something before them was (A5: a restore drops all later touches).</summary>
    public void DropWrites()
    {
        Wrote = false;
        BeforeImage = null;
    }

    private void Enter(IActorCall call)
    {
        call.Visit = this;
        call.Below = _running;
        _running = call;
        Touched = true;
    }

    private bool MayEnter(IActorCall call)
    {
        if (_running is null)
        {
            return true;
        }

        for (var caller = call.Caller; caller is not null; caller = caller.Caller)
        {
            if (ReferenceEquals(caller, _running))
            {
                return true;
            }
        }

        return false;
    }
}
