using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Commitment;

/// <summary>
/// The worker's commit order: which component of a batch or ACT is queued in the log next (D2, H3), who is answered
/// when (L5), who dies early (H5), and the undo of failed PACTs (A4 to A7). One per worker, because there is one log
/// per worker (L1).
/// </summary>
/// <remarks>
/// Pure. Two-phase commit over workers takes its place here: a global batch or a distributed ACT is one more kind of
/// item that is queued when what is before it is final (R, H6).
/// </remarks>
public sealed partial class CommitMachine
{
    private readonly int _ringSize;
    private readonly RecordLimit _limit;

    // Batches with a component that is not final, in bid order; among them this worker's parts of global batches.
    private readonly List<Batch> _open = [];
    private readonly List<Batch> _parts = [];
    private readonly List<Batch> _emptied = [];
    private readonly Queue<Component> _ready = new();
    private readonly List<CommitSet> _sets = [];
    private readonly Queue<Pending> _unflushed = new();
    private readonly Dictionary<BatchId, BatchId> _announcedEarly = [];
    private BatchId _lastInLine;
    private int _unfinished;
    private int _unreleased;
    private bool _mustReport;
    private bool _actsMayFollow;

    /// <summary>A commit machine.</summary>
    /// <param name="ringSize">Number of coordinators, 1..64.</param>
    /// <param name="limit">How large a record may become; null: without limit.</param>
    public CommitMachine(int ringSize, RecordLimit? limit = null)
    {
        _ringSize = ringSize;
        _limit = limit ?? RecordLimit.None;
    }

    /// <summary>Who listens; null: nobody.</summary>
    internal IProtocolTrace? Trace { get; init; }

    /// <summary>Every batch up to this one was announced and is final; others may be final, too.</summary>
    public BatchId Final =>
        _open.Count == 0 || _open[0].Bid > _lastInLine ? _lastInLine : new BatchId(_open[0].Bid.Value - 1);

    /// <summary>The highest batch of which a component is final.</summary>
    public BatchId HighestFinal { get; private set; }

    /// <summary>The batch that the last completion completed; null: none. For whoever measures phases.</summary>
    public Batch? LastCompleted { get; private set; }

    /// <summary>The batch that the last completion left one actor to wait for; null: none. For whoever measures phases.</summary>
    public Batch? LeftWithOne { get; private set; }

    /// <summary>
    /// Batches of which the last step has made the last component final without a record, because an undo took it out
    /// (A7).
    /// </summary>
    public IReadOnlyList<Batch> Emptied => _emptied;

    /// <summary>Batches with a component that is not final, in order.</summary>
    public IReadOnlyList<Batch> Open => _open;

    /// <summary>
    /// Batches that were announced and are not durable yet. Other threads may read it, as of about now.
    /// </summary>
    public int UnfinishedBatches => _unfinished;

    /// <summary>Local batches that hold back the next one; other threads may read it.</summary>
    public int UnreleasedBatches => _unreleased;

    /// <summary>
    /// Components are final whose record waits for others of their batches, until <see
    /// cref="MessageKind.LookedForSlow"/> at the latest.
    /// </summary>
    public bool HoldsRecords => _sets.Count > 0;

    /// <summary>Handles one message.</summary>
    public void Step(in Message message, OutputBuffer outputs)
    {
        _emptied.Clear();
        switch (message.Kind)
        {
            case MessageKind.BatchFormed:
                OnBatchFormed(message.Batch, outputs);
                break;
            case MessageKind.SubBatchCompleted:
                OnSubBatchCompleted(message, outputs);
                break;
            case MessageKind.PactDecided:
                OnPactDecided(message.Tid, message.Bid, message.Flag);
                break;
            case MessageKind.PactFailed:
                OnPactFailed(message.Tid, message.Bid, outputs);
                break;
            case MessageKind.ActVisited:
                _order.Visited(message.Tid, message.SubBatch, _doomed);
                JudgeOrder(outputs);
                break;
            case MessageKind.ActOvertaken:
                _order.Overtaken(message.Tid, message.Bid, _doomed);
                JudgeOrder(outputs);
                break;
            case MessageKind.ActWaits:
                _order.Waits(message.Tid, (TransactionId[])message.Body!, _doomed);
                JudgeOrder(outputs);
                break;
            case MessageKind.ActFinished:
                OnActFinished((ActOutcome)message.Body!, outputs);
                break;
            case MessageKind.ActChanges:
                OnActChanges(message, outputs);
                break;
            case MessageKind.ActVoted:
                OnActVoted(message.Tid, message.Flag, (ActVote?)message.Body, outputs);
                break;
            case MessageKind.ActDecided:
                OnActDecided(message.Tid, message.Flag, outputs);
                break;
            case MessageKind.ActBounds:
                _order.Narrow(new GlobalBounds(message.Tid, message.Bid, new BatchId(message.Value)), _doomed);
                EndAborting(outputs);
                break;
            case MessageKind.ActAborted:
                OnActAborted(message.Tid, outputs);
                break;
            case MessageKind.BranchAbortAcknowledged:
                OnBranchAbortAcknowledged(message.Tid, (IReadOnlyList<ActorKey>?)message.Body, outputs);
                break;
            case MessageKind.UndoAcknowledged:
                OnUndoAcknowledged(message.Actor!, (List<Victim>?)message.Body, outputs);
                break;
            case MessageKind.GlobalDecided:
                OnGlobalDecided(message.Bid, outputs);
                break;
            case MessageKind.GlobalUndo:
                OnGlobalUndo(message, outputs);
                break;
            case MessageKind.GlobalUndoGo:
                OnGlobalUndoGo(message.Value, outputs);
                break;
            case MessageKind.Flushed:
                OnFlushed(message.Value, outputs);
                break;
            case MessageKind.LookedForSlow:
                OnLookedForSlow();
                break;
            default:
                throw new ProtocolViolationException($"Commit: no transition for {message.Kind}.");
        }

        AppendSets(all: false, outputs);
        if (_mustReport)
        {
            _mustReport = false;
            ReportProgress(outputs);
        }
    }

    /// <summary>
    /// True when the commit order keeps another transaction waiting for a PACT that has not ended (W4): one of its
    /// component, one behind it on one of its actors (D2), or an ACT that has finished behind it (H3).
    /// </summary>
    public bool HasWaitersBehind(TransactionId tid, BatchId bid)
    {
        if (TryFind(bid) is not { } batch)
        {
            return false;
        }

        var component = batch.ComponentOf(batch.MemberOf(tid));
        for (var i = component.FirstMember; i >= 0; i = batch.NextMember(i))
        {
            if (batch.StateOf(i) != MemberState.Removed && batch.Tickets[i].Tid != tid)
            {
                return true;
            }
        }

        for (var slot = component.FirstSlot; slot >= 0 && !component.IsFinal; slot = batch.NextSlot(slot))
        {
            if (batch.SubBatchOf(slot) is { Behind: not null } or { HasActBehind: true })
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>The shell has queued the item of an <see cref="OutputKind.Append"/>; its answers leave when the ticket is flushed (L5).</summary>
    /// <param name="item">The <see cref="CommitSet"/>, <see cref="ActOutcome"/> or other item.</param>
    /// <param name="ticket">Ticket of its record, or of a barrier when it needs no record; tickets never go back.</param>
    public void Queued(object item, long ticket)
    {
        _unflushed.Enqueue(new Pending(item, ticket));
        switch (item)
        {
            case CommitSet set:
                foreach (var component in set.Components)
                {
                    set.Batch.MarkQueued(component);
                }

                break;
            case DecidedPart { Committed: true } decided:
                decided.Batch.MarkQueued(decided.Batch.Components[0]);
                break;
        }
    }

    private void OnBatchFormed(Batch batch, OutputBuffer outputs)
    {
        batch.Divide();
        _unfinished++;
        if (batch.Part is null)
        {
            _unreleased++;
        }
        else
        {
            _parts.Insert(PlaceOf(batch, _parts), batch);
        }

        _open.Insert(PlaceOf(batch, _open), batch);
        KeepInLine(batch);
        for (var slot = 0; slot < batch.SlotCount; slot++)
        {
            var subBatch = batch.SubBatchOf(slot);
            if (subBatch.Before is { IsInOrder: false } before)
            {
                before.Behind = subBatch;
            }
            else
            {
                subBatch.Before = null;
            }
        }

        RequireUndo(batch);
        if (batch.Part is not null)
        {
            JudgeOrder(outputs);
        }
    }

    /// <summary>
    /// Two coordinators may announce their batches in either order: none is missing up to the last one in line.
    /// </summary>
    private void KeepInLine(Batch batch)
    {
        if (batch.Previous != _lastInLine)
        {
            _announcedEarly.Add(batch.Previous, batch.Bid);
            return;
        }

        _lastInLine = batch.Bid;
        while (_announcedEarly.Count > 0 && _announcedEarly.Remove(_lastInLine, out var next))
        {
            _lastInLine = next;
        }
    }

    private static int PlaceOf(Batch batch, List<Batch> among)
    {
        var at = among.Count;
        while (at > 0 && among[at - 1].Bid > batch.Bid)
        {
            at--;
        }

        return at;
    }

    private void OnSubBatchCompleted(in Message message, OutputBuffer outputs)
    {
        var batch = Find(message.Bid);
        var component = batch.ComponentOfSlot(message.Count);
        batch.HasProgressed = true;
        var isNew = batch.CompleteSlot(message.Count, message.Value, (Change?)message.Body);

        // Kept here: what follows may begin an undo, which takes completions back.
        LastCompleted = isNew && batch.Incomplete == 0 ? batch : null;
        LeftWithOne = isNew && batch.Incomplete == 1 ? batch : null;
        if (component.IsComplete)
        {
            _ready.Enqueue(component);
            Finalize(outputs);
        }
    }

    private void OnPactDecided(TransactionId tid, BatchId bid, bool committed)
    {
        var batch = TryFind(bid);
        if (batch is null)
        {
            throw new ProtocolViolationException($"Transaction {tid} ended after its batch {bid} was final.");
        }

        batch.Decide(batch.MemberOf(tid), committed);
    }

    /// <summary>Looks at everything that is open; at the end of an undo.</summary>
    private void FinalizeAll(OutputBuffer outputs)
    {
        foreach (var batch in _open)
        {
            foreach (var component in batch.Components)
            {
                if (component is { IsFinal: false, IsComplete: true })
                {
                    _ready.Enqueue(component);
                }
            }
        }

        Finalize(outputs);
    }

    /// <summary>
    /// Makes final what has become ready and what was behind it (D2), prepares parts of global batches (D7), and lets
    /// ACTs follow that waited for them (H3).
    /// </summary>
    private void Finalize(OutputBuffer outputs)
    {
        while (_ready.TryDequeue(out var component))
        {
            TryFinalize(component, outputs);
        }

        if (_parts.Count > 0)
        {
            PrepareParts(outputs);
        }

        if (_actsMayFollow)
        {
            _actsMayFollow = false;
            CommitActs(outputs);
        }
    }

    private void TryFinalize(Component component, OutputBuffer outputs)
    {
        var batch = component.Batch;
        if (component.IsFinal || !component.IsComplete || !IsFirstOnItsActors(component))
        {
            return;
        }

        RequireDecided(component);
        if (batch.IsGlobal)
        {
            if (batch.PartState != PartState.Decided || FirstPart() != batch)
            {
                return;
            }

            MakeFinal(component);
            Append(new DecidedPart(batch, Committed: true), outputs); // R: before any later final record
            return;
        }

        if (component.IsEmpty)
        {
            MakeFinal(component);
            batch.MarkQueued(component);
            Settle(batch, 1); // A7: it passes its turn without a record
            if (batch.OpenComponents == 0)
            {
                _emptied.Add(batch);
            }

            return;
        }

        var bytes = _limit.OfComponent(component);
        if (!IsTooLarge(component, bytes, outputs))
        {
            MakeFinal(component);
            AddToSet(component, bytes);
        }
    }

    /// <summary>
    /// D2: everything before it on its own actors is final. ACTs placed before it have ended, as it has executed (H1).
    /// </summary>
    private static bool IsFirstOnItsActors(Component component)
    {
        for (var slot = component.FirstSlot; slot >= 0; slot = component.Batch.NextSlot(slot))
        {
            if (component.Batch.SubBatchOf(slot).Before is { IsInOrder: false })
            {
                return false;
            }
        }

        return true;
    }

    private static void RequireDecided(Component component)
    {
        if (component.Undecided > 0)
        {
            throw new ProtocolViolationException(
                $"Batch {component.Batch.Bid} is complete, but {component.Undecided} of its transactions have no result.");
        }
    }

    private void MakeFinal(Component component)
    {
        var batch = component.Batch;
        component.IsFinal = true;
        HighestFinal = batch.Bid > HighestFinal ? batch.Bid : HighestFinal;
        for (var slot = component.FirstSlot; slot >= 0; slot = batch.NextSlot(slot))
        {
            var subBatch = batch.SubBatchOf(slot);
            _actsMayFollow |= subBatch.HasActBehind;
            if (subBatch.Behind is { } behind)
            {
                behind.Before = null;
                _ready.Enqueue(behind.Component!);
            }

            subBatch.Order();
        }

        if (--batch.OpenComponents == 0)
        {
            _open.Remove(batch);
            Recall(batch);
            if (batch.Part is not null)
            {
                _parts.Remove(batch);
                _unfinished -= batch.IsGlobal ? 1 : 0;
                if (FirstPart() is { } next)
                {
                    _ready.Enqueue(next.Components[0]);
                }
            }
        }
    }

    /// <summary>
    /// D3: components of one batch that become final together share a record, as far as it holds them.
    /// </summary>
    private void AddToSet(Component component, long bytes)
    {
        // In bid order, which every chain respects.
        var at = _sets.Count;
        while (at > 0 && _sets[at - 1].Batch.Bid > component.Batch.Bid)
        {
            at--;
        }

        if (at == 0 || _sets[at - 1].Batch != component.Batch || _sets[at - 1].Bytes + bytes > _limit.Bytes)
        {
            _sets.Insert(at++, new CommitSet(component.Batch));
        }

        _sets[at - 1].Add(component, bytes);
    }

    /// <summary>
    /// A batch whose transactions are all quick needs one record. So what is final waits for the rest of its batch,
    /// unless that takes long, or something else is queued, which may be behind it.
    /// </summary>
    private void AppendSets(bool all, OutputBuffer outputs)
    {
        var count = _sets.Count;
        while (!all && count > 0 && _sets[count - 1].Batch is { OpenComponents: > 0, Lingers: false })
        {
            count--;
        }

        for (var i = 0; i < count; i++)
        {
            outputs.Add(OutputKind.Append).Body = _sets[i];
        }

        _sets.RemoveRange(0, count);
    }

    /// <summary>Queues an item behind everything that has become final before it.</summary>
    private void Append(object item, OutputBuffer outputs)
    {
        AppendSets(all: true, outputs);
        outputs.Add(OutputKind.Append).Body = item;
    }

    /// <summary>Components of a batch are durable, or left nothing to be kept.</summary>
    private void Settle(Batch batch, int components)
    {
        batch.SettledComponents += components;
        if (batch.IsSettled)
        {
            _unfinished--;
        }

        if (2 * batch.SettledComponents >= batch.Components.Count)
        {
            Release(batch);
        }
    }

    /// <summary>A batch that took long, and waits for nothing but the log now, holds back the next one again.</summary>
    private void Recall(Batch batch)
    {
        if (batch.IsReleased && 2 * batch.SettledComponents < batch.Components.Count)
        {
            batch.IsReleased = false;
            _unreleased++;
            _mustReport = true;
        }
    }

    private void Release(Batch batch)
    {
        if (!batch.IsReleased && batch.Part is null)
        {
            batch.IsReleased = true;
            _unreleased--;
            _mustReport = true;
        }
    }

    /// <summary>
    /// Batches of which nothing was completed since the last look hold back the next one no more, and what is final of
    /// them has its records: a transaction of theirs waits for something else than this worker.
    /// </summary>
    private void OnLookedForSlow()
    {
        foreach (var batch in _open)
        {
            if (!batch.HasProgressed)
            {
                batch.Lingers = true;
                Release(batch);
            }

            batch.HasProgressed = false;
        }
    }

    private void OnFlushed(long ticket, OutputBuffer outputs)
    {
        while (_unflushed.Count > 0 && _unflushed.Peek().Ticket <= ticket)
        {
            var item = _unflushed.Dequeue().Item;
            switch (item)
            {
                case CommitSet set:
                    Settle(set.Batch, set.Components.Count);
                    break;
                case PreparedPart { Batch.PartState: PartState.Prepared or PartState.Decided } prepared:
                    outputs.Add(OutputKind.SendToMaster, MessageKind.PartPrepared).Bid = prepared.Batch.Part!.Bid; // R: durable before the acknowledgement
                    break;
                case PreparedAct prepared when prepared.Part.HasVoted && FindFinished(prepared.Part.Tid) == prepared.Part:
                    ref var vote = ref outputs.Add(OutputKind.SendToRootWorker, MessageKind.ActVoted); // R: durable before the vote
                    vote.Tid = prepared.Part.Tid;
                    vote.Flag = true;
                    vote.Body = prepared.Part;
                    break;
                case ActOutcome { Committed: true } committed:
                    TellOthers(committed, committed.Committed, outputs); // R: durable before any commit message
                    break;
                case DecidedPart decided:
                    outputs.Add(OutputKind.SendToMaster, MessageKind.PartMarked).Bid = decided.Batch.Part!.Bid;
                    break;
            }

            outputs.Add(OutputKind.Reply).Body = item;
        }
    }

    private void ReportProgress(OutputBuffer outputs)
    {
        for (var i = 0; i < _ringSize; i++)
        {
            ref var message = ref outputs.Add(OutputKind.SendToCoordinator, MessageKind.LogProgress, i);
            message.Value = _unreleased;
        }
    }

    private Batch Find(BatchId bid) =>
        TryFind(bid) ?? throw new ProtocolViolationException($"Batch {bid} is not open.");

    private Batch? TryFind(BatchId bid)
    {
        // Few are open, and most messages are about the oldest.
        foreach (var batch in _open)
        {
            if (batch.Bid == bid)
            {
                return batch;
            }
        }

        return null;
    }

    private readonly record struct Pending(object Item, long Ticket);
}
