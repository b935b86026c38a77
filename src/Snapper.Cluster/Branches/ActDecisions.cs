using Snapper.Cluster.Recovering;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Execution;

namespace Snapper.Cluster.Branches;

/// <summary>
/// What this worker has decided on ACTs that others have parts in, and who has no marker of it yet: until all have, the records stay in the log and are told to whoever asks
/// (R2). On the first executor alone.
/// </summary>
internal sealed class ActDecisions(IBranchNode node, Worker worker)
{
    private readonly Dictionary<TransactionId, Decision> _unmarked = [];

    /// <summary>Decided ACTs of this life that others may still ask for; while there are any, the log keeps them.</summary>
    public int Unmarked => _unmarked.Count;

    /// <summary>Decisions of earlier lives of this worker that others may not have marked; null: none.</summary>
    public RetainedDecisions? Kept { get; set; }

    /// <summary>An ACT of several workers is committed by this record: it stays in the log until all others have their markers (R2).</summary>
    public void NoteDecided(ActOutcome outcome, long sequence)
    {
        if (sequence == 0)
        {
            return; // the log takes nothing of this life any more: the ACT is not committed, and never will be
        }

        worker.Checkpoints.Hold(sequence);
        _unmarked.Add(outcome.Tid, new Decision(sequence, [.. outcome.Others]));
    }

    /// <summary>The marker of a decided part is durable. Said to the root's worker in its present life: a later one keeps the decision for this worker.</summary>
    public void SendMarked(ActOutcome part)
    {
        var root = part.RootWorker.Worker == node.Self.Worker ? part.RootWorker : node.Gate.Hub.Known(part.RootWorker.Worker);
        node.Send(root, new ActMarkedMessage(part.Tid));
    }

    /// <summary>Of an ACT that was decided, no part waits here: its marker is in the log, or will be when this returns.</summary>
    public async Task SayMarked(Incarnation to, TransactionId tid)
    {
        try
        {
            await worker.Log.Drain(worker.Stopping).ConfigureAwait(false);
            node.Send(to, new ActMarkedMessage(tid));
        }
        catch (OperationCanceledException) when (worker.Stopping.IsCancellationRequested)
        {
        }
    }

    /// <summary>A worker's marker of an ACT is durable: nobody there will ask for it.</summary>
    public void OnMarked(Incarnation from, TransactionId tid)
    {
        Kept?.OnMarked(from, tid);
        if (_unmarked.TryGetValue(tid, out var decision))
        {
            Drop(from, tid, decision);
        }
    }

    /// <summary>The stream of a life that is over was resolved: nobody will ask for what was decided for it.</summary>
    /// <param name="life">The life.</param>
    /// <param name="isLast">Its worker owns nothing, so that the same is true of its later lives. Records name the workers that have voted, not their lives.</param>
    public void OnResolved(Incarnation life, bool isLast)
    {
        if (isLast)
        {
            Kept?.Forget(life.Worker);
        }

        foreach (var (tid, decision) in _unmarked)
        {
            Drop(life, tid, decision);
        }
    }

    /// <summary>Somebody recovers the stream of a worker that had voted for an ACT of this life, and asks what became of it (R2).</summary>
    public void OnAsked(Incarnation from, TransactionId tid)
    {
        if (!_unmarked.ContainsKey(tid))
        {
            // Not decided yet: from here on it cannot be, unless it stands in the queue of this very executor. Who asks has lost its part, or another asks for it (W2).
            node.Acts.EndAtRoot(tid, new AbortInfo(AbortReason.Migration, $"{from} asked what became of the transaction before it was decided."));
            worker.SendToCommit(new Message { Kind = MessageKind.ActVoted, Tid = tid });
        }

        worker.PostToCommits(() => Answer(from, tid));
    }

    /// <summary>A life of a worker is known: perhaps one that waits for what an earlier life of this worker had decided.</summary>
    public void OnUp(Incarnation peer) => Kept?.OnUp(peer);

    private void Drop(Incarnation other, TransactionId tid, Decision decision)
    {
        if (decision.Missing.Remove(other) && decision.Missing.Count == 0)
        {
            _unmarked.Remove(tid);
            worker.Checkpoints.Release(decision.Sequence);
        }
    }

    private void Answer(Incarnation from, TransactionId tid)
    {
        if (!_unmarked.TryGetValue(tid, out var decision))
        {
            node.Send(from, new VerdictMessage(tid.Value, Committed: false));
        }
        else if (worker.Log.DurableSequence >= decision.Sequence)
        {
            node.Send(from, new VerdictMessage(tid.Value, Committed: true));
        }
        else
        {
            worker.After(TimeSpan.FromMilliseconds(5), node.First, () => Answer(from, tid)); // R: durable before anybody hears of it
        }
    }

    private sealed record Decision(long Sequence, List<Incarnation> Missing);
}
