using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Commitment;

/// <summary>Parts of global batches in this worker's order: prepared (L3), decided (L2), or lost with everything behind them (A9).</summary>
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
        if (_openParts == 0)
        {
            return; // local batches and ACTs do not pay for global ones
        }

        _order.FindGlobalBounds(_open, _final, _bounds, _doomed);
        foreach (var bounds in _bounds)
        {
            ref var message = ref outputs.Add(OutputKind.SendToRootWorker, MessageKind.ActBounds);
            message.Tid = bounds.Tid;
            message.Bid = bounds.Floor;
            message.Value = bounds.Ceil.Value;
        }

        _bounds.Clear();
    }

    private bool TryPrepare(Batch batch, OutputBuffer outputs)
    {
        if (batch.PartState == PartState.Prepared)
        {
            return true;
        }

        if (_limit.OfBatch(batch) > _limit.Bytes && !IsRefusedAlone(batch))
        {
            // L6: the master makes smaller ones. One that is too large by itself runs again, weighed, and is aborted.
            ReportFailed(batch, tooLarge: true, outputs);
            return false;
        }

        batch.PartState = PartState.Prepared;
        outputs.Add(OutputKind.Append).Body = new PreparedPart(batch);
        return true;
    }

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
        FinalizeBatches(outputs);
    }

    private static void ReportFailed(Batch batch, bool tooLarge, OutputBuffer outputs)
    {
        ref var message = ref outputs.Add(OutputKind.SendToMaster, MessageKind.GlobalFailed);
        message.Bid = batch.Part!.Bid;
        message.Count = tooLarge ? 1 : 0;
    }

    /// <summary>The master asks what would be lost. Nothing of it is queued from here on (A6).</summary>
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
        _undo.AskedByMaster(message.Value);
        if (message.Body is List<PactTicket> dropped)
        {
            _undo.Dropped.AddRange(dropped);
        }

        foreach (var batch in _open)
        {
            if (batch.IsGlobal && batch.Part!.Bid >= message.Bid)
            {
                _undo.Lower(batch.Bid);
                break;
            }
        }

        ref var report = ref outputs.Add(OutputKind.SendToMaster, MessageKind.GlobalUndoReport);
        report.Value = message.Value;
        report.Count = message.Count;
        report.Bid = LowestGlobalFrom(_undo.Lowest);
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

    private BatchId LowestGlobalFrom(BatchId lowest)
    {
        foreach (var batch in _open)
        {
            if (batch.IsGlobal && batch.Bid >= lowest)
            {
                return batch.Part!.Bid;
            }
        }

        return BatchId.None;
    }

    /// <summary>A9: every batch that is not final goes, from the lowest lost one on, and what built on it.</summary>
    private void OnGlobalUndoGo(long number, OutputBuffer outputs)
    {
        if (_undo is not { IsWaiting: true } undo || undo.MasterNumber != number)
        {
            throw new ProtocolViolationException($"The master ends undo {number}, which was not reported to it.");
        }

        undo.Go();
        foreach (var batch in _open)
        {
            if (batch.Bid < undo.Lowest)
            {
                continue;
            }

            for (var i = 0; i < batch.Tickets.Length; i++)
            {
                if (batch.StateOf(i) != MemberState.Removed)
                {
                    undo.Fresh.Add(new Victim(new TransactionId(batch.Bid.Value + i), batch.Bid));
                }
            }

            if (batch.IsGlobal)
            {
                var wasPrepared = batch.PartState == PartState.Prepared;
                batch.PartState = PartState.Lost;
                if (wasPrepared)
                {
                    // R1: presumed abort needs no record; the marker lets the log be trimmed.
                    outputs.Add(OutputKind.Append).Body = new DecidedPart(batch, Committed: false);
                }
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
        foreach (var batch in _open)
        {
            if (batch.IsGlobal && batch.Part!.Bid == gbid)
            {
                return batch;
            }
        }

        return null;
    }
}
