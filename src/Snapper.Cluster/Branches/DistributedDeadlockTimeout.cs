using Snapper.Cluster.Wire;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Execution;

namespace Snapper.Cluster.Branches;

/// <summary>
/// H6: who has waited for long behind an ACT of several workers may be waiting in a ring that no worker sees. Its root ends it, while it can. On the first executor alone.
/// </summary>
internal sealed class DistributedDeadlockTimeout(IBranchNode node, Worker worker)
{
    private readonly TimeSpan _longest = worker.Options.LongWait;
    private readonly HashSet<TransactionId> _waitedFor = [];
    private readonly List<Attempt> _looked = [];

    /// <summary>Looks for those who wait behind an ACT of several workers.</summary>
    /// <returns>False: there is no such ACT here.</returns>
    public bool Look()
    {
        _looked.Clear();
        foreach (var attempt in worker.Acts.Values)
        {
            if (attempt.IsDistributed)
            {
                _looked.Add(attempt);
            }
        }

        _waitedFor.RemoveWhere(tid => !worker.Acts.ContainsKey(tid.Value));
        foreach (var attempt in _looked)
        {
            foreach (var actor in attempt.TakeParticipants())
            {
                LookBehind(attempt, actor);
            }
        }

        return _looked.Count > 0;
    }

    private void LookBehind(Attempt attempt, ActorKey actor)
    {
        var executor = worker.ExecutorOf(actor);
        executor.PostRun(() =>
        {
            if (executor.FindCell(actor)?.Machine is { } machine && machine.HasWaitersBehind(attempt.Tid))
            {
                node.First.PostRun(() => OnWaiter(attempt));
            }
        });
    }

    private void OnWaiter(Attempt attempt)
    {
        // Seen at two looks, so that it was at least a look's time.
        if (worker.Time.GetElapsedTime(attempt.BeganAt) < _longest || _waitedFor.Add(attempt.Tid))
        {
            return;
        }

        if (attempt.Origin is { } origin)
        {
            node.Send(origin.Root, new ActLongWaitMessage(attempt.Tid));
        }
        else
        {
            Break(attempt);
        }
    }

    /// <summary>Others wait for long behind an ACT whose root is here, on another worker; it is said again while they do.</summary>
    public void OnLongWait(ActLongWaitMessage wait)
    {
        if (worker.Acts.TryGetValue(wait.Tid.Value, out var attempt) && attempt.Origin is null)
        {
            Break(attempt);
        }
    }

    /// <summary>The bound doubles with each attempt, so that one that takes long, and stands in no ring, comes to its end.</summary>
    private void Break(Attempt attempt)
    {
        var patience = _longest * (1 << Math.Clamp(attempt.Request.Attempts - 1, 0, 5));
        if (worker.Time.GetElapsedTime(attempt.BeganAt) < patience)
        {
            return;
        }

        var why = new AbortInfo(AbortReason.Deadlock, $"Others waited behind it for more than {_longest.TotalMilliseconds:0} ms, perhaps in a ring over several workers.");
        attempt.RootExecutor.PostRun(() => attempt.RootExecutor.EndForBranch(attempt, why));
    }
}
