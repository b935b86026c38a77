using Snapper.Simulation.Faults;
using Snapper.Simulation.Marks;
using Snapper.Simulation.Running;

namespace Snapper.Simulation.Cluster;

/// <summary>What happened in many runs of several workers. What never happened in a long run was not verified by it,
/// however many seeds it had.</summary>
public sealed class ClusterCoverage
{
    /// <summary>Runs from which on everything must have happened.</summary>
    public const int LongRun = 3000;

    /// <summary>Faults between clients and workers: those that several workers have in common with one.</summary>
    private static readonly FaultKind[] s_requests =
        [FaultKind.RequestLost, FaultKind.RequestRepeated, FaultKind.RequestMisrouted, FaultKind.AnswerLost,
            FaultKind.ClientGone, FaultKind.ClientImpatient];

    /// <summary>Steps that need several things to meet: a run of some thousand seeds takes each some times only, and
    /// none at all now and then.</summary>
    public static IReadOnlyList<ClusterTransition> Scarce { get; } = [ClusterTransition.LaterMasterWaits,
        ClusterTransition.MigrationNotFrozen, ClusterTransition.SuccessionCommitted, ClusterTransition.RecoveryGivenUp];

    /// <summary>Runs added.</summary>
    public long Runs { get; private set; }

    /// <summary>Faults between clients and workers.</summary>
    public Tally<FaultKind> Faults { get; } = new();

    /// <summary>Everything else that went wrong, or was done.</summary>
    public Tally<ClusterFaultKind> Happened { get; } = new();

    /// <summary>Steps that only several workers take.</summary>
    public Tally<ClusterTransition> Transitions { get; } = new();

    /// <summary>What should have happened and never did, by name; empty for a run that is not long.</summary>
    public IReadOnlyList<string> Missing => Runs < LongRun
        ? []
        :
        [
            .. s_requests.Where(kind => Faults[kind] == 0).Select(static kind => $"FaultKind.{kind}"),
            .. Happened.Silent.Select(static kind => $"ClusterFaultKind.{kind}"),
            .. Transitions.Silent.Where(static transition =>
                Simulator.CountsTransitions && !Scarce.Contains(transition)).Select(static transition =>
                    $"ClusterTransition.{transition}"),
        ];

    /// <summary>Adds a run.</summary>
    public void Add(ClusterRunResult result)
    {
        ArgumentNullException.ThrowIfNull(result);
        Runs++;
        Faults.Add(result.Faults);
        Happened.Add(result.Happened);
        Transitions.Add(result.ClusterTransitions);
    }
}
