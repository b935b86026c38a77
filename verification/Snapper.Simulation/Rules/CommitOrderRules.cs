using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Storage.Log.Records;

namespace Snapper.Simulation.Rules;

/// <summary>
/// The rules of the commit order, checked anew from what is said and done, in the most obvious way: it remembers everything and looks through all
/// that can still break a rule. It shares nothing with the machine that it checks but the names of things. One per life of a worker.
/// </summary>
internal sealed class CommitOrderRules(Action<string> violated) : RuleSet(violated)
{
    private readonly Dictionary<long, Batch> _formed = [];
    private readonly List<Batch> _notFinal = []; // as far as was looked
    private readonly Dictionary<ActorKey, List<Link>> _chains = [];
    private readonly HashSet<long> _queuedActs = [];
    private readonly Dictionary<long, HashSet<(ActorKey Actor, long Bid)>> _before = [];
    private readonly Dictionary<long, HashSet<(ActorKey Actor, long Bid)>> _after = [];
    private readonly HashSet<long> _gone = [];
    private readonly Queue<(object Item, long Ticket)> _unanswered = new();
    private long _flushed;
    private long _lastTicket;
    private long _lastSequence;

    public void Received(in Message message)
    {
        switch (message.Kind)
        {
            case MessageKind.BatchFormed:
                Formed(message.Batch);
                break;
            case MessageKind.ActVisited:
                SetOf(_before, message.Tid).Add((message.Actor!, message.Bid.Value));
                break;
            case MessageKind.ActOvertaken:
                SetOf(_after, message.Tid).Add((message.Actor!, message.Bid.Value));
                break;
            case MessageKind.ActAborted:
                _gone.Add(message.Tid.Value);
                break;
            case MessageKind.Flushed:
                _flushed = Math.Max(_flushed, message.Value);
                break;
        }
    }

    public void Queued(object item, LogRecord? record, long sequence, long ticket)
    {
        Require(ticket > _lastTicket, $"L1: ticket {ticket} was given after {_lastTicket}");
        _lastTicket = ticket;
        if (record is not null && sequence != 0) // 0: the log is lost to this worker, and nothing is queued any more
        {
            Require(_lastSequence == 0 || sequence == _lastSequence + 1, $"L1: record {sequence} follows record {_lastSequence}");
            _lastSequence = sequence;
        }

        if (item is CommitSet set)
        {
            Queued(set);
        }
        else if (item is ActOutcome act)
        {
            Queued(act);
        }

        _unanswered.Enqueue((item, ticket));
    }

    public void Answered(object item)
    {
        // L5: in the order of the queue, and only behind the flush that holds it.
        var (first, ticket) = _unanswered.Dequeue();
        Require(ReferenceEquals(first, item), $"L5: something was answered before what was queued ahead of it");
        Require(ticket <= _flushed, $"L5: ticket {ticket} was answered when {_flushed} was flushed");
    }

    private void Formed(Batch batch)
    {
        var bid = batch.Bid.Value;
        for (var i = 0; i < batch.Tickets.Length; i++)
        {
            Require(batch.Tickets[i].Tid.Value == bid + i, $"Batch {bid}: its transaction {i} has number {batch.Tickets[i].Tid}");
        }

        // Two coordinators may be heard in either order, so every pair is looked at when its second is heard. What was between two final ones broke L2.
        foreach (var other in _notFinal)
        {
            Require(other.Bid <= batch.Previous || other.Bid > batch.Bid, $"Batch {bid} follows {batch.Previous}, but {other.Bid} is between them");
            Require(batch.Bid <= other.Previous || batch.Bid > other.Bid, $"Batch {other.Bid} follows {other.Previous}, but {bid} is between them");
        }

        _formed.Add(bid, batch);
        _notFinal.Add(batch);
        Divide(batch);
    }

    /// <summary>D1 in the most obvious way: whatever shares a transaction is joined, until nothing more is.</summary>
    private void Divide(Batch batch)
    {
        var pieces = new List<Piece>();
        for (var slot = 0; slot < batch.SlotCount; slot++)
        {
            var subBatch = batch.SubBatchOf(slot);
            var piece = new Piece(batch);
            for (var i = 0; i < subBatch.Count; i++)
            {
                piece.Members.Add((int)(subBatch[i].Tid.Value - batch.Bid.Value));
            }

            piece.Actors.Add(subBatch.Actor);
            foreach (var other in pieces.FindAll(other => other.Members.Overlaps(piece.Members)))
            {
                piece.Members.UnionWith(other.Members);
                piece.Actors.UnionWith(other.Actors);
                pieces.Remove(other);
            }

            pieces.Add(piece);
        }

        foreach (var piece in pieces)
        {
            foreach (var actor in piece.Actors)
            {
                var chain = ChainOf(actor);
                var at = chain.FindLastIndex(link => link.Bid < batch.Bid.Value) + 1;
                chain.Insert(at, new Link(batch.Bid.Value, piece));
            }
        }
    }

    private void Queued(CommitSet set)
    {
        var bid = set.Batch.Bid.Value;
        Require(_formed.ContainsKey(bid), $"D2: something of batch {bid} is queued before it is known");
        foreach (var component in set.Components)
        {
            var members = new HashSet<int>();
            for (var i = component.FirstMember; i >= 0; i = set.Batch.NextMember(i))
            {
                members.Add(i);
                Require(set.Batch.StateOf(i) != MemberState.Running, $"Batch {bid} is queued while its transaction {i} runs");
            }

            Queued(set.Batch, component, members);
        }

        _notFinal.RemoveAll(IsFinal); // a final batch stays final
    }

    private void Queued(Batch batch, Component component, HashSet<int> members)
    {
        var bid = batch.Bid.Value;
        for (var slot = component.FirstSlot; slot >= 0; slot = batch.NextSlot(slot))
        {
            var actor = batch.SubBatchOf(slot).Actor;
            var chain = ChainOf(actor);
            var at = chain.FindIndex(link => link.Bid == bid);
            var piece = chain[at].Piece;
            Require(piece.Members.SetEquals(members), $"D1: batch {bid}: {actor} belongs to {string.Join(' ', piece.Members)}, and {string.Join(' ', members)} are queued");
            for (var i = 0; i < at; i++)
            {
                Require(chain[i].Piece.IsFinal, $"D2: {actor}: batch {bid} is queued before batch {chain[i].Bid}");
            }

            piece.IsQueued = true;
            chain.RemoveRange(0, at);
        }
    }

    private void Queued(ActOutcome act)
    {
        var tid = act.Tid.Value;
        Require(_queuedActs.Add(tid), $"ACT {act.Tid} is queued twice");
        Require(!_gone.Contains(tid), $"H7: ACT {act.Tid} is queued after it was given up");
        Require(act.Arrived == act.Participants.Count, $"ACT {act.Tid} is queued with {act.Arrived} of {act.Participants.Count} parts");
        foreach (var (actor, bid) in SetOf(_before, act.Tid))
        {
            Require(
                IsFinal(actor, bid),
                $"H3: ACT {act.Tid} is queued while batch {bid}, which is ahead of it on {actor}, is not final");
        }

        // With H3 and D2, what is behind it is behind all that is ahead of it in the log, and so nowhere ahead of that.
        foreach (var (actor, bid) in SetOf(_after, act.Tid))
        {
            Require(
                !IsQueued(actor, bid),
                $"H5: ACT {act.Tid} is queued behind batch {bid}, ahead of which it stands on {actor}");
        }
    }

    private bool IsFinal(Batch batch)
    {
        for (var slot = 0; slot < batch.SlotCount; slot++)
        {
            if (!IsFinal(batch.SubBatchOf(slot).Actor, batch.Bid.Value))
            {
                return false;
            }
        }

        return true;
    }

    // What has left a chain was behind something that is queued, and was final then.
    private bool IsFinal(ActorKey actor, long bid) => ChainOf(actor).Find(link => link.Bid == bid) is not { } link || link.Piece.IsFinal;

    private bool IsQueued(ActorKey actor, long bid)
    {
        var chain = ChainOf(actor);
        return chain.FindIndex(link => link.Bid >= bid) is var at && (at < 0 ? chain.Count > 0 : chain[at].Bid == bid && chain[at].Piece.IsQueued);
    }

    private List<Link> ChainOf(ActorKey actor)
    {
        if (!_chains.TryGetValue(actor, out var chain))
        {
            _chains.Add(actor, chain = []);
        }

        return chain;
    }

    private static HashSet<(ActorKey Actor, long Bid)> SetOf(Dictionary<long, HashSet<(ActorKey Actor, long Bid)>> sets, TransactionId tid)
    {
        if (!sets.TryGetValue(tid.Value, out var set))
        {
            sets.Add(tid.Value, set = []);
        }

        return set;
    }

    /// <summary>A component, found anew.</summary>
    private sealed class Piece(Batch batch)
    {
        public HashSet<int> Members { get; } = [];

        public HashSet<ActorKey> Actors { get; } = [];

        public bool IsQueued { get; set; }

        /// <summary>Queued, or nothing of it is left (A7).</summary>
        public bool IsFinal => IsQueued || Members.All(member => batch.StateOf(member) == MemberState.Removed);
    }

    private sealed record Link(long Bid, Piece Piece);
}
