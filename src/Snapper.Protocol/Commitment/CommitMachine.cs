using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Commitment;

/// <summary>
/// The worker's commit order: which batch or ACT is queued in the log next (L2, H3), who is answered when (L5), who dies
/// early (H5), and the undo of failed PACTs (A4 to A7). One per worker, because there is one log per worker (L1).
/// </summary>
/// <remarks>
/// Pure. Two-phase commit over workers takes its place here: a global batch or a distributed ACT is one more kind of
/// item that is queued when what is before it is final (R, H6).
/// </remarks>
public sealed partial class CommitMachine
{
    private readonly int _ringSize;
    private readonly RecordLimit _limit;

    // Batches that are not final, in bid order.
    private readonly List<Batch> _open = [];
    private readonly List<Batch> _emptied = [];
    private readonly Queue<Pending> _unflushed = new();
    private BatchId _final;
    private int _unflushedBatches;
    private int _openParts;

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

    /// <summary>The highest final batch: everything up to it is in the log's queue or empty.</summary>
    public BatchId Final => _final;

    /// <summary>The batch that the last completion completed; null: none. For whoever measures phases.</summary>
    public Batch? LastCompleted { get; private set; }

    /// <summary>The batch that the last completion left one actor to wait for; null: none. For whoever measures phases.</summary>
    public Batch? LeftWithOne { get; private set; }

    /// <summary>Batches that passed their turn in the last step without a record, because an undo took all their transactions out (A7).</summary>
    public IReadOnlyList<Batch> Emptied => _emptied;

    /// <summary>Batches that are not final, in order.</summary>
    public IReadOnlyList<Batch> Open => _open;

    /// <summary>Batches that were announced and are not durable yet. Two numbers that other threads may read, each as of about now.</summary>
    public int UnfinishedBatches => _open.Count + _unflushedBatches;

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
                _order.Visited(message.Tid, message.Bid, _final, _doomed);
                JudgeOrder(outputs);
                break;
            case MessageKind.ActOvertaken:
                _order.Overtaken(message.Tid, message.Bid, _final, _doomed);
                JudgeOrder(outputs);
                break;
            case MessageKind.ActWaits:
                _order.Waits(message.Tid, (TransactionId[])message.Body!, _final, _doomed);
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
            default:
                throw new ProtocolViolationException($"Commit: no transition for {message.Kind}.");
        }
    }

    /// <summary>
    /// True when the commit order keeps somebody waiting for a PACT that has not ended: another of its batch, a batch behind
    /// it (L2), or an ACT that has finished behind it (H3). They may share no actor with it (W4).
    /// </summary>
    public bool HasWaitersBehind(TransactionId tid, BatchId bid)
    {
        foreach (var batch in _open)
        {
            if (batch.Bid < bid)
            {
                continue;
            }

            for (var i = 0; i < batch.Tickets.Length; i++)
            {
                if (batch.StateOf(i) != MemberState.Removed && (batch.Bid != bid || batch.Tickets[i].Tid != tid))
                {
                    return true;
                }
            }
        }

        foreach (var outcome in _finished)
        {
            if (_order.AheadOf(outcome.Tid) >= bid)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>The shell has queued the item of an <see cref="OutputKind.Append"/>; its answers leave when the ticket is flushed (L5).</summary>
    /// <param name="item">The <see cref="Batch"/> or <see cref="ActOutcome"/>.</param>
    /// <param name="ticket">Ticket of its record, or of a barrier when it needs no record; tickets never go back.</param>
    public void Queued(object item, long ticket)
    {
        _unflushed.Enqueue(new Pending(item, ticket));
    }

    private void OnBatchFormed(Batch batch, OutputBuffer outputs)
    {
        // Two coordinators may announce their batches in either order.
        var at = _open.Count;
        while (at > 0 && _open[at - 1].Bid > batch.Bid)
        {
            at--;
        }

        if (batch.Bid <= _final)
        {
            throw new ProtocolViolationException($"Batch {batch.Bid} was formed behind the final batch {_final}.");
        }

        _open.Insert(at, batch);
        RequireUndo(batch);
        if (batch.Part is not null)
        {
            _openParts++;
            JudgeOrder(outputs);
        }
    }

    private void OnSubBatchCompleted(in Message message, OutputBuffer outputs)
    {
        var batch = Find(message.Bid);
        var isNew = batch.CompleteSlot(message.Count, message.Value, (Change?)message.Body);

        // Kept here: what follows may begin an undo, which takes completions back.
        LastCompleted = isNew && batch.Incomplete == 0 ? batch : null;
        LeftWithOne = isNew && batch.Incomplete == 1 ? batch : null;
        if (batch.IsComplete)
        {
            FinalizeBatches(outputs);
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

    /// <summary>Makes batches final in order (L2), prepares parts of global ones (L3), and lets ACTs follow that waited for them (H3).</summary>
    private void FinalizeBatches(OutputBuffer outputs)
    {
        var before = _final;
        var at = 0;
        while (at < _open.Count)
        {
            var batch = _open[at];
            if (!batch.IsComplete || batch.Previous > (at == 0 ? _final : _open[at - 1].Bid) || IsHeldByUndo(batch.Bid))
            {
                break;
            }

            if (batch.Undecided > 0)
            {
                throw new ProtocolViolationException($"Batch {batch.Bid} is complete, but {batch.Undecided} of its transactions have no result.");
            }

            if (batch.IsGlobal && batch.PartState != PartState.Decided)
            {
                if (!TryPrepare(batch, outputs))
                {
                    break;
                }

                at++; // L3: what is behind it may be prepared as well; nothing behind it becomes final
                continue;
            }

            if (at > 0 || !TryFinalize(batch, outputs))
            {
                break;
            }
        }

        if (_final != before)
        {
            CommitActs(outputs);
            ReportProgress(outputs);
        }
    }

    private bool TryFinalize(Batch batch, OutputBuffer outputs)
    {
        var isEmpty = IsEmpty(batch);
        if (!isEmpty && !batch.IsGlobal && IsTooLarge(batch, outputs))
        {
            return false;
        }

        _open.Remove(batch);
        _openParts -= batch.Part is null ? 0 : 1;
        _final = batch.Bid;
        if (batch.IsGlobal)
        {
            outputs.Add(OutputKind.Append).Body = new DecidedPart(batch, Committed: true); // R: before any later final record
        }
        else if (!isEmpty)
        {
            outputs.Add(OutputKind.Append).Body = batch;
            _unflushedBatches++; // here, not when the shell has queued it: this step reports it already
        }
        else
        {
            _emptied.Add(batch);
        }

        return true;
    }

    private static bool IsEmpty(Batch batch)
    {
        for (var i = 0; i < batch.Tickets.Length; i++)
        {
            if (batch.StateOf(i) != MemberState.Removed)
            {
                return false;
            }
        }

        return true; // A7: an empty batch passes its turn in bid order without a record
    }

    private void OnFlushed(long ticket, OutputBuffer outputs)
    {
        var batches = _unflushedBatches;
        while (_unflushed.Count > 0 && _unflushed.Peek().Ticket <= ticket)
        {
            var item = _unflushed.Dequeue().Item;
            switch (item)
            {
                case Batch:
                    _unflushedBatches--;
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

        if (_unflushedBatches != batches)
        {
            ReportProgress(outputs);
        }
    }

    private void ReportProgress(OutputBuffer outputs)
    {
        for (var i = 0; i < _ringSize; i++)
        {
            ref var message = ref outputs.Add(OutputKind.SendToCoordinator, MessageKind.LogProgress, i);
            message.Bid = _final;
            message.Value = OpenLocal() + _unflushedBatches;
        }
    }

    /// <summary>Batches of this worker alone that are not final. Those of the master are bounded by the master; local PACTs do not pay for them.</summary>
    private int OpenLocal()
    {
        var local = 0;
        foreach (var batch in _open)
        {
            local += batch.Part is null ? 1 : 0;
        }

        return local;
    }

    private Batch Find(BatchId bid) =>
        TryFind(bid) ?? throw new ProtocolViolationException($"Batch {bid} is not open; the highest final one is {_final}.");

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
