using System.Text;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>
/// An operator puts a state in the place of an actor's, or takes it away: transactions like any other.
/// </summary>
public sealed class StateReplacementTests
{
    [Fact]
    public async Task An_imported_state_is_what_the_next_transaction_sees_also_after_a_restart()
    {
        await using var rig = await Rig.Start();
        Rig.Seen(await Rig.Within(rig.Act("a", Step.Add(5)), "the first"));
        await Import(rig, "Box", "a", """{"Value":40,"Pad":"p"}""");
        await Import(rig, "Box", "never", """{"Value":7}""");
        Assert.Equal((40, 7), (await rig.Value("a"), await rig.Value("never")));
        await rig.Restart();
        Rig.Saw(await Rig.Within(rig.Pact("a", ["a"], Step.Add(2), Step.Get()), "a PACT behind it"), 42);
        Assert.Equal(7, await rig.Value("never"));
    }

    [Theory]
    [InlineData("Box")]
    [InlineData("Mutable")]
    public async Task A_deleted_actor_is_as_if_it_was_never_written_and_its_version_goes_on(string type)
    {
        await using var rig = await Rig.Start();
        await Write(rig, type);
        var before = await View(rig, type);
        await Delete(rig, type, "a");
        var deleted = await View(rig, type);
        Assert.Null(deleted.State);
        Assert.Equal(before.Version + 1, deleted.Version);
        Assert.Empty((await rig.Host.Inspection.Actors(type, null, "", 10, default))!.Actors);
        await rig.Restart();
        Assert.Equal((null, deleted.Version), ((await View(rig, type)).State, (await View(rig, type)).Version));

        // As the first time, from the initial state.
        await Write(rig, type);
        var again = await View(rig, type);
        Assert.Equal((before.State.ToString(), deleted.Version + 1), (again.State.ToString(), again.Version));
        Assert.Equal("a", Assert.Single((await rig.Host.Inspection.Actors(type, null, "", 10, default))!.Actors).Id);
    }

    [Fact]
    public async Task A_deletion_in_memory_is_seen_by_those_who_read_change_and_wait_for_a_lock()
    {
        await using var rig = await Rig.Start(new() { Executors = 1 });
        await Write(rig, "Mutable");
        await Delete(rig, "Mutable", "a");
        Assert.Empty(Rig.Seen(await Rig.Within(rig.Submit("Mutable", "a", "Items", null, null), "an ACT that reads")));
        Rig.Saw(await Rig.Within(rig.Submit("Mutable", "a", "Push", new Push(3), [("a", 1)]), "a PACT that changes"), 3, -3);
        await Delete(rig, "Mutable", "a");
        using var gate = new Gate();
        var holder = rig.Submit("Mutable", "b", "Push", new Push(1, gate.Name, Other: "a"), null, key: "holder");
        await gate.Reached();
        gate.Open();
        Rig.Saw(await Rig.Within(holder, "an ACT that changes it"), 1, -1);
        Rig.Saw(await Rig.Within(rig.Submit("Mutable", "a", "Items", null, null), "a reader"), 1, -1);
    }

    [Fact]
    public async Task What_is_there_already_is_not_deleted_again()
    {
        await using var rig = await Rig.Start();
        await Delete(rig, "Box", "a");
        Assert.Equal(0, (await View(rig, "Box")).Version);
        await Import(rig, "Box", "a", """{"Value":1}""");
        await Delete(rig, "Box", "a");
        await Delete(rig, "Box", "a");
        Assert.Equal(2, (await View(rig, "Box")).Version);
    }

    [Fact]
    public async Task One_id_imports_once()
    {
        await using var rig = await Rig.Start();
        await Import(rig, "Box", "a", """{"Value":1}""", "import-1");
        Rig.Seen(await Rig.Within(rig.Act("a", Step.Add(5)), "somebody else"));
        await Import(rig, "Box", "a", """{"Value":1}""", "import-1");
        Assert.Equal(6, await rig.Value("a"));
        Rig.Rejected(await Submit(rig, "Box", "a", StateMethods.Import, """{"Value":2}""", "import-1"), RejectionKind.IdConflict);
    }

    [Fact]
    public async Task An_import_behind_one_that_fails_is_run_again_and_stands()
    {
        await using var rig = await Rig.Start(new() { Executors = 1 });
        using var gate = new Gate();
        var failing = rig.Submit("a", [Step.Call("b", Step.Add(100)), Step.Wait(gate), Step.Throw()], ["a", "b"]);
        await gate.Reached();
        var import = Submit(rig, "Box", "b", StateMethods.Import, """{"Value":9}""");
        await rig.OnExecutorOf("Box", "b", _ => { });
        gate.Open();
        await Rig.Within(failing, "the one that fails");
        Assert.Equal((Outcome.Committed, 2), ((await import).Outcome, (await import).Attempts));
        Assert.Equal(9, await rig.Value("b"));
        await rig.Restart();
        Assert.Equal(9, await rig.Value("b"));
    }

    [Theory]
    [InlineData("", "there is none")]
    [InlineData("null", "DELETE takes it away")]
    [InlineData("""{"Valeu":1}""", "Valeu")]
    [InlineData("""{"Value":"x"}""", "Value")]
    [InlineData("[", "JSON")]
    public async Task What_is_no_state_changes_nothing_and_is_named(string input, string named)
    {
        await using var rig = await Rig.Start();
        var refused = await Submit(rig, "Box", "a", StateMethods.Import, input);
        Rig.Rejected(refused, RejectionKind.Invalid);
        Assert.Contains(named, refused.Rejection!.Detail, StringComparison.Ordinal);
        Assert.Equal(0, (await View(rig, "Box")).Version);
    }

    [Fact]
    public void Callers_cannot_name_these_methods()
    {
        Assert.Contains("worker's own", NameRules.MethodError(StateMethods.Import), StringComparison.Ordinal);
        Assert.Contains("worker's own", NameRules.MethodError(StateMethods.Delete), StringComparison.Ordinal);
        Assert.Null(NameRules.MethodError("Import"));
    }

    private static async Task Write(Rig rig, string type) => Assert.Equal(
        Outcome.Committed,
        (await Rig.Within(type == "Box" ? rig.Act("a", Step.Add(5)) : rig.Submit("Mutable", "a", "Push", new Push(5), null), "the first")).Outcome);

    private static async Task<ActorView> View(Rig rig, string type) => (await rig.Host.Inspection.Actor(new ActorKey(type, "a"), default))!;

    private static async Task Import(Rig rig, string type, string id, string state, string? key = null) =>
        Assert.Equal(Outcome.Committed, (await Submit(rig, type, id, StateMethods.Import, state, key)).Outcome);

    private static async Task Delete(Rig rig, string type, string id) => Assert.Equal(Outcome.Committed, (await Submit(rig, type, id, StateMethods.Delete, "")).Outcome);

    private static Task<TransactionEnvelope> Submit(Rig rig, string type, string id, string method, string input, string? key = null) =>
        Rig.Within(rig.Submit(type, id, method, Encoding.UTF8.GetBytes(input), [(id, 1)], key), method);
}
