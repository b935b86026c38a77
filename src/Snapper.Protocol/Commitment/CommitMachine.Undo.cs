using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Commitment;

/// <summary>
/// The undo manager (A4 to A8): takes a failed PACT and everything that built on it out of the batches that are not
/// final, and sends those transactions again under new numbers. One undo at a time, in rounds, until no victim is new.
/// </summary>
public sealed partial class CommitMachine
{
    private readonly Queue<Victim> _failed = new();
    private Undo? _undo;
    private long _undoCount;

    /// <summary>Undos so far.</summary>
    public long Undos => _undoCount;

    /// <summary>Number of the last undo that is over; 0: none was.</summary>
    public long Undone { get; private set; }

    /// <summary>
    /// An undo takes ACTs back: they are under way no more, and it may have yet to go to actors that they had called.
    /// </summary>
    public bool TakesActsBack => _undo is { Acts.Count: > 0 };

    /// <summary>Transactions removed so far, ACTs included.</summary>
    public long Removals { get; private set; }

    private void OnPactFailed(TransactionId tid, BatchId bid, OutputBuffer outputs)
    {
        var batch = TryFind(bid);
        if (batch is null)
        {
            throw new ProtocolViolationException($"Transaction {tid} failed after its batch {bid} was final.");
        }

        var member = batch.MemberOf(tid);
        if (batch.StateOf(member) == MemberState.Removed)
        {
            return; // it was a victim already and runs again
        }

        // A1: a root that failed unmarked holds its turns from now on.
        batch.Tickets[member].Marked = true;
        if (batch.IsGlobal)
        {
            ReportFailed(batch, tooLarge: false, outputs); // A9: the master undoes it, everywhere
            return;
        }

        _failed.Enqueue(new Victim(tid, bid));
        StartUndo(outputs);
    }

    /// <summary>Everything that has failed until now is undone together.</summary>
    private void StartUndo(OutputBuffer outputs)
    {
        if (_undo is not null)
        {
            return;
        }

        Undo? undo = null;
        while (_failed.TryDequeue(out var failed))
        {
            var batch = TryFind(failed.Bid);
            if (batch is not null && batch.StateOf(batch.MemberOf(failed.Tid)) != MemberState.Removed)
            {
                undo ??= new Undo(++_undoCount);
                if (!undo.Fresh.Contains(failed))
                {
                    undo.Fresh.Add(failed);
                }
            }
        }

        if (undo is not null)
        {
            _undo = undo;
            StartRound(outputs);
        }
    }

    /// <summary>
    /// L6: a component is in one record, and that has a limit. How much it changes is known at its end only, so one
    /// that turns out too large gives up its last transactions, which run again in a later batch like any victim (A5).
    /// A transaction that is too large by itself runs again, too: alone, weighed at its end, and aborted there.
    /// </summary>
    /// <returns>True: it must not become final as it is.</returns>
    private bool IsTooLarge(Component component, long bytes, OutputBuffer outputs)
    {
        if (bytes <= _limit.Bytes)
        {
            return false;
        }

        if (_undo is not null)
        {
            return true; // its end looks again
        }

        var batch = component.Batch;
        var live = 0;
        var aborted = 0;
        for (var i = component.FirstMember; i >= 0; i = batch.NextMember(i))
        {
            live += batch.StateOf(i) == MemberState.Removed ? 0 : 1;
            aborted += batch.StateOf(i) == MemberState.Aborted ? 1 : 0;
        }

        if (live == 1 && aborted == 1)
        {
            return false; // what it weighs is its reason, which is bounded by itself; running again would not shorten it
        }

        Trace?.Outgrown(component);
        // A quarter less than a fair share: transactions differ, and every further round runs somebody once more.
        var keep = live == 1 ? 0 : (int)Math.Clamp(live * (double)_limit.Bytes / bytes * 0.75, 1, live - 1);
        _undo = new Undo(++_undoCount);
        for (var i = component.FirstMember; i >= 0; i = batch.NextMember(i))
        {
            if (batch.StateOf(i) != MemberState.Removed && keep-- <= 0)
            {
                batch.Tickets[i].Marked |= live == 1; // A1: its turns are held, so that its abort is local (A3)
                _undo.Fresh.Add(new Victim(new TransactionId(batch.Bid.Value + i), batch.Bid));
            }
        }

        StartRound(outputs);
        return true;
    }

    /// <summary>Sends what is newly removed to its declared actors, to each what concerns it.</summary>
    private void StartRound(OutputBuffer outputs)
    {
        var undo = _undo!;
        AppendSets(all: true, outputs); // D6: an actor that hears of an undo knows of all that is final there
        undo.Fresh.Sort(static (left, right) => left.Tid.CompareTo(right.Tid));
        var orders = new SortedDictionary<ActorKey, List<Victim>>();
        foreach (var victim in undo.Fresh)
        {
            if (!victim.Tid.IsAct)
            {
                RemovePact(undo, victim, orders, outputs);
            }
            else if (undo.ActParticipants.Remove(victim.Tid, out var participants))
            {
                RemoveAct(victim.Tid, outputs);
                foreach (var actor in participants)
                {
                    AddOnce(orders, actor, victim);
                }
            }
            else
            {
                throw new ProtocolViolationException($"ACT {victim.Tid} is undone before its root has answered.");
            }
        }

        Trace?.Removing([.. undo.Fresh.Select(static victim => victim.Tid)]);
        undo.Fresh.Clear();
        undo.Missing = orders.Count;
        foreach (var (actor, removed) in orders)
        {
            undo.Touched.Add(actor);
            ReopenSlots(actor, undo.Number);
            outputs.ToActor(MessageKind.Undo, actor, TransactionId.None, BatchId.None).Body = new UndoOrder(removed);
        }

        EndRoundIfOver(outputs);
    }

    private void RemovePact(
        Undo undo, Victim victim, SortedDictionary<ActorKey, List<Victim>> orders, OutputBuffer outputs)
    {
        var batch = Find(victim.Bid);
        var member = batch.MemberOf(victim.Tid);
        if (batch.ComponentOf(member).IsFinal)
        {
            throw new ProtocolViolationException($"Transaction {victim.Tid} is final and would be undone (D6).");
        }

        batch.Remove(member);
        Removals++;
        var ticket = batch.Tickets[member];
        if (!ticket.IsRemote)
        {
            undo.Again.Add(ticket); // A9: by the root's worker, never by another
        }

        ref var message = ref outputs.Add(OutputKind.SendToRoot, MessageKind.Removed);
        message.Tid = victim.Tid;
        message.Body = ticket;
        foreach (var access in ticket.Here)
        {
            AddOnce(orders, access.Actor, victim);
        }
    }

    private void RemoveAct(TransactionId tid, OutputBuffer outputs)
    {
        Removals++;
        OnActAborted(tid, outputs);
    }

    private void OnUndoAcknowledged(ActorKey actor, List<Victim>? victims, OutputBuffer outputs)
    {
        var undo = _undo ?? throw new ProtocolViolationException($"{actor} acknowledges an undo that nobody started.");
        if (victims is not null)
        {
            foreach (var victim in victims)
            {
                AddVictim(undo, victim, outputs);
            }
        }

        undo.Missing--;
        EndRoundIfOver(outputs);
    }

    private void AddVictim(Undo undo, Victim victim, OutputBuffer outputs)
    {
        if (victim.Tid.IsAct)
        {
            if (undo.Acts.Add(victim.Tid))
            {
                // A5: its root poisons its branches and acknowledges with the actors it visited before UndoDone.
                undo.Missing++;
                ref var message = ref outputs.Add(OutputKind.SendToRoot, MessageKind.Removed);
                message.Tid = victim.Tid;
            }

            return;
        }

        var batch = Find(victim.Bid);
        var state = batch.StateOf(batch.MemberOf(victim.Tid));
        if (state == MemberState.Removed || undo.Fresh.Contains(victim))
        {
            return;
        }

        if (batch.IsGlobal)
        {
            undo.NoteGlobal(batch); // A9: whole batches go, on every worker
            return;
        }

        undo.Fresh.Add(victim);
    }

    private void OnBranchAbortAcknowledged(TransactionId tid, IReadOnlyList<ActorKey>? participants, OutputBuffer outputs)
    {
        var undo = _undo ?? throw new ProtocolViolationException($"ACT {tid} acknowledges an undo that nobody started.");
        if (participants is not null)
        {
            undo.ActParticipants[tid] = participants;
            undo.Fresh.Add(new Victim(tid, BatchId.None));
        }

        undo.Missing--;
        EndRoundIfOver(outputs);
    }

    private void EndRoundIfOver(OutputBuffer outputs)
    {
        var undo = _undo!;
        if (undo.Missing > 0)
        {
            return;
        }

        if (undo.Fresh.Count > 0)
        {
            StartRound(outputs);
            return;
        }

        if (undo.MustAskMaster)
        {
            undo.IsWaiting = true;
            ReportFailed(undo.GlobalVictim!, tooLarge: false, outputs);
            TakeParkedGlobalUndo(outputs);
            return;
        }

        _undo = null;
        Undone = undo.Number;
        Trace?.UndoOver();
        foreach (var actor in undo.Touched)
        {
            outputs.ToActor(MessageKind.UndoDone, actor, TransactionId.None, BatchId.None).Value = undo.Number;
        }

        SendAgain(undo, outputs);
        ReportUndone(undo, outputs);
        FinalizeAll(outputs);
        StartUndo(outputs);
        if (_undo is null or { IsWaiting: true })
        {
            TakeParkedGlobalUndo(outputs);
        }
    }

    private void TakeParkedGlobalUndo(OutputBuffer outputs)
    {
        if (_parkedGlobalUndo is { } parked)
        {
            _parkedGlobalUndo = null;
            OnGlobalUndo(parked, outputs);
        }
    }

    private static void SendAgain(Undo undo, OutputBuffer outputs)
    {
        undo.Again.Sort(static (left, right) => left.Tid.CompareTo(right.Tid));
        foreach (var ticket in undo.Again)
        {
            ref var message = ref outputs.Add(OutputKind.SendToCoordinator, MessageKind.NewPact, ticket.Coordinator);
            message.Tid = ticket.Tid;
            message.Body = ticket;
            Forget(ticket);
        }

        foreach (var ticket in undo.Dropped)
        {
            if (!ticket.IsRemote)
            {
                outputs.Add(OutputKind.SendToCoordinator, MessageKind.NewPact, ticket.Coordinator).Body = ticket;
                Forget(ticket);
            }
        }
    }

    private static void Forget(PactTicket ticket)
    {
        ticket.Tid = TransactionId.None;
        ticket.Bid = BatchId.None;
        ticket.Here = ticket.Declared;
        ticket.Global = null;
    }

    private void ReopenSlots(ActorKey actor, long number)
    {
        foreach (var batch in _open)
        {
            for (var slot = 0; slot < batch.SlotCount; slot++)
            {
                if (batch.SubBatchOf(slot) is { IsInOrder: false } subBatch && subBatch.Actor.Equals(actor))
                {
                    batch.ReopenSlot(slot, number);
                    break;
                }
            }
        }
    }

    /// <summary>
    /// A batch that another coordinator announces while an undo is going on: its actors may have run it before the undo
    /// reached them, so that only what they send after it counts. (An actor acknowledges after such a completion, and the
    /// announcement precedes the completion, so it always arrives while the undo is going on.)
    /// </summary>
    private void RequireUndo(Batch batch)
    {
        if (_undo is null)
        {
            return;
        }

        for (var slot = 0; slot < batch.SlotCount; slot++)
        {
            if (_undo.Touched.Contains(batch.SubBatchOf(slot).Actor))
            {
                batch.ReopenSlot(slot, _undo.Number);
            }
        }
    }

    private static void AddOnce(SortedDictionary<ActorKey, List<Victim>> orders, ActorKey actor, Victim victim)
    {
        if (!orders.TryGetValue(actor, out var victims))
        {
            orders.Add(actor, victims = []);
        }

        if (victims.Count == 0 || victims[^1] != victim)
        {
            victims.Add(victim);
        }
    }

    private sealed class Undo(long number)
    {
        public long Number { get; } = number;

        public List<Victim> Fresh { get; } = [];

        /// <summary>Answers that this round waits for.</summary>
        public int Missing { get; set; }

        /// <summary>ACT victims that were told, so that each is told once.</summary>
        public HashSet<TransactionId> Acts { get; } = [];

        public Dictionary<TransactionId, IReadOnlyList<ActorKey>> ActParticipants { get; } = [];

        /// <summary>Actors that got an undo and wait for its end.</summary>
        public SortedSet<ActorKey> Touched { get; } = [];

        /// <summary>PACTs to be numbered anew.</summary>
        public List<PactTicket> Again { get; } = [];

        /// <summary>The lowest global batch with a victim that only the master can undo; null: none.</summary>
        public Batch? GlobalVictim { get; private set; }

        /// <summary>The master's undo that this is a part of; 0: none.</summary>
        public long MasterNumber { get; private set; }

        /// <summary>The master takes back every part from this number on.</summary>
        public BatchId MasterLowest { get; private set; }

        /// <summary>Its own rounds are over; the master says how it goes on.</summary>
        public bool IsWaiting { get; set; }

        /// <summary>Tickets of parts that had no place yet.</summary>
        public List<PactTicket> Dropped { get; } = [];

        /// <summary>A victim is in a global batch, and the master has not been told.</summary>
        public bool MustAskMaster => GlobalVictim is { IsGlobal: true } && MasterNumber == 0;

        public void NoteGlobal(Batch batch)
        {
            if (GlobalVictim is null || batch.Bid < GlobalVictim.Bid)
            {
                GlobalVictim = batch;
            }
        }

        public void AskedByMaster(long number, BatchId lowest)
        {
            MasterNumber = number;
            MasterLowest = lowest;
            IsWaiting = true;
        }

        public void Go() => IsWaiting = false;
    }
}
