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
    private int _livesAtFailOver;
    private MemoryCluster? _former;
    private long _formerUntil;

    /// <summary>
    /// The server to which a worker is still connected, since another one has taken its place; null: none.
    /// </summary>
    public MemoryCluster? FormerServerOf(ClusterProcess process) =>
        process.Number == Cluster.FormerOf && Now < _formerUntil && !IsHealed ? _former : null;

    /// <summary>It began on a server that another one, which lacked nothing, has taken the place of.</summary>
    public bool BeganBeforeFailOver(ClusterProcess process) => process.Life <= _livesAtFailOver;

    /// <summary>Another server takes the place of the store, with all that there is.</summary>
    public void FailOver()
    {
        if (IsHealed)
        {
            return;
        }

        Happened.Note(ClusterFaultKind.StoreFailsOver);
        var copy = Shared.Copy();
        _former = copy.Cluster;
        _formerUntil = Now + (Cluster.FormerMs * Millisecond);
        _livesAtFailOver = _lives;
        Shared.Lose(copy);
        RequireThatLivesEnd();
    }

    /// <summary>The record of who is master is lost.</summary>
    public void ForgetMaster()
    {
        if (!IsHealed && Shared.Master is not null)
        {
            Happened.Note(ClusterFaultKind.MasterForgotten);
            Shared.Master = null;
        }
    }

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
        RequireThatLivesEnd();
    }

    /// <summary>Two leases later no life goes on that began on another server.</summary>
    private void RequireThatLivesEnd() => After(2 * Cluster.LeaseMs * Millisecond, null, () =>
    {
        _losesMore = false;
        foreach (var process in Processes)
        {
            RequireThatItEnds(process);
        }
    });

    private void RequireThatItEnds(ClusterProcess process)
    {
        var leases = 2 * Cluster.LeaseMs * Millisecond;
        var isOfThePresent = process.Instance == 0 || process.Instance == Shared.Instance;
        var meetsIt = process.IsOpen && !process.Scope.IsPaused && !IsHealed && FormerServerOf(process) is null
            && !(process.Number == Cluster.FormerOf && Now < _formerUntil + leases)
            && !Cluster.Faults.Any(static fault => KeepsFromTheStore(fault.Kind));
        if (isOfThePresent || !meetsIt)
        {
            return;
        }

        // One whose renewal was lost learns nothing until it gives that up, which may be longer than a lease.
        if (Now < process.HinderedUntil + leases)
        {
            After(process.HinderedUntil + leases - Now, null, () => RequireThatItEnds(process));
            return;
        }

        Violated(
            $"L6: w{process.Number} (life {process.Life}) goes on two leases after another server took the "
            + "place of the store on which it began.");
    }

    private static bool KeepsFromTheStore(ClusterFaultKind kind) => kind is ClusterFaultKind.StoreDown or ClusterFaultKind.StoreCut or ClusterFaultKind.StoreAnswersCut
        or ClusterFaultKind.WorkerPause or ClusterFaultKind.WorkerPausedLong or ClusterFaultKind.WorkerReplaced or ClusterFaultKind.PauseAtStep or ClusterFaultKind.PauseAtMessage;

    /// <summary>It began on a server that is no more.</summary>
    private bool IsOfAnEarlierServer(ClusterProcess process) =>
        process.Life <= _livesAtLoss || BeganBeforeFailOver(process);

    /// <summary>What was acknowledged may be gone, so that no order explains all answers; what is left must be whole.</summary>
    private void JudgeTheRest()
    {
        if (Violations.Count == 0 && Workload is ListsWorkload lists)
        {
            Violations.AddRange(lists.JudgeTheRest());
        }
    }
}
