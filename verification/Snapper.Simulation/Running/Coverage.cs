using Snapper.Protocol;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Marks;

namespace Snapper.Simulation.Running;

/// <summary>
/// What happened in many runs: faults, transitions of the protocol, scheduling choices. What never happened in a long
/// run was not verified by it, however
/// many seeds it had.
/// </summary>
public sealed class Coverage
{
    /// <summary>Runs from which on everything that is not scarce must have happened.</summary>
    public const int LongRun = 2000;

    /// <summary>Runs from which on everything must have happened.</summary>
    public const int VeryLongRun = 20_000;

    /// <summary>Transitions that need several things to meet: a run of 2,000 seeds takes each some times only, and
    /// none at all now and then.</summary>
    public static IReadOnlyList<Transition> Scarce { get; } =
    [
        Transition.BatchTooLargeInUndo, Transition.ActRemovedAfterDeath, Transition.DiedOfSerializability,
            Transition.RemovalFoundByCode, Transition.RemovedAtPlacing,
        Transition.TokenWishCameRound,
    ];

    /// <summary>False: transitions are not asked for.</summary>
    public bool CountsTransitions { get; init; } = Simulator.CountsTransitions;

    /// <summary>Runs added.</summary>
    public long Runs { get; private set; }

    /// <summary>Faults that happened.</summary>
    public Tally<FaultKind> Faults { get; } = new();

    /// <summary>Transitions that were taken.</summary>
    public Tally<Transition> Transitions { get; } = new();

    /// <summary>Scheduling choices that were taken the other way.</summary>
    public Tally<SchedulingChoice> SchedulingChoices { get; } = new();

    /// <summary>What should have happened and never did, by name; empty for a run that is not long.</summary>
    public IReadOnlyList<string> Missing => Runs < LongRun
        ? []
        :
        [
            .. Names(Faults.Silent),
            .. Names(Transitions.Silent.Where(transition =>
                CountsTransitions && (Runs >= VeryLongRun || !Scarce.Contains(transition))
                && transition is not Transition.PactRootShed)), // only a master takes numbers from roots elsewhere
            .. Names(SchedulingChoices.Silent.Where(point =>
                point is not (
                    SchedulingChoice.ChannelTakenForFull or
                        SchedulingChoice.VoterAsksAtOnce))), // one worker has no channels
        ];

    /// <summary>Adds a run.</summary>
    public void Add(SimulationResult result)
    {
        ArgumentNullException.ThrowIfNull(result);
        Runs++;
        Faults.Add(result.Faults);
        Transitions.Add(result.Transitions);
        SchedulingChoices.Add(result.SchedulingChoices);
    }

    private static IEnumerable<string> Names<TKind>(IEnumerable<TKind> kinds)
        where TKind : struct, Enum => kinds.Select(kind => $"{typeof(TKind).Name}.{kind}");
}
