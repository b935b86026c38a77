using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Simulation.Rules;

/// <summary>
/// Who must be undone (A4, A5, D6): the closure of "touched an actor after a removed transaction had written it", over the touches that were seen. All who read
/// or wrote then must go; nobody may go who was not even let in then. One per life of a worker.
/// </summary>
internal sealed class UndoRules(Action<string> violated) : RuleSet(violated)
{
    private readonly HashSet<long> _failed = [];
    private readonly HashSet<long> _removed = [];
    private readonly HashSet<long> _mustGo = [];
    private readonly HashSet<long> _mayGo = [];
    private readonly HashSet<long> _final = [];
    private readonly Dictionary<object, TransactionId> _numbered = new(ReferenceEqualityComparer.Instance);
    private readonly HashSet<long> _outgrown = [];

    public void Received(in Message message)
    {
        switch (message.Kind)
        {
            case MessageKind.PactFailed:
                _failed.Add(message.Tid.Value);
                break;
            case MessageKind.BatchFormed:
                Formed(message.Batch);
                break;
        }
    }

    public bool IsRemoved(long tid) => _removed.Contains(tid);

    /// <summary>L6: of a component that is too large, its last transactions may go, one at least and not all of several.</summary>
    public void Outgrown(Component component)
    {
        var batch = component.Batch;
        Require(component is { IsComplete: true, Undecided: 0 }, $"L6: batch {batch.Bid} is weighed before it is complete");
        _outgrown.Clear();
        var first = -1;
        for (var i = component.FirstMember; i >= 0; i = batch.NextMember(i))
        {
            if (batch.StateOf(i) != MemberState.Removed)
            {
                first = first < 0 ? i : first;
                _outgrown.Add(batch.Bid.Value + i);
            }
        }

        if (_outgrown.Count > 1)
        {
            _outgrown.Remove(batch.Bid.Value + first);
        }
    }

    /// <summary>A round begins.</summary>
    public void Removing(IReadOnlyList<TransactionId> tids)
    {
        if (_outgrown.Count > 0)
        {
            // The last ones: who is behind somebody that goes, goes too.
            Require(_outgrown.Contains(tids[^1].Value) && _outgrown.Count(tid => tid >= tids[0].Value) == tids.Count, $"L6: {tids[0]} leaves its batch, and not all behind it do");
            _mayGo.UnionWith(tids.Select(tid => tid.Value));
            _outgrown.Clear();
        }

        foreach (var tid in tids)
        {
            Require(_removed.Add(tid.Value), $"A5: {tid} is removed twice");
            Require(!_final.Contains(tid.Value), $"D6: {tid} is removed and was final");
            Require(_failed.Contains(tid.Value) || _mayGo.Contains(tid.Value), $"A5: {tid} is removed, but has not failed, and nothing that it touched was undone");
        }
    }

    /// <summary>No round follows.</summary>
    public void Over()
    {
        foreach (var tid in _mustGo)
        {
            // An ACT may have died by itself meanwhile; that it is never queued is looked at when it is queued.
            Require(new TransactionId(tid).IsAct || _removed.Contains(tid), $"A5: {tid} read or wrote what was undone, and is not removed");
        }

        _mustGo.RemoveWhere(_removed.Contains);
    }

    /// <summary>An actor removes transactions: what they wrote is taken back, and with it everything that was written behind that.</summary>
    public void Undo(ActorTrail trail, UndoOrder order)
    {
        var removed = order.Tids.Select(tid => tid.Value).ToHashSet();
        if (!trail.IsFrozen)
        {
            trail.IsFrozen = true;
            trail.TurnAtUndo = trail.OpenBefore(long.MaxValue)?.Tid ?? 0;
        }

        var earliest = trail.Touches.FindIndex(touch => touch.Kind == TouchKind.Write && removed.Contains(touch.Tid));
        for (var i = earliest + 1; earliest >= 0 && i < trail.Touches.Count; i++)
        {
            var touch = trail.Touches[i];
            if (!_removed.Contains(touch.Tid))
            {
                _mayGo.Add(touch.Tid);
                if (touch.Kind != TouchKind.LetIn)
                {
                    _mustGo.Add(touch.Tid);
                    Require(!_final.Contains(touch.Tid), $"D6: {touch.Tid} is final, and has touched {trail.Actor} after {trail.Touches[earliest].Tid}, which is undone");
                }
            }
        }

        for (var i = trail.Touches.Count - 1; earliest >= 0 && i >= earliest; i--)
        {
            if (trail.Touches[i].Kind == TouchKind.Write)
            {
                trail.Touches.RemoveAt(i);
            }
        }

        trail.Touches.RemoveAll(touch => removed.Contains(touch.Tid));
        trail.Acts.ExceptWith(removed);
        trail.Gone.UnionWith(removed);
        foreach (var turn in trail.Turns)
        {
            turn.IsDead |= removed.Contains(turn.Tid);
        }
    }

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
        var left = 0;
        for (var i = component.FirstMember; i >= 0; i = batch.NextMember(i))
        {
            var tid = batch.Bid.Value + i;
            if (batch.StateOf(i) == MemberState.Removed)
            {
                Require(_removed.Contains(tid), $"A5: {tid} has gone from its batch without an undo");
                continue;
            }

            left++;
            _final.Add(tid);
            Require(!_removed.Contains(tid), $"A5: {tid} was removed, and ends {batch.StateOf(i)}");
            Require(!_mustGo.Contains(tid), $"A5: {tid} read or wrote what was undone, and ends {batch.StateOf(i)}");
        }

        Require(left > 0, $"A7: batch {batch.Bid} is empty and queued");
    }

    public void Queued(ActOutcome act)
    {
        var ends = act.Committed ? "Committed" : "Aborted";
        Require(!_removed.Contains(act.Tid.Value), $"A5: {act.Tid} was removed, and ends {ends}");
        Require(!_mustGo.Contains(act.Tid.Value), $"A5: {act.Tid} read or wrote what was undone, and ends {ends}");
        _final.Add(act.Tid.Value);
    }

    /// <summary>A5: numbered again once, when the last number was removed.</summary>
    private void Formed(Batch batch)
    {
        for (var i = 0; i < batch.Tickets.Length; i++)
        {
            var tid = new TransactionId(batch.Bid.Value + i);
            if (_numbered.TryGetValue(batch.Tickets[i], out var before))
            {
                Require(_removed.Contains(before.Value), $"A5: {before} is numbered again as {tid}, and was not removed");
            }

            _numbered[batch.Tickets[i]] = tid;
        }
    }
}
