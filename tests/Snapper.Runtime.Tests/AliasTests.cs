using Snapper.Actors;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

public sealed class Pile
{
    public List<int> Items { get; set; } = [];
}

public interface IPile : ITransactionalActor
{
    Task<List<int>> Items();

    Task Put(List<int> items);

    Task ChangeWhatCameBack(string other);

    Task<int> ChangeWhatWasSent(string other);
}

[TransactionalActor("Pile")]
public sealed class PileActor : TransactionalActor<Pile>, IPile
{
    protected override Pile InitialState() => new();

    public async Task<List<int>> Items() => (await State.Get()).Items;

    public async Task Put(List<int> items) => (await State.ForUpdate()).Items = items;

    public async Task ChangeWhatCameBack(string other) => (await Actor<IPile>(other).Items()).Add(99);

    public async Task<int> ChangeWhatWasSent(string other)
    {
        List<int> items = [1];
        await Actor<IPile>(other).Put(items);
        items.Add(99);
        return 0;
    }
}

/// <summary>Inputs and results are passed by reference inside a worker, and as JSON between workers.</summary>
public sealed class AliasTests
{
    [Theory]
    [InlineData("ChangeWhatCameBack", true)]
    [InlineData("ChangeWhatCameBack", false)]
    [InlineData("ChangeWhatWasSent", true)]
    [InlineData("ChangeWhatWasSent", false)]
    public async Task A_method_changes_no_other_actors_state_through_an_input_or_a_result(string method, bool pact)
    {
        await using var rig = await Rig.Start();
        Rig.Saw(await rig.Submit("Pile", "b", "Items", null, null));
        await rig.Submit("Pile", "b", "Put", new List<int> { 1 }, null);
        (string, int)[]? access = pact ? [("a", 1), ("b", 1)] : null;
        var done = await rig.Submit("Pile", "a", method, "b", access);
        Assert.Equal(Door.Outcome.Committed, done.Outcome);
        var before = Rig.Seen(await rig.Submit("Pile", "b", "Items", null, null));
        await rig.Restart();
        var after = Rig.Seen(await rig.Submit("Pile", "b", "Items", null, null));
        Assert.Equal((string.Join(' ', after), "1"), (string.Join(' ', before), string.Join(' ', after)));
    }
}
