using Snapper.Actors.Generated;
using Snapper.Simulation.OwnActors;
using Snapper.Simulation.Rules;

namespace Snapper.Simulation.Cluster;

/// <summary>
/// Which program each worker runs: ours, an application's, or the older and the newer one of it side by side.
/// </summary>
internal sealed partial class ClusterWorld
{
    private readonly bool[] _isUpdated = new bool[ClusterScenario.MostWorkers + 2];
    private readonly bool[] _isOpenedByUpdated = new bool[ClusterScenario.MostWorkers + 2];
    private readonly ProgramRules? _programs;
    private volatile bool _hasLeftThread;

    /// <summary>The actors and workload of an application; null: ours.</summary>
    public ActorWorkload? Own { get; }

    /// <summary>A life of a worker that begins now runs the newer program.</summary>
    public bool IsUpdated(int number) => _isUpdated[number];

    /// <summary>What a life of a worker hosts.</summary>
    public IReadOnlyList<ActorTypeDescriptor> TypesOf(ClusterProcess process) => Own switch
    {
        null => World.OwnTypes,
        { ActorTypesBefore: { } before } when !process.IsUpdated => before,
        _ => Own.ActorTypes,
    };

    /// <summary>From its next life on a worker runs the newer program.</summary>
    public void Update(int number) => _isUpdated[number] = true;

    /// <summary>A life has opened its log.</summary>
    public void Recovered(ClusterProcess process)
    {
        _isOpenedByUpdated[process.Number] = process.IsUpdated;
        if (Own is not null)
        {
            Array.ForEach(process.Executors, executor => executor.Wake = () => IsOnThread());
        }
    }

    /// <summary>What is wrong with an application's code is reported as a violation.</summary>
    protected override void OnThreadLeft()
    {
        if (Own is null)
        {
            base.OnThreadLeft();
        }

        _hasLeftThread = true;
    }

    /// <summary>The update goes on to its end.</summary>
    private void UpdateTheRest()
    {
        if (_programs is null)
        {
            return;
        }

        Array.Fill(_isUpdated, true);
        foreach (var process in Processes.ToArray())
        {
            if (!process.IsUpdated)
            {
                End(process, Chance.Between(Millisecond, 50 * Millisecond));
            }
        }
    }
}
