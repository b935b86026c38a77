using System.Text;
using System.Text.Json;
using Snapper.Actors.Generated;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Memory;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>States that carry a version, read by programs of the same, a later and an earlier generation.</summary>
public sealed class StateVersionTests
{
    private static readonly ActorKey A = new("Cart", "a");

    [Theory]
    [InlineData(2, "pear pear", "pear pear fig", false)]
    [InlineData(2, "pear pear", "pear pear fig", true)]
    [InlineData(3, "2*pear", "1*fig 2*pear", false)]
    [InlineData(3, "2*pear", "1*fig 2*pear", true)]
    public async Task What_was_stored_before_there_were_versions_is_read_by_later_programs(
        int generation, string seen, string then, bool pact)
    {
        await using var rig = await Start(1);
        await Add(rig, "apple", pact);
        await Add(rig, "pear", pact);
        Assert.Equal("""{"count":2,"last":"pear"}""", await Stored(rig));
        await Restart(rig, generation);

        Assert.Equal(seen, await Show(rig));
        Assert.Equal("""{"count":2,"last":"pear"}""", await Stored(rig)); // until it is changed
        await Add(rig, "fig", pact);
        Assert.StartsWith($$"""{"$stateVersion":{{generation}},""", await Stored(rig), StringComparison.Ordinal);
        Assert.Equal(then, await Show(rig));
        await Restart(rig, generation);
        Assert.Equal(then, await Show(rig));
        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task A_chain_of_generations_keeps_what_the_first_had()
    {
        await using var rig = await Start(1);
        await Add(rig, "pear");
        await Restart(rig, 2);
        await Add(rig, "fig");
        Assert.Equal("""{"$stateVersion":2,"items":["pear","fig"]}""", await Stored(rig));
        await Restart(rig, 3);
        await Add(rig, "fig");
        Assert.Equal("""{"$stateVersion":3,"lines":{"fig":2,"pear":1}}""", await Stored(rig));
    }

    [Fact]
    public async Task A_log_that_was_not_checkpointed_has_the_version_too()
    {
        await using var rig = await Start(3);
        await Add(rig, "fig");
        await rig.Host.Kill();
        rig.Types = [Carts.Two];
        await rig.Open();

        IsNewer(await Rig.Within(rig.Submit("Cart", "a", "Show", null, null), "an old program"), 3, 2);
        await Restart(rig, 3);
        Assert.Equal("1*fig", await Show(rig));
    }

    [Theory]
    [InlineData(1, true)]
    [InlineData(1, false)]
    [InlineData(2, true)]
    [InlineData(2, false)]
    public async Task A_program_that_finds_a_newer_state_refuses_it_and_changes_nothing(int generation, bool pact)
    {
        await using var rig = await Start(3);
        await Add(rig, "fig");
        var stored = await Stored(rig);
        await Restart(rig, generation);

        IsNewer(await Submit(rig, "Show", null, pact), 3, generation);
        IsNewer(await Submit(rig, "Add", "pear", pact), 3, generation);
        var other = generation == 1 ? """{"count":1,"last":"x"}""" : """{"$stateVersion":2,"items":["x"]}""";
        string[] imports = [StateMethods.Import, StateMethods.ImportOverDamage];
        foreach (var method in (string[])[.. imports, StateMethods.Delete, StateMethods.DeleteDamaged])
        {
            var input = imports.Contains(method) ? Encoding.UTF8.GetBytes(other) : null;
            var answer = await Submit(rig, method, input, pact: true);
            Rig.Aborted(answer, AbortReason.Application);
            Assert.Contains("newer program wrote it", answer.Abort!.Message, StringComparison.Ordinal);
        }

        // Others go on, and the worker is ready, and says what it has met.
        Rig.Seen1(await Rig.Within(rig.Submit("Cart", "b", "Add", "fig", null), "another"));
        var check = Assert.Single(rig.Host.Inspection.Checks(), static one => one.Name == "states");
        Assert.True(check.Healthy);
        Assert.Contains("Cart/a", check.Detail, StringComparison.Ordinal);
        Assert.Contains(
            $"has version 3, and this program's Cart knows versions up to {generation}", check.Detail,
            StringComparison.Ordinal);

        Assert.Equal(stored, await Stored(rig));
        await Restart(rig, 3);
        Assert.Equal("1*fig", await Show(rig));
        await Add(rig, "fig");
        Assert.Equal("2*fig", await Show(rig));
        Assert.Equal("readable", rig.Host.Inspection.Checks().Single(static one => one.Name == "states").Detail);
    }

    [Fact]
    public async Task An_undo_of_the_first_change_leaves_the_older_state_as_it_was()
    {
        await using var rig = await Start(1);
        await Add(rig, "pear");
        await Restart(rig, 3);
        Rig.Aborted(await Submit(rig, "AddAndFail", "fig", pact: true), AbortReason.Application);
        Rig.Aborted(await Submit(rig, "AddAndFail", "fig", pact: false), AbortReason.Application);

        Assert.Equal("1*pear", await Show(rig));
        Assert.Equal("""{"count":1,"last":"pear"}""", await Stored(rig));
        await Add(rig, "fig");
        Assert.Equal("1*fig 1*pear", await Show(rig));
    }

    [Fact]
    public async Task A_step_that_fails_leaves_what_is_stored_and_says_why()
    {
        await using var rig = await Start(1);
        await Import(rig, """{"count":-1,"last":"pear"}""");
        await Restart(rig, 3);

        var answer = await Submit(rig, "Add", "fig", pact: true);

        Rig.Aborted(answer, AbortReason.Failure);
        Assert.Contains("a count below 0", answer.Abort!.Message, StringComparison.Ordinal);
        Assert.Equal("""{"count":-1,"last":"pear"}""", await Stored(rig));
    }

    [Fact]
    public async Task What_is_shown_and_read_says_its_version_and_is_imported_by_it()
    {
        await using var rig = await Start(2);
        await Add(rig, "pear");
        var shown = (await rig.Host.Inspection.Actor(A, default))!.State.ToString()!;
        Assert.Equal("""{"$stateVersion":2,"items":["pear"]}""", shown);
        await Restart(rig, 3);
        var answer = await Submit(rig, StateMethods.Read, null, pact: true);
        var read = JsonSerializer.Deserialize<JsonElement>(answer.Result.Span);
        Assert.Equal(
            """{"$stateVersion":3,"lines":{"pear":1}}""", read.GetProperty("state").GetRawText());

        await Import(rig, """{"items":["fig","fig"],"$stateVersion":2}""");
        Assert.Equal("2*fig", await Show(rig));
        await Import(rig, """{"count":3,"last":"kiwi"}""");
        Assert.Equal("3*kiwi", await Show(rig));
        await Import(rig, """{"$stateVersion":3,"lines":{"pear":4}}""");
        Assert.Equal("4*pear", await Show(rig));
    }

    [Theory]
    [InlineData("""{"$stateVersion":4,"lines":{}}""", "it has version 4, and this program's Cart")]
    [InlineData("""{"$stateVersion":3,"lines":{},"other":1}""", "input.other")]
    [InlineData("""{"$stateVersion":2,"items":[],"other":1}""", "read as version 2 of 3")]
    [InlineData("""{"lines":{"pear":4}}""", "read as version 1 of 3")]
    [InlineData("""{"$stateVersion":"3","lines":{}}""", "not a number from 1 on")]
    [InlineData("""{"$stateVersion":0}""", "not a number from 1 on")]
    [InlineData("null", "is not null")]
    public async Task An_import_of_what_cannot_be_read_is_refused_in_words(string state, string why)
    {
        await using var rig = await Start(3);
        var answer = await Submit(rig, StateMethods.Import, Encoding.UTF8.GetBytes(state), pact: true);
        Assert.Equal(Outcome.Rejected, answer.Outcome);
        Assert.Contains(why, answer.Rejection!.Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("""{"$stateVersion":5,"a":1,"b":2}""", "a b")]
    [InlineData("""{ "a":1, "$stateVersion" : 5 , "b":",2"}""", "a b")]
    [InlineData("""{"a":{"$stateVersion":7},"$stateVersion":5}""", "a")]
    [InlineData("""{ "$stateVersion":5 }""", "")]
    [InlineData("""{"$stateVersion":4,"a":1}""", "newa")]
    public void The_number_is_taken_out_wherever_it_stands(string json, string fields)
    {
        var codec = new StateCodec(BagActorDescriptor.Instance, JsonSerializerOptions.Web);
        var state = (BagState)codec.Decode(Encoding.UTF8.GetBytes(json));
        Assert.Equal(fields, string.Join(' ', state.More?.Select(static field => field.Key) ?? []));
        var again = Encoding.UTF8.GetString(codec.Encode(state));
        Assert.StartsWith("""{"$stateVersion":5""", again, StringComparison.Ordinal);
        Assert.Equal(again, Encoding.UTF8.GetString(codec.Encode(codec.Decode(Encoding.UTF8.GetBytes(again)))));
    }

    [Theory]
    [InlineData("""{"$stateVersion":3,"a":1}""", "the oldest that this program's Bag still reads is 4")]
    [InlineData("""{"a":1}""", "it has version 1")]
    public void One_that_is_older_than_the_oldest_is_named(string json, string why)
    {
        var codec = new StateCodec(BagActorDescriptor.Instance, JsonSerializerOptions.Web);
        var refused = Assert.Throws<JsonException>(() => codec.Decode(Encoding.UTF8.GetBytes(json)));
        Assert.Contains(why, refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Indented_JSON_and_a_state_without_fields_are_numbered_too()
    {
        var indented = new JsonSerializerOptions(JsonSerializerOptions.Web) { WriteIndented = true };
        var codec = new StateCodec(BagActorDescriptor.Instance, indented);
        var empty = codec.Encode(new BagState());
        Assert.Equal("""{"$stateVersion":5}""", Encoding.UTF8.GetString(empty));
        var full = codec.Encode(new BagState { More = new() { ["a"] = JsonSerializer.SerializeToElement(1) } });
        Assert.Equal(1, ((BagState)codec.Decode(full)).More!["a"].GetInt32());
        Assert.StartsWith("""{"$stateVersion":5,""", Encoding.UTF8.GetString(full), StringComparison.Ordinal);
    }

    [Fact]
    public void A_descriptor_by_hand_without_a_step_is_refused()
    {
        var bag = BagActorDescriptor.Instance;
        var lacks = bag with { Evolution = new StateEvolution(5, 3, bag.Evolution!.Upcasts) };
        Assert.Throws<ArgumentException>(() => new StateCodec(lacks, JsonSerializerOptions.Web));
    }

    private static void IsNewer(TransactionEnvelope answer, int stored, int known)
    {
        Rig.Aborted(answer, AbortReason.Application);
        Assert.False(AbortReasons.IsRetryable(answer.Abort!.Reason));
        var code = answer.Abort.Code;
        Assert.Equal(("newer_state", $$"""{"stored":{{stored}},"known":{{known}}}"""), (code?.Code, code?.Details));
        Assert.Contains("Cart/a", answer.Abort.Message, StringComparison.Ordinal);
    }

    private static Task<Rig> Start(int generation) => Rig.Start(types: [Carts.Of(generation)]);

    private static async Task Restart(Rig rig, int generation)
    {
        rig.Types = [Carts.Of(generation)];
        await rig.Restart();
    }

    private static async Task Add(Rig rig, string item, bool pact = true) =>
        Rig.Seen1(await Submit(rig, "Add", item, pact));

    private static async Task<string> Show(Rig rig)
    {
        var answer = await Submit(rig, "Show", null, pact: true);
        Assert.True(answer.Outcome == Outcome.Committed, TestWorker.Describe(answer));
        return JsonSerializer.Deserialize<string>(answer.Result.Span)!;
    }

    private static async Task Import(Rig rig, string state)
    {
        var answer = await Submit(rig, StateMethods.Import, Encoding.UTF8.GetBytes(state), pact: true);
        Assert.True(answer.Outcome == Outcome.Committed, TestWorker.Describe(answer));
    }

    private static Task<TransactionEnvelope> Submit(Rig rig, string method, object? input, bool pact) =>
        Rig.Within(rig.Submit("Cart", "a", method, input, pact ? [("a", 1)] : null), method);

    private static async Task<string> Stored(Rig rig)
    {
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        var store = new MemoryStateStore(rig.Storage, TimeProvider.System, new StateStoreOptions());
        var stored = (await store.Load(A, default))!;
        var state = stored.Fields.Single(static field => field.Name == StateField.WholeState);
        return Encoding.UTF8.GetString(state.Value!.Value.Span);
    }
}
