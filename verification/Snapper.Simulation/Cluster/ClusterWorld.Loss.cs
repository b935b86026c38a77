using Snapper.Simulation.Workloads;
using Snapper.Storage.Memory;

namespace Snapper.Simulation.Cluster;

/// <summary>
/// A shared store that loses the last that it had acknowledged (an everysec crash, a failover to a replica that lagged), and what can be asked of workers then: what is gone is
/// gone as a whole, everything that is kept is there, all lives of before end, and later ones serve.
/// </summary>
internal sealed partial class ClusterWorld
{
    private int _livesAtLoss;
    private bool _losesMore;

    /// <summary>Something that was acknowledged is gone: what clients were told, or a worker of before still tells them, need not be so.</summary>
    public override bool LogWasLost => _livesAtLoss > 0;

    public override bool AnswersWereLost => LogWasLost;

    /// <summary>What a server that takes the place of this one later will have.</summary>
    public (MemoryClusterCopy Store, int Records, long Instance) KeepStore() => (Shared.Copy(), LogRules.Records, Shared.Instance);

    /// <summary>It does so now.</summary>
    public void LoseStore((MemoryClusterCopy Store, int Records, long Instance) kept)
    {
        if (kept.Instance != Shared.Instance || _losesMore)
        {
            return; // what one server lost is not on the next one either
        }

        Shared.Lose(kept.Store);
        LogRules.Lose(kept.Records);
        _livesAtLoss = _lives;
        _losesMore = true;
        After(2 * Cluster.LeaseMs * Millisecond, null, () =>
        {
            _losesMore = false;
            foreach (var process in Processes)
            {
                if (process.Instance > 0 && process.Instance < Shared.Instance && process.IsOpen && !process.Scope.IsPaused && !IsHealed && !Cluster.Faults.Any(static fault => KeepsFromTheStore(fault.Kind)))
                {
                    Violated($"L6: w{process.Number} (life {process.Life}) goes on two leases after another server took the place of the store on which it began.");
                }
            }
        });
    }

    private static bool KeepsFromTheStore(ClusterFaultKind kind) => kind is ClusterFaultKind.StoreDown or ClusterFaultKind.StoreCut or ClusterFaultKind.StoreAnswersCut
        or ClusterFaultKind.WorkerPause or ClusterFaultKind.WorkerPausedLong or ClusterFaultKind.WorkerReplaced or ClusterFaultKind.PauseAtStep or ClusterFaultKind.PauseAtMessage;

    /// <summary>It began on a server that is no more.</summary>
    private bool IsOfAnEarlierServer(ClusterProcess process) => process.Life <= _livesAtLoss;

    /// <summary>What was acknowledged may be gone, so that no order explains all answers; what is left must be whole.</summary>
    private void JudgeTheRest()
    {
        if (Violations.Count == 0 && Workload is ListsWorkload lists)
        {
            Violations.AddRange(lists.JudgeTheRest());
        }
    }
}
