using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;
using Snapper.Storage.States;

namespace Snapper.Simulation.Rules;

/// <summary>
/// The order in which transactions touched actors, as it was, against the order that they should have had: turns of PACTs (A1, A2), places of ACTs (H1), strict
/// locks (H2), what everybody was given to read (A3, A5, A8), and that the log has the changes of an actor in the order in which they were made (L4, L7).
/// One per life of a worker.
/// </summary>
internal sealed class ActorOrderRules(UndoRules undo, Action<string> violated) : RuleSet(violated)
{
    private readonly Action<string> _violated = violated;
    private readonly Dictionary<ActorKey, ActorTrail> _trails = [];
    private readonly Dictionary<ActorKey, LockRules> _locks = [];
    private readonly HashSet<long> _queuedActs = [];
    private readonly Dictionary<object, long> _ages = new(ReferenceEqualityComparer.Instance);
    private ActorTrail? _last;

    /// <summary>Who has replaced a state, whatever became of that.</summary>
    public HashSet<long> Writers { get; } = [];

    public void Loaded(ActorKey actor, StoredState? stored, object? state, bool isReplaced, bool isLost)
    {
        var trail = Of(actor);
        RequireAllFinal(actor, trail);
        // Who was replaced and does not know it may read what the next owner has stored, or an older copy of that;
        // nothing of it will count. Nor of what it reads from a server that lost the log: its next flush finds that out.
        var isRight = trail.FinalVersion == 0 || trail.FinalVersion == stored?.Version;
        Require(
            isLost || isReplaced || isRight,
            $"L8: {actor} left memory with version {trail.FinalVersion} and comes back with {stored?.Version}");
        trail.FinalState = state;
        trail.FinalVersion = stored?.Version ?? 0;
    }

    /// <summary>Nothing is known of it until it can be read.</summary>
    public void Unreadable(ActorKey actor, object state)
    {
        var trail = Of(actor);
        RequireAllFinal(actor, trail);
        (trail.FinalState, trail.FinalVersion) = (state, 0);
    }

    private void RequireAllFinal(ActorKey actor, ActorTrail trail)
    {
        var first = trail.Touches.Count > 0 ? trail.Touches[0].Tid : 0;
        Require(trail.Touches.Count == 0, $"L8: {actor} is loaded while what {first} did there is not final");
    }

    public void Arrived(ActorKey actor, in Message message)
    {
        switch (message.Kind)
        {
            case MessageKind.SubBatch:
                OnSubBatch(Of(actor), message.SubBatch);
                break;
            case MessageKind.CallEnded:
                OnCallEnded(Of(actor), (IActorCall)message.Body!);
                break;
            case MessageKind.Ended:
                OnEnded(Of(actor), message.Tid.Value, message.Flag, message.Count);
                break;
            case MessageKind.ActEnd:
                OnActEnd(Of(actor), message.Tid.Value, message.Flag);
                break;
            case MessageKind.Undo:
                undo.Undo(Of(actor), message.Undo);
                foreach (var tid in message.Undo.Tids)
                {
                    LocksOf(actor)?.Ended(tid.Value);
                }

                break;
            case MessageKind.UndoDone:
                Of(actor).IsFrozen = false;
                break;
        }
    }

    public void LetIn(ActorKey actor, IActorCall call)
    {
        var trail = Of(actor);
        Require(!trail.Gone.Contains(call.Tid.Value), $"A8, W3: {actor}: a call of {call.Tid} is let in after it was removed or has ended");
        if (call.Tid.IsAct)
        {
            EnterAct(trail, call);
        }
        else
        {
            EnterPact(trail, call);
        }

        trail.Note(call.Tid.Value, call.Bid.Value, TouchKind.LetIn);
    }

    public void Read(ActorKey actor, IActorCall call, object? state)
    {
        var trail = Of(actor);
        RequireTurn(trail, call, "reads");
        Require(ReferenceEquals(state, trail.State), $"A5: {actor}: {call.Tid} is given another state than the one that was written last and not taken back");
        trail.Note(call.Tid.Value, call.Bid.Value, TouchKind.Read);
    }

    public void Wrote(ActorKey actor, IActorCall call, object state)
    {
        var trail = Of(actor);
        RequireTurn(trail, call, "writes");
        trail.Note(call.Tid.Value, call.Bid.Value, TouchKind.Write, state);
        Writers.Add(call.Tid.Value);
    }

    public void Asked(ActorKey actor, IActorCall call, LockMode mode, LockAnswer answer)
    {
        if (!_locks.TryGetValue(actor, out var locks))
        {
            _locks.Add(actor, locks = new LockRules(actor, _violated));
        }

        locks.Asked(call, mode, answer);
    }

    public void Granted(ActorKey actor, IActorCall call, LockMode mode) => _locks[actor].Granted(call, mode);

    public void Completed(ActorKey actor, BatchId bid, Change? change) => Of(actor).Completions[bid.Value] = change;

    public void Queued(CommitSet set)
    {
        foreach (var component in set.Components)
        {
            Queued(component);
        }
    }

    private void Queued(Component component)
    {
        var batch = component.Batch;
        for (var slot = component.FirstSlot; slot >= 0; slot = batch.NextSlot(slot))
        {
            var trail = Of(batch.SubBatchOf(slot).Actor);
            foreach (var touch in trail.Touches)
            {
                if (touch.Bid != batch.Bid.Value)
                {
                    continue;
                }

                Require(
                    touch.Kind != TouchKind.Write || batch.StateOf((int)(touch.Tid - touch.Bid)) == MemberState.Committed,
                    $"A3: {trail.Actor}: batch {batch.Bid} is queued with what {touch.Tid} wrote, which has not committed");
            }

            foreach (var turn in trail.Turns)
            {
                Require(turn.Bid != batch.Bid.Value || turn.IsOver, $"A2: {trail.Actor}: batch {batch.Bid} is queued before the turn of {turn.Tid} is over");
            }

            var change = batch.ChangeOf(slot);
            var state = RequireChange(trail, new Mover(batch.Bid, default), change);
            if (state is not null)
            {
                var told = trail.Completions.GetValueOrDefault(batch.Bid.Value);
                Require(
                    told is not null && ReferenceEquals(told.State, state) && told.Version == change?.Version,
                    $"L4: {trail.Actor}: the change of batch {batch.Bid} is not the state that it left there");
            }

            trail.Forget(batch.Bid.Value);
        }
    }

    public void Queued(ActOutcome act)
    {
        var tid = act.Tid.Value;
        _queuedActs.Add(tid);
        foreach (var actor in act.Participants)
        {
            var trail = Of(actor);
            RequireAheadIsFinal(trail, act.Tid);
            if (act.Committed)
            {
                RequireChange(trail, new Mover(null, act.Tid), ChangeOf(act, actor));
                trail.Remove(tid);
            }
        }
    }

    private void OnSubBatch(ActorTrail trail, SubBatch subBatch)
    {
        for (var i = 0; i < subBatch.Count; i++)
        {
            var turn = new Turn(subBatch[i], subBatch.Bid) { IsDead = trail.Gone.Contains(subBatch[i].Tid.Value) }; // as far as the actor was told
            trail.Add(turn);
            if (trail.EarlyEnds.Remove(turn.Tid, out var end))
            {
                End(trail, turn, end.Committed, end.Calls);
            }
        }
    }

    private void EnterPact(ActorTrail trail, IActorCall call)
    {
        var tid = call.Tid.Value;
        var turn = trail.TurnOf(tid);
        Require(turn is not null, $"K1: {trail.Actor}: {tid} is let in before its batch is here");
        if (turn is null)
        {
            return;
        }

        Require(tid >= trail.LastTid, $"A2: {trail.Actor}: {tid} is let in after {trail.LastTid}");
        trail.LastTid = Math.Max(trail.LastTid, tid);
        Require(!turn.IsOver, $"A2: {trail.Actor}: {tid} is let in after its turn");
        Require(trail.OpenBefore(tid) is null, $"A1, A2: {trail.Actor}: {tid} is let in before the turn of {trail.OpenBefore(tid)?.Tid} is over");
        Require(trail.Acts.Count == 0, $"H1: {trail.Actor}: {tid} is let in before ACT {trail.Acts.FirstOrDefault()} has ended");
        Require(
            !trail.IsFrozen || turn.CallsBegun > 0 || trail.TurnAtUndo == tid,
            $"A5: {trail.Actor}: the turn of {tid} begins before the undo is over");
        turn.CallsBegun++;
        Require(turn.CallsBegun <= turn.Declared, $"A2: {trail.Actor}: {tid} has {turn.CallsBegun} calls let in and has declared {turn.Declared}");
    }

    private void EnterAct(ActorTrail trail, IActorCall call)
    {
        if (trail.Acts.Add(call.Tid.Value))
        {
            Require(!trail.IsFrozen, $"A5: {trail.Actor}: ACT {call.Tid} begins before the undo is over");
            if (call is Runtime.Execution.CallFrame { Attempt.Request: var request } && !_ages.TryAdd(request, call.Age.Value))
            {
                Require(_ages[request] == call.Age.Value, $"W2: ACT {call.Tid} is of age {call.Age}, an attempt before was of age {_ages[request]}");
            }
        }

        RequireBatchesBehindAreOver(trail, call, "is let in");
    }

    /// <summary>A2, H1, H2: whoever reads or writes is the one whose turn it is.</summary>
    private void RequireTurn(ActorTrail trail, IActorCall call, string does)
    {
        var tid = call.Tid.Value;
        if (!call.Tid.IsAct)
        {
            Require(tid == trail.LastTid, $"A2: {trail.Actor}: {tid} {does} after {trail.LastTid} was let in");
            Require(trail.Acts.Count == 0, $"H1: {trail.Actor}: {tid} {does} before ACT {trail.Acts.FirstOrDefault()} has ended");
            return;
        }

        RequireBatchesBehindAreOver(trail, call, does);
        foreach (var touch in trail.Touches)
        {
            if (touch.Tid != tid && touch.Bid == 0 && (touch.Kind == TouchKind.Write || (touch.Kind == TouchKind.Read && does == "writes")))
            {
                Require(!trail.Acts.Contains(touch.Tid), $"H2: {trail.Actor}: ACT {tid} {does} while ACT {touch.Tid}, which has touched it, has not ended");
            }
        }
    }

    /// <summary>H1: a batch that has begun here has executed before an ACT does anything.</summary>
    private void RequireBatchesBehindAreOver(ActorTrail trail, IActorCall call, string does)
    {
        var begun = 0L;
        foreach (var touch in trail.Touches)
        {
            begun = Math.Max(begun, touch.Bid);
        }

        for (var i = 0; begun > 0 && i < trail.Turns.Count && trail.Turns[i].Bid <= begun; i++)
        {
            Require(trail.Turns[i].IsOver, $"H1: {trail.Actor}: ACT {call.Tid} {does} before batch {trail.Turns[i].Bid}, which has begun, has executed");
        }
    }

    private static void OnCallEnded(ActorTrail trail, IActorCall call)
    {
        if (!call.Tid.IsAct && trail.TurnOf(call.Tid.Value) is { } turn)
        {
            turn.CallsEnded++;
        }
    }

    private void OnEnded(ActorTrail trail, long tid, bool committed, int calls)
    {
        if (trail.TurnOf(tid) is { } turn)
        {
            End(trail, turn, committed, calls);
        }
        else if (!trail.Gone.Contains(tid)) // as far as the actor was told: its removal may be decided, and on its way
        {
            trail.EarlyEnds[tid] = (committed, calls);
        }
    }

    private void End(ActorTrail trail, Turn turn, bool committed, int calls)
    {
        if (turn.IsDead)
        {
            return;
        }

        Require(committed || !turn.IsOver, $"A4: {trail.Actor}: {turn.Tid} aborts in place, and its turn has passed");
        turn.CallsInAll = calls;
        if (committed)
        {
            return;
        }

        // A3, A4: an abort that puts back is one of a transaction whose turn has not passed, and that nobody has followed.
        turn.IsDead = true;
        trail.Gone.Add(turn.Tid);
        var at = trail.Touches.FindIndex(touch => touch.Tid == turn.Tid);
        for (var i = at; at >= 0 && i < trail.Touches.Count; i++)
        {
            Require(trail.Touches[i].Tid == turn.Tid, $"A4: {trail.Actor}: {turn.Tid} aborts in place, and {trail.Touches[i].Tid} has come after it");
        }

        trail.Touches.RemoveAll(touch => touch.Tid == turn.Tid && touch.Kind == TouchKind.Write);
    }

    private void OnActEnd(ActorTrail trail, long tid, bool committed)
    {
        Require(!committed || _queuedActs.Contains(tid), $"H4: {trail.Actor}: ACT {tid} ends before its outcome is queued");
        trail.Remove(tid);
        trail.Acts.Remove(tid);
        trail.Gone.Add(tid);
        LocksOf(trail.Actor)?.Ended(tid);
    }

    /// <summary>H3, by what has happened: everything that touched the actor before the ACT is final.</summary>
    private void RequireAheadIsFinal(ActorTrail trail, TransactionId act)
    {
        var last = trail.Touches.FindLastIndex(touch => touch.Tid == act.Value);
        for (var i = 0; i < last; i++)
        {
            Require(trail.Touches[i].Bid == 0, $"H3: ACT {act} is queued before batch {trail.Touches[i].Bid}, whose {trail.Touches[i].Tid} has touched {trail.Actor} before it");
        }
    }

    /// <summary>L7: what is queued has changed the actor next after what was queued before, if it has changed it, and not otherwise.</summary>
    /// <returns>The state that it has left; null: none.</returns>
    private object? RequireChange(ActorTrail trail, Mover who, Change? change)
    {
        var last = trail.Touches.Count - 1;
        while (last >= 0 && !(trail.Touches[last].Kind == TouchKind.Write && who.Made(trail.Touches[last])))
        {
            last--;
        }

        if (last < 0)
        {
            Require(change is null, $"L7: {who} is queued with a change of {trail.Actor}, which it has not changed");
            return null;
        }

        for (var i = 0; i < last; i++)
        {
            Require(
                trail.Touches[i].Kind != TouchKind.Write || who.Made(trail.Touches[i]),
                $"L7: {who} is queued before {trail.Touches[i].Tid}, which has changed {trail.Actor} before it");
        }

        Require(change is not null, $"L7: {who} is queued without its change of {trail.Actor}");
        trail.FinalVersion++;
        Require(change is null || change.Version == trail.FinalVersion, $"L7: {who} gives {trail.Actor} version {change?.Version}, not {trail.FinalVersion}");
        trail.FinalState = trail.Touches[last].State;
        return trail.FinalState;
    }

    private static Change? ChangeOf(ActOutcome act, ActorKey actor)
    {
        for (var i = 0; i < act.Changes.Count; i++)
        {
            if (act.Changes[i].Actor.Equals(actor))
            {
                return act.Changes[i];
            }
        }

        return null;
    }

    private LockRules? LocksOf(ActorKey actor) => _locks.GetValueOrDefault(actor);

    private ActorTrail Of(ActorKey actor)
    {
        if (ReferenceEquals(_last?.Actor, actor))
        {
            return _last!;
        }

        if (!_trails.TryGetValue(actor, out var trail))
        {
            _trails.Add(actor, trail = new ActorTrail(actor));
        }

        return _last = trail;
    }

    /// <summary>Whose outcome is queued: a batch's, or an ACT's. Named only when a rule is broken.</summary>
    private readonly record struct Mover(BatchId? Batch, TransactionId Act)
    {
        public bool Made(in Touch touch) => Batch is { } batch ? touch.Bid == batch.Value : touch.Tid == Act.Value;

        public override string ToString() => Batch is { } batch ? $"batch {batch}" : $"ACT {Act}";
    }
}
