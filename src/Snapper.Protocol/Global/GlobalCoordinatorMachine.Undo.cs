using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Global;

/// <summary>
/// A failure in a global batch (A9): numbering stops, the workers say what they would lose, until no lower global batch is among it; then all of it goes, and the
/// workers send their own requests again. No decision is ever written for what is lost.
/// </summary>
public sealed partial class GlobalCoordinatorMachine
{
    private readonly List<BatchId> _failedLater = [];
    private Undo? _undo;
    private long _undoCount;

    /// <summary>Undos so far.</summary>
    public long Undos => _undoCount;

    /// <summary>A9: nothing is decided that is being undone, or that has failed meanwhile and is undone next: somebody may have been told so (R2).</summary>
    private bool IsHeldByUndo(BatchId bid)
    {
        if (_undo is null)
        {
            return false;
        }

        var lowest = _undo.Lowest;
        foreach (var failed in _failedLater)
        {
            lowest = failed < lowest ? failed : lowest;
        }

        return bid >= lowest;
    }

    private void OnFailed(BatchId bid, List<GlobalOutput> outputs)
    {
        var batch = Find(_open, bid);
        if (batch is null)
        {
            if (Find(_decided, bid) is not null)
            {
                throw new ProtocolViolationException($"Master: global batch {bid} failed after it was decided.");
            }

            return; // it is gone already
        }

        if (batch.IsDecided)
        {
            throw new ProtocolViolationException($"Master: global batch {bid} failed after all its workers had prepared it.");
        }

        if (_undo is null)
        {
            _undo = new Undo(++_undoCount, bid);
            StartRound(outputs);
        }
        else if (bid < _undo.Lowest)
        {
            if (_undo.IsGoing)
            {
                _failedLater.Add(bid);
            }
            else
            {
                _undo.Lowest = bid;
                StartRound(outputs);
            }
        }
    }

    /// <summary>Asks every worker that has a part in what is lost so far.</summary>
    private void StartRound(List<GlobalOutput> outputs)
    {
        var undo = _undo!;
        undo.Round++;
        undo.Reported = BatchId.None;
        AwaitConcerned(undo);
        foreach (var worker in undo.Missing)
        {
            outputs.Add(new GlobalOutput(GlobalOutputKind.SendUndo, worker, undo.Lowest, undo.Number, undo.Round));
        }

        EndRoundIfOver(outputs);
    }

    private void AwaitConcerned(Undo undo)
    {
        undo.Missing.Clear();
        foreach (var batch in _open)
        {
            for (var part = 0; batch.Bid >= undo.Lowest && part < batch.PartCount; part++)
            {
                var worker = batch.WorkerOf(part);
                if (!_gone.Contains(worker) && !undo.Missing.Contains(worker))
                {
                    undo.Missing.Add(worker);
                }
            }
        }

        undo.Missing.Sort(static (left, right) => left.Worker.CompareTo(right.Worker));
    }

    private void OnUndoReport(Incarnation worker, long number, int round, BatchId lowest, List<GlobalOutput> outputs)
    {
        if (_undo is not { IsGoing: false } undo || undo.Number != number || undo.Round != round)
        {
            return; // an answer to an earlier round
        }

        if (lowest != BatchId.None && (undo.Reported == BatchId.None || lowest < undo.Reported))
        {
            undo.Reported = lowest;
        }

        undo.Missing.Remove(worker);
        EndRoundIfOver(outputs);
    }

    private void EndRoundIfOver(List<GlobalOutput> outputs)
    {
        var undo = _undo!;
        if (undo.Missing.Count > 0)
        {
            return;
        }

        if (undo.IsGoing)
        {
            End(outputs);
        }
        else if (undo.Reported != BatchId.None && undo.Reported < undo.Lowest)
        {
            if (Find(_open, undo.Reported) is null or { IsDecided: true })
            {
                throw new ProtocolViolationException($"Master: a worker loses global batch {undo.Reported}, which it had prepared behind nothing that can be lost (L3).");
            }

            undo.Lowest = undo.Reported;
            StartRound(outputs);
        }
        else
        {
            Go(outputs);
        }
    }

    private void Go(List<GlobalOutput> outputs)
    {
        var undo = _undo!;
        undo.IsGoing = true;
        AwaitConcerned(undo);
        foreach (var worker in undo.Missing)
        {
            outputs.Add(new GlobalOutput(GlobalOutputKind.SendUndoGo, worker, undo.Lowest, undo.Number));
        }

        EndRoundIfOver(outputs);
    }

    private void OnUndone(Incarnation worker, long number, List<GlobalOutput> outputs)
    {
        if (_undo is { IsGoing: true } undo && undo.Number == number && undo.Missing.Remove(worker))
        {
            EndRoundIfOver(outputs);
        }
    }

    private void End(List<GlobalOutput> outputs)
    {
        var lowest = _undo!.Lowest;
        _open.RemoveAll(batch => batch.Bid >= lowest);
        _lastSent.Clear(); // of what is lost, some parts had no place yet; nothing comes behind them
        _undo = null;
        if (_failedLater.Count > 0)
        {
            var first = _failedLater.Min(); // nobody says it again; with the lowest the others go, too
            _failedLater.Clear();
            OnFailed(first, outputs);
        }
    }

    private void OnWorkerGone(Incarnation worker, List<GlobalOutput> outputs)
    {
        if (!_gone.Add(worker))
        {
            return;
        }

        _lastSent.Remove(worker);
        foreach (var batch in _open)
        {
            if (batch.IsUnpreparedAt(worker))
            {
                // What it has prepared stands: its Prepared is in its stream (R3).
                OnFailed(batch.Bid, outputs);
                break;
            }
        }

        if (_undo is { } undo && undo.Missing.Remove(worker))
        {
            EndRoundIfOver(outputs);
        }
    }

    private sealed class Undo(long number, BatchId lowest)
    {
        public long Number { get; } = number;

        /// <summary>Everything from here on is lost (gmin).</summary>
        public BatchId Lowest { get; set; } = lowest;

        public int Round { get; set; }

        public BatchId Reported { get; set; }

        /// <summary>Workers whose answer is missing.</summary>
        public List<Incarnation> Missing { get; } = [];

        /// <summary>The fixpoint is reached; the workers undo.</summary>
        public bool IsGoing { get; set; }
    }
}
