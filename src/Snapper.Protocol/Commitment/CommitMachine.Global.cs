using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Commitment;

/// <summary>
/// Parts of global batches in this worker's order: prepared (D7), decided, or lost with what builds on them (A9, D8).
/// </summary>
public sealed partial class CommitMachine
{
    private Message? _parkedGlobalUndo;

    private readonly List<GlobalBounds> _bounds = [];

    /// <summary>The order of ACTs and batches has changed: tells what follows for other workers (H6), and ends whom it cannot hold (H5).</summary>
    private void JudgeOrder(OutputBuffer outputs)
    {
        TellGlobalBounds(outputs);
        EndAborting(outputs);
    }

    /// <summary>H6: what this worker sees of where ACTs stand among the global batches, for the workers of their roots.</summary>
    private void TellGlobalBounds(OutputBuffer outputs)
    {
        if (_parts.Count == 0)
        {
            return; // local batches and ACTs do not pay for global ones
        }

        _order.FindGlobalBounds(_parts, _bounds, _doomed);
        foreach (var bounds in _bounds)
        {
            ref var message = ref outputs.Add(OutputKind.SendToRootWorker, MessageKind.ActBounds);
            message.Tid = bounds.Tid;
            message.Bid = bounds.Floor;
            message.Value = bounds.Ceil.Value;
        }

        _bounds.Clear();
    }

    /// <summary>
    /// D7: a part is prepared after all earlier ones, when on its actors everything before it is final or a prepared
    /// part.
    /// </summary>
    private void PrepareParts(OutputBuffer outputs)
    {
        foreach (var part in _parts)
        {
            if (part.PartState == PartState.Executing && !TryPrepare(part, outputs))
            {
                return;
            }
        }
    }

    private bool TryPrepare(Batch part, OutputBuffer outputs)
    {
        var whole = part.Components[0];
        if (!whole.IsComplete || !IsBehindPreparedAlone(part) || IsHeldByUndo(part))
        {
            return false;
        }

        RequireDecided(whole);
        if (_limit.OfComponent(whole) > _limit.Bytes && !IsRefusedAlone(part))
        {
            // L6: the master makes smaller ones. One that is too large by itself runs again, weighed, and is aborted.
            ReportFailed(part, tooLarge: true, outputs);
            return false;
        }

        part.PartState = PartState.Prepared;
        Append(new PreparedPart(part), outputs);
        return true;
    }

    private static bool IsBehindPreparedAlone(Batch part)
    {
        for (var slot = 0; slot < part.SlotCount; slot++)
        {
            if (part.SubBatchOf(slot).Before is { IsInOrder: false } before
                && before.Component?.Batch is not { IsGlobal: true, PartState: PartState.Prepared or PartState.Decided })
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Nothing is prepared that the master is about to take back.</summary>
    private bool IsHeldByUndo(Batch part) => _undo is not null
        && ((_undo.MasterNumber != 0 && part.Part!.Bid >= _undo.MasterLowest)
            || (_undo.GlobalVictim is { } victim && part.Part!.Bid >= victim.Part!.Bid));

    /// <summary>What it weighs is its reason, which is bounded by itself; running again would not shorten it.</summary>
    private static bool IsRefusedAlone(Batch batch) =>
        batch.Tickets.Length == 1 && batch.StateOf(0) == MemberState.Aborted;

    private void OnGlobalDecided(BatchId gbid, OutputBuffer outputs)
    {
        if (FindPart(gbid) is not { } batch)
        {
            return; // said twice: it is final here
        }

        if (batch.PartState != PartState.Prepared)
        {
            throw new ProtocolViolationException($"Global batch {gbid} is decided, but is {batch.PartState} here as batch {batch.Bid}.");
        }

        batch.PartState = PartState.Decided;
        _ready.Enqueue(batch.Components[0]);
        Finalize(outputs);
    }

    /// <summary>
    /// D7: parts are final in their order. A later one may be ready before: its decision may come first, since the
    /// successor of a master is asked about each part by itself, and an undo takes the earlier one's completions back
    /// until its actors have acknowledged (A5).
    /// </summary>
    private Batch? FirstPart()
    {
        foreach (var part in _parts)
        {
            if (part.IsGlobal)
            {
                return part;
            }
        }

        return null;
    }

    private static void ReportFailed(Batch batch, bool tooLarge, OutputBuffer outputs)
    {
        ref var message = ref outputs.Add(OutputKind.SendToMaster, MessageKind.GlobalFailed);
        message.Bid = batch.Part!.Bid;
        message.Count = tooLarge ? 1 : 0;
    }

    /// <summary>
    /// The master asks what would be lost: every part from a number on. None of them is prepared from here on.
    /// </summary>
    private void OnGlobalUndo(in Message message, OutputBuffer outputs)
    {
        if (_undo is { IsWaiting: false })
        {
            // A round of this worker's own is under way; it ends by itself.
            if (_parkedGlobalUndo is { Body: List<PactTicket> earlier })
            {
                KeepDropped(ref _parkedGlobalUndo, message, earlier);
            }
            else
            {
                _parkedGlobalUndo = message;
            }

            return;
        }

        _undo ??= new Undo(++_undoCount);
        _undo.AskedByMaster(message.Value, message.Bid);
        if (message.Body is List<PactTicket> dropped)
        {
            _undo.Dropped.AddRange(dropped);
        }

        ref var report = ref outputs.Add(OutputKind.SendToMaster, MessageKind.GlobalUndoReport);
        report.Value = message.Value;
        report.Count = message.Count;
        report.Bid = LowestLost(_undo);
    }

    private static void KeepDropped(ref Message? parked, in Message next, List<PactTicket> earlier)
    {
        var merged = next;
        if (merged.Body is List<PactTicket> dropped)
        {
            earlier.AddRange(dropped);
        }

        merged.Body = earlier;
        parked = merged;
    }

    private BatchId LowestLost(Undo undo)
    {
        var lowest = undo.GlobalVictim is { IsGlobal: true } victim ? victim.Part!.Bid : BatchId.None;
        foreach (var part in _parts)
        {
            if (part.IsGlobal && part.Part!.Bid >= undo.MasterLowest)
            {
                return lowest != BatchId.None && lowest < part.Part.Bid ? lowest : part.Part.Bid;
            }
        }

        return lowest;
    }

    /// <summary>
    /// D8: every part from the lowest lost one on goes, and by the rounds that follow what has built on it.
    /// </summary>
    private void OnGlobalUndoGo(long number, OutputBuffer outputs)
    {
        if (_undo is not { IsWaiting: true } undo || undo.MasterNumber != number)
        {
            throw new ProtocolViolationException($"The master ends undo {number}, which was not reported to it.");
        }

        undo.Go();
        foreach (var part in _parts)
        {
            if (!part.IsGlobal || part.Part!.Bid < undo.MasterLowest)
            {
                continue;
            }

            for (var i = 0; i < part.Tickets.Length; i++)
            {
                if (part.StateOf(i) != MemberState.Removed)
                {
                    undo.Fresh.Add(new Victim(new TransactionId(part.Bid.Value + i), part.Bid));
                }
            }

            var wasPrepared = part.PartState == PartState.Prepared;
            part.PartState = PartState.Lost;
            if (wasPrepared)
            {
                // R1: presumed abort needs no record; the marker lets the log be trimmed.
                Append(new DecidedPart(part, Committed: false), outputs);
            }
        }

        StartRound(outputs);
    }

    private void ReportUndone(Undo undo, OutputBuffer outputs)
    {
        if (undo.MasterNumber != 0)
        {
            outputs.Add(OutputKind.SendToMaster, MessageKind.GlobalUndone).Value = undo.MasterNumber;
        }
    }

    private Batch? FindPart(BatchId gbid)
    {
        foreach (var batch in _parts)
        {
            if (batch.IsGlobal && batch.Part!.Bid == gbid)
            {
                return batch;
            }
        }

        return null;
    }
}
