using System.Text.Json;
using Snapper.Actors;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
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

/// <summary>Inputs and results are values: copies inside a worker, JSON between workers.</summary>
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
        Assert.Equal(Outcome.Committed, done.Outcome);
        var before = Rig.Seen(await rig.Submit("Pile", "b", "Items", null, null));
        await rig.Restart();
        var after = Rig.Seen(await rig.Submit("Pile", "b", "Items", null, null));
        Assert.Equal((string.Join(' ', after), "1"), (string.Join(' ', before), string.Join(' ', after)));
    }

    [Theory]
    [InlineData("a", true)]
    [InlineData("a", false)]
    [InlineData("b", true)]
    [InlineData("b", false)]
    public async Task Whatever_holds_something_that_can_change_is_copied(string root, bool pact)
    {
        await using var rig = await Rig.Start();
        await Text(rig, "b", "Fill", null, null);
        (string, int)[]? access = pact ? root == "a" ? [("a", 1), ("b", 6)] : [("b", 7)] : null;
        Assert.Equal("b1 1 b=1", await Text(rig, root, "ChangeResults", "b", access));
        Assert.Equal("b1 1 b=1", await Text(rig, "b", "Show", null, null));

        (string, int)[]? inputs = pact ? root == "a" ? [("a", 1), ("b", 2)] : [("b", 3)] : null;
        Assert.Equal("1,99", await Text(rig, root, "ChangeInputs", "b", inputs));
        Assert.Equal("b1,2 1 b=1", await Text(rig, "b", "Show", null, null));
        await rig.Restart();
        Assert.Equal("b1,2 1 b=1", await Text(rig, "b", "Show", null, null));
        Assert.Empty(rig.Failures);
    }

    [Theory]
    [InlineData("a")]
    [InlineData("b")]
    [InlineData("c")]
    public async Task What_cannot_change_is_handed_over_as_it_is(string root)
    {
        await using var rig = await Rig.Start();
        var done = await rig.Submit("Parcel", root, "Seals", "b", null);
        Assert.True(done.Outcome == Outcome.Committed, TestWorker.Describe(done));
        Assert.True(JsonSerializer.Deserialize<bool>(done.Result.Span));
    }

    [Theory]
    [InlineData("Give1", "The result of Parcel/b.Give cannot be written as JSON: planned, in a getter")]
    [InlineData("Give2", "The result of Parcel/b.Give cannot be read: planned, in a setter")]
    [InlineData("Give3", "The result of Parcel/b.Give cannot be written as JSON: its message cannot be read")]
    [InlineData("Take1", "calls Parcel/b.Take: the input cannot be written as JSON: planned, in a getter")]
    [InlineData("Take2", "Parcel/b.Take was called with an input that does not fit: ")]
    [InlineData("Take3", "calls Parcel/b.Take: the input cannot be written as JSON: its message cannot be read")]
    public async Task Code_of_a_value_that_throws_when_it_is_copied_ends_the_transaction(string call, string words)
    {
        await using var rig = await Rig.Start();
        foreach (var root in new[] { "a", "b", "c" })
        {
            (string, int)[] access = root == "b" ? [("b", 2)] : [(root, 1), ("b", 1)];
            var act = await Rig.Within(rig.Submit("Parcel", root, "TakeFrom", call, null), "the ACT");
            Rig.Aborted(act, AbortReason.Application);
            Assert.Contains(words, act.Abort!.Message, StringComparison.Ordinal);
            var pact = await Rig.Within(rig.Submit("Parcel", root, "TakeFrom", call, access), "the PACT");
            Rig.Aborted(pact, AbortReason.Application);
            Assert.Equal((act.Abort.Message, act.Abort.Actor), (pact.Abort!.Message, pact.Abort.Actor));
        }

        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task A_root_that_runs_again_gets_its_input_as_it_was_sent()
    {
        await using var rig = await Rig.Start();
        var done = await rig.Submit("Parcel", "a", "Fail", new Label("b", [1]), [("a", 1), ("b", 1)]);
        Rig.Aborted(done, AbortReason.Application);
        Assert.Equal((2, "1,99"), (done.Attempts, done.Abort!.Message));
    }

    private static async Task<string> Text(
        Rig rig, string parcel, string method, object? input, (string, int)[]? access)
    {
        var done = await Rig.Within(rig.Submit("Parcel", parcel, method, input, access), method);
        Assert.True(done.Outcome == Outcome.Committed, TestWorker.Describe(done));
        return JsonSerializer.Deserialize<string?>(done.Result.Span) ?? "";
    }
}
