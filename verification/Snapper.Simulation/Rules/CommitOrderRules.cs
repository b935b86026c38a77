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
    private readonly HashSet<long> _queuedBatches = [];
    private readonly HashSet<long> _queuedActs = [];
    private readonly Dictionary<long, HashSet<long>> _before = [];
    private readonly Dictionary<long, HashSet<long>> _after = [];
    private readonly HashSet<long> _gone = [];
    private readonly Queue<(object Item, long Ticket)> _unanswered = new();
    private long _flushed;
    private long _lastBatch;
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
                SetOf(_before, message.Tid).Add(message.Bid.Value);
                break;
            case MessageKind.ActOvertaken:
                SetOf(_after, message.Tid).Add(message.Bid.Value);
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

        if (item is Batch batch)
        {
            Queued(batch);
        }
        else
        {
            Queued((ActOutcome)item);
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
        Require(bid > _lastBatch, $"L2: batch {bid} was formed behind batch {_lastBatch}, which is queued");
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
    }

    private void Queued(Batch batch)
    {
        var bid = batch.Bid.Value;
        Require(bid > _lastBatch, $"L2: batch {bid} is queued after batch {_lastBatch}");
        Require(batch.Previous == BatchId.None || _formed.ContainsKey(batch.Previous.Value), $"L2: batch {bid} is queued before batch {batch.Previous} is known");
        _lastBatch = bid;
        _queuedBatches.Add(bid);
        _notFinal.RemoveAll(IsFinal); // a final batch stays final
        foreach (var other in _notFinal)
        {
            Require(other.Bid.Value > bid, $"L2: batch {bid} is queued before batch {other.Bid}");
        }

        for (var i = 0; i < batch.Tickets.Length; i++)
        {
            Require(batch.StateOf(i) != MemberState.Running, $"Batch {bid} is queued while its transaction {i} runs");
        }
    }

    private void Queued(ActOutcome act)
    {
        var tid = act.Tid.Value;
        Require(_queuedActs.Add(tid), $"ACT {act.Tid} is queued twice");
        Require(!_gone.Contains(tid), $"H7: ACT {act.Tid} is queued after it was given up");
        Require(act.Arrived == act.Participants.Count, $"ACT {act.Tid} is queued with {act.Arrived} of {act.Participants.Count} parts");
        var before = SetOf(_before, act.Tid);
        foreach (var bid in before)
        {
            Require(!_formed.TryGetValue(bid, out var ahead) || IsFinal(ahead), $"H3: ACT {act.Tid} is queued while batch {bid}, which is ahead of it, is not final");
        }

        var after = SetOf(_after, act.Tid);
        if (before.Count > 0 && after.Count > 0)
        {
            Require(before.Max() < after.Min(), $"H5: ACT {act.Tid} stands behind batch {before.Max()} and ahead of batch {after.Min()}");
        }
    }

    /// <summary>Queued, or nothing of it is left (A7).</summary>
    private bool IsFinal(Batch batch)
    {
        if (_queuedBatches.Contains(batch.Bid.Value))
        {
            return true;
        }

        for (var i = 0; i < batch.Tickets.Length; i++)
        {
            if (batch.StateOf(i) != MemberState.Removed)
            {
                return false;
            }
        }

        return true;
    }

    private static HashSet<long> SetOf(Dictionary<long, HashSet<long>> sets, TransactionId tid)
    {
        if (!sets.TryGetValue(tid.Value, out var set))
        {
            sets.Add(tid.Value, set = []);
        }

        return set;
    }
}
