using Snapper.Protocol.Batches;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Global;

/// <summary>
/// The master's coordinator: gives PACTs over several workers their global order, batch by batch, and decides each batch when every worker has prepared its part and
/// all smaller ones are decided (thesis 4.2.3; R, L3, A9). One per master epoch; it starts empty, because what an earlier master had open is settled first (R3).
/// </summary>
/// <remarks>
/// Pure, like the machines of a worker. No timer: a batch closes when fewer than <see cref="CoordinatorOptions.OpenBatches"/> are undecided, so that a lone PACT never
/// waits, and under load the time of a decision sets the size of the next batch. That is the tuned minimum time of a global batch (thesis 4.2.3.3), adapting itself.
/// </remarks>
/// <param name="masterEpoch">Epoch of the master's log; the first part of every number given here (R1).</param>
/// <param name="placement">Who owns what (M1).</param>
/// <param name="options">When a batch closes.</param>
public sealed partial class GlobalCoordinatorMachine(long masterEpoch, IPlacement placement, CoordinatorOptions options)
{
    /// <summary>Bytes of the PACTs of one batch, at most, unless it is a single one: a part is one message, and a channel takes none of more than 3 MiB.</summary>
    internal const int MaxWeight = 1 << 20;

    private readonly WaitingPacts<GlobalPact> _waiting = new(static pact => pact.Caller, static pact => pact.Weigh());
    private readonly List<GlobalPact> _taken = [];
    private readonly List<GlobalBatch> _open = [];
    private readonly List<GlobalBatch> _decided = [];
    private readonly List<(BatchId Bid, Incarnation Asker)> _verdictsDue = [];
    private readonly Queue<(GlobalBatch Batch, long Ticket)> _unflushed = new();
    private readonly List<GlobalMember> _members = [];
    private readonly List<Incarnation> _workers = [];
    private readonly Dictionary<Incarnation, BatchId> _lastSent = [];
    private readonly HashSet<Incarnation> _gone = [];
    private long _counter;
    private int _most = options.TransactionsPerBatch;

    /// <summary>Numbers that were given so far.</summary>
    internal long Given
    {
        get => _counter;
        init => _counter = value;
    }

    /// <summary>No number is left for another batch: only another master epoch has some (R1).</summary>
    public bool IsUsedUp => TransactionId.GlobalCounterLimit - 1 - _counter < options.TransactionsPerBatch;

    /// <summary>PACTs that wait for a number.</summary>
    public int Waiting => _waiting.Count;

    /// <summary>Batches that are not decided.</summary>
    public int Undecided => _open.Count;

    /// <summary>Decided batches of which some worker has no marker: their decisions must stay in the log (L8).</summary>
    public int Unmarked => _decided.Count;

    /// <summary>The lowest batch whose decision must stay in the log; none: every decision may go.</summary>
    public BatchId LowestUnmarked => _decided.Count > 0 ? _decided[0].Bid : _unflushed.Count > 0 ? _unflushed.Peek().Batch.Bid : BatchId.None;

    /// <summary>Handles one message.</summary>
    public void Step(in GlobalMessage message, List<GlobalOutput> outputs)
    {
        if (_gone.Contains(message.From))
        {
            return; // R4: nothing of a fenced epoch counts
        }

        switch (message.Kind)
        {
            case GlobalMessageKind.NewPact:
                _waiting.Add((GlobalPact)message.Body!);
                break;
            case GlobalMessageKind.Withdraw:
                OnWithdraw(message.From, message.Value, outputs);
                break;
            case GlobalMessageKind.PartPrepared:
                OnPartPrepared(message.Bid, message.From);
                break;
            case GlobalMessageKind.PartMarked:
                OnPartMarked(message.Bid, message.From);
                break;
            case GlobalMessageKind.Failed:
                NoteTooLarge(message);
                OnFailed(message.Bid, outputs);
                break;
            case GlobalMessageKind.UndoReport:
                OnUndoReport(message.From, message.Value, message.Count, message.Bid, outputs);
                break;
            case GlobalMessageKind.Undone:
                OnUndone(message.From, message.Value, outputs);
                break;
            case GlobalMessageKind.WorkerGone:
                OnWorkerGone(message.About, outputs);
                break;
            case GlobalMessageKind.StreamResolved:
                OnStreamResolved(message.About);
                break;
            case GlobalMessageKind.InDoubt:
                OnInDoubt(message.Bid, message.From, outputs);
                break;
            case GlobalMessageKind.Flushed:
                OnFlushed(message.Value, outputs);
                break;
            case GlobalMessageKind.DirectoryChanged:
                SendBackMoved(outputs);
                break;
            default:
                throw new ProtocolViolationException($"Master: no transition for {message.Kind}.");
        }

        Decide(outputs);
        FormBatches(outputs);
    }

    /// <summary>The shell has queued a decision; it is told when the ticket is flushed (L5).</summary>
    public void Queued(BatchId bid, long ticket)
    {
        foreach (var batch in _open)
        {
            if (batch.Bid == bid)
            {
                _unflushed.Enqueue((batch, ticket));
                return;
            }
        }

        throw new ProtocolViolationException($"Master: the decision of batch {bid} was queued, but it is not open.");
    }

    /// <summary>L6: a part has one record, and that has a limit. What fails for its size comes again in smaller batches.</summary>
    private void NoteTooLarge(in GlobalMessage message)
    {
        if (message.Count > 0 && Find(_open, message.Bid) is { } batch)
        {
            _most = Math.Max(1, batch.Members / 2);
        }
    }

    /// <summary>
    /// I2, M3: what waits for a number goes back as soon as its root is not its asker's to run, behind a freeze for instance. Else it could be numbered when the root has gone
    /// and come back, and its id been run by another worker meanwhile.
    /// </summary>
    private void SendBackMoved(List<GlobalOutput> outputs)
    {
        _waiting.RemoveWhere(pact =>
        {
            if (_gone.Contains(pact.Root) || placement.OwnerOf(pact.RootActor) == pact.Root)
            {
                return false;
            }

            var (kind, root) = (GlobalOutputKind.SendBack, pact.Root);
            outputs.Add(new GlobalOutput(kind, root, Value: pact.Handle, Body: pact.RootActor));
            return true;
        });
    }

    private void OnWithdraw(Incarnation root, long handle, List<GlobalOutput> outputs)
    {
        _waiting.RemoveWhere(pact =>
        {
            if (pact.Root != root || pact.Handle != handle)
            {
                return false;
            }

            outputs.Add(new GlobalOutput(GlobalOutputKind.SendDropped, root, Value: handle));
            return true;
        });
    }

    private void OnPartPrepared(BatchId bid, Incarnation worker) => Find(_open, bid)?.Prepared(worker); // else undone meanwhile: its Prepared is void

    private void OnPartMarked(BatchId bid, Incarnation worker)
    {
        if (Find(_decided, bid) is { } batch)
        {
            batch.Marked(worker);
            ForgetMarked();
        }
    }

    /// <summary>R4: only now, not when the worker was fenced: until its stream was read, somebody may ask for what it had prepared.</summary>
    private void OnStreamResolved(Incarnation worker)
    {
        foreach (var batch in _decided)
        {
            batch.Marked(worker);
        }

        foreach (var batch in _open)
        {
            batch.Marked(worker);
        }

        ForgetMarked();
    }

    private void OnInDoubt(BatchId bid, Incarnation asker, List<GlobalOutput> outputs)
    {
        if (Find(_decided, bid) is not null)
        {
            outputs.Add(new GlobalOutput(GlobalOutputKind.SendVerdict, asker, bid, Flag: true));
            return;
        }

        if (Find(_open, bid) is { IsDecided: true })
        {
            _verdictsDue.Add((bid, asker)); // L5: when it is durable
            return;
        }

        // R2: it is decided now, and never waits: whoever recovers holds others up.
        outputs.Add(new GlobalOutput(GlobalOutputKind.SendVerdict, asker, bid, Flag: false));
        OnFailed(bid, outputs);
    }

    private void OnFlushed(long ticket, List<GlobalOutput> outputs)
    {
        while (_unflushed.TryPeek(out var first) && first.Ticket <= ticket)
        {
            var batch = _unflushed.Dequeue().Batch;
            batch.IsDurable = true;
            _most = Math.Min(options.TransactionsPerBatch, _most * 2);
            _open.Remove(batch);
            _decided.Add(batch);
            for (var part = 0; part < batch.PartCount; part++)
            {
                if (!_gone.Contains(batch.WorkerOf(part)))
                {
                    outputs.Add(new GlobalOutput(GlobalOutputKind.SendDecided, batch.WorkerOf(part), batch.Bid));
                }
            }

            for (var i = _verdictsDue.Count - 1; i >= 0; i--)
            {
                if (_verdictsDue[i].Bid == batch.Bid)
                {
                    outputs.Add(new GlobalOutput(GlobalOutputKind.SendVerdict, _verdictsDue[i].Asker, batch.Bid, Flag: true));
                    _verdictsDue.RemoveAt(i);
                }
            }
        }

        ForgetMarked();
    }

    /// <summary>R: a decision is queued when all acknowledgements are in and all smaller ones are decided.</summary>
    private void Decide(List<GlobalOutput> outputs)
    {
        foreach (var batch in _open)
        {
            if (batch.IsDecided)
            {
                continue;
            }

            if (batch.Unprepared > 0 || IsHeldByUndo(batch.Bid))
            {
                return;
            }

            batch.IsDecided = true;
            outputs.Add(new GlobalOutput(GlobalOutputKind.Append, Bid: batch.Bid));
        }
    }

    private void FormBatches(List<GlobalOutput> outputs)
    {
        while (_waiting.Count > 0 && _undo is null && _open.Count < options.OpenBatches && !IsUsedUp)
        {
            if (!FormBatch(outputs))
            {
                return;
            }
        }
    }

    private bool FormBatch(List<GlobalOutput> outputs)
    {
        _members.Clear();
        _workers.Clear();
        do
        {
            // Where all that are taken go back, those behind them must not wait for a message that may never come.
            _taken.Clear();
            _waiting.Take(_most, MaxWeight, mayOwe: _open.Count == 0, _taken);
            Number(outputs);
        }
        while (_members.Count == 0 && _taken.Count > 0);

        if (_members.Count == 0)
        {
            return false;
        }

        _workers.Sort(static (left, right) => left.Worker.CompareTo(right.Worker));
        var bid = new BatchId(_members[0].Tid.Value);
        var batch = new GlobalBatch(bid, _members.Count);
        foreach (var worker in _workers)
        {
            batch.AddPart(worker);
            var part = new GlobalPart(bid, _lastSent.GetValueOrDefault(worker), MembersAt(worker));
            _lastSent[worker] = bid;
            outputs.Add(new GlobalOutput(GlobalOutputKind.SendPart, worker, bid, Body: part));
        }

        _open.Add(batch);
        return true;
    }

    /// <summary>Gives numbers to those who were taken, and finds out who has a part.</summary>
    private void Number(List<GlobalOutput> outputs)
    {
        foreach (var pact in _taken)
        {
            if (_gone.Contains(pact.Root))
            {
                continue; // A9: its relay asks the next owner
            }

            if (Place(pact, outputs) is not { } owners)
            {
                continue;
            }

            _members.Add(new GlobalMember(TransactionId.Global(masterEpoch, ++_counter), pact, owners));
            foreach (var owner in owners)
            {
                if (!_workers.Contains(owner))
                {
                    _workers.Add(owner);
                }
            }
        }
    }

    /// <summary>M1: ownership is looked at where numbers are given.</summary>
    /// <returns>Null: it goes back unnumbered.</returns>
    private Incarnation[]? Place(GlobalPact pact, List<GlobalOutput> outputs)
    {
        var owners = new Incarnation[pact.Declared.Length];
        for (var i = 0; i < owners.Length; i++)
        {
            var actor = pact.Declared[i].Actor;
            owners[i] = placement.OwnerOf(actor);

            // A9: a request whose root has moved goes back, too: the worker that keeps it does not run it any more.
            if (owners[i].IsNone || _gone.Contains(owners[i]) || (actor.Equals(pact.RootActor) && owners[i] != pact.Root))
            {
                outputs.Add(new GlobalOutput(GlobalOutputKind.SendBack, pact.Root, Value: pact.Handle, Body: actor));
                return null;
            }
        }

        return owners;
    }

    private GlobalMember[] MembersAt(Incarnation worker)
    {
        var count = 0;
        foreach (var member in _members)
        {
            count += member.Touches(worker) ? 1 : 0;
        }

        var here = new GlobalMember[count];
        var at = 0;
        foreach (var member in _members)
        {
            if (member.Touches(worker))
            {
                here[at++] = member;
            }
        }

        return here;
    }

    private void ForgetMarked()
    {
        for (var i = _decided.Count - 1; i >= 0; i--)
        {
            if (_decided[i].Unmarked == 0)
            {
                _decided.RemoveAt(i);
            }
        }
    }

    private static GlobalBatch? Find(List<GlobalBatch> batches, BatchId bid)
    {
        foreach (var batch in batches)
        {
            if (batch.Bid == bid)
            {
                return batch;
            }
        }

        return null;
    }
}
