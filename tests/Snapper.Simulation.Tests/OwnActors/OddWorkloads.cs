using BoxOffice;
using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Simulation.OwnActors;

namespace Snapper.Simulation.Tests.OwnActors;

/// <summary>Asks for something else in each run, whatever the seed.</summary>
internal sealed class Changing(int run) : ActorWorkload
{
    public override IReadOnlyList<ActorTypeDescriptor> ActorTypes => SnapperSimulationTestsActors.All;

    public override TransactionRequest Next(SeededChance chance, int client, int number) => Act("Visitor", $"visitor{run}", "Buy", new Order("Show", "one", 1 + run));

    public override IEnumerable<TransactionRequest> Last() => [];

    public override IEnumerable<string> Judge(ActorRun run) => [];
}

/// <summary>Its judge asserts, and is never satisfied.</summary>
internal sealed class Strict : ActorWorkload
{
    public override IReadOnlyList<ActorTypeDescriptor> ActorTypes => SnapperSimulationTestsActors.All;

    public override TransactionRequest Next(SeededChance chance, int client, int number) => Act("Till", "till", "TakeIn", 1);

    public override IEnumerable<TransactionRequest> Last() => [Act("Till", "till", "Money")];

    public override IEnumerable<string> Judge(ActorRun run)
    {
        Assert.Fail("nobody is satisfied");
        return [];
    }
}

/// <summary>Calls an actor that does its work on a thread of its own.</summary>
internal sealed class Leaving : ActorWorkload
{
    public override IReadOnlyList<ActorTypeDescriptor> ActorTypes => SnapperSimulationTestsActors.All;

    public override TransactionRequest Next(SeededChance chance, int client, int number) => Act("Wanderer", "one", "Wander");

    public override IEnumerable<TransactionRequest> Last() => [];

    public override IEnumerable<string> Judge(ActorRun run) => [];
}

public interface IWanderer : ITransactionalActor
{
    Task Wander();
}

public sealed record WandererState(int Steps);

[TransactionalActor("Wanderer")]
public sealed class Wanderer : TransactionalActor<WandererState>, IWanderer
{
    protected override WandererState InitialState() => new(0);

    public async Task Wander()
    {
#pragma warning disable SNAP203, SNAP206 // It does what it must not, to be caught at it.
        var elsewhere = new Thread(() => _gone.SetResult());
        var back = Await();
        elsewhere.Start();
        elsewhere.Join();
#pragma warning restore SNAP203, SNAP206
        await back;
    }

    private readonly TaskCompletionSource _gone = new();

    private async Task Await() => await _gone.Task;
}
