using Snapper.Cluster.Node;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Storage.Log.Records;

namespace Snapper.Cluster.Recovering;

/// <summary>
/// ACTs that earlier lives of this worker have decided for other workers, too: their records stay in the log until every one of those has said that it waits for none of them
/// (R2, L8). On the first executor alone.
/// </summary>
internal sealed class RetainedDecisions
{
    private readonly INode _node;
    private readonly Worker _worker;
    private readonly long _held;
    private readonly Dictionary<int, HashSet<TransactionId>> _missing = [];

    /// <param name="node">This worker's place among the others.</param>
    /// <param name="worker">This worker.</param>
    /// <param name="acts">From its log.</param>
    /// <param name="from">Number of the log's first record; it is kept, and all behind it.</param>
    public RetainedDecisions(INode node, Worker worker, IReadOnlyList<ActCommitted> acts, long from)
    {
        _node = node;
        _worker = worker;
        _held = from;
        foreach (var act in acts)
        {
            foreach (var other in act.Participants)
            {
                if (!_missing.TryGetValue(other, out var missing))
                {
                    _missing.Add(other, missing = []);
                }

                missing.Add(act.Transaction);
            }
        }

        if (_missing.Count > 0)
        {
            worker.Checkpoints.Hold(_held);
        }
    }

    /// <summary>Tells a worker what was decided; it answers when it has its markers.</summary>
    public void OnUp(Incarnation peer)
    {
        if (_missing.TryGetValue(peer.Worker, out var missing))
        {
            foreach (var act in missing)
            {
                _node.Send(peer, new ActDecidedMessage(act, Committed: true));
            }
        }
    }

    /// <summary>A worker waits for an ACT no more.</summary>
    public void OnMarked(Incarnation from, TransactionId act)
    {
        if (_missing.TryGetValue(from.Worker, out var missing) && missing.Remove(act) && missing.Count == 0)
        {
            Forget(from.Worker);
        }
    }

    /// <summary>The stream of a worker that is dead was read to its end and resolved, and its actors are others'.</summary>
    public void Forget(int worker)
    {
        if (_missing.Remove(worker) && _missing.Count == 0)
        {
            _worker.Checkpoints.Release(_held);
        }
    }
}
