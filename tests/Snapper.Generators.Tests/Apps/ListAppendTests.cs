using System.Collections.Immutable;
using System.Text.Json;
using Snapper.Actors;
using Snapper.Apps.ListAppend;
using Snapper.Apps.ListAppend.Contract;
using Snapper.Protocol.Identity;

namespace Snapper.Generators.Tests.Apps;

public sealed class ListAppendTests
{
    private readonly SingleTransaction _lists = new(SnapperAppsListAppendActors.All);

    [Fact]
    public void Only_execute_is_marked()
    {
        var list = Assert.Single(SnapperAppsListAppendActors.All);

        Assert.Equal("ListAppend", list.Type);
        Assert.True(list.StateIsImmutable);
        Assert.True(list.StateReadsAsWritten); // nothing on the hot path is read back
        Assert.Equal(["Execute"], list.Methods.Where(m => m.MayAbort).Select(m => m.Name));
        Assert.Equal(["Read"], list.Methods.Where(m => m.ReadOnly).Select(m => m.Name));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Operations_come_back_with_what_the_transaction_saw(bool parallel)
    {
        var input = JsonSerializer.Deserialize<ExecuteInput>(
            """
            {"ops":[{"f":"append","key":"k7","value":3},{"f":"r","key":"k7","value":null},{"f":"r","key":"k9"},{"f":"append","key":"root","value":4},{"f":"r","key":"root"}]}
            """,
            JsonSerializerOptions.Web)!;

        var result = await Execute(input with { Parallel = parallel });

        var json = JsonSerializer.Serialize(result, JsonSerializerOptions.Web);
        Assert.Equal(
            """
            {"ops":[{"f":"append","key":"k7","value":3},{"f":"r","key":"k7","value":[3]},{"f":"r","key":"k9","value":[]},{"f":"append","key":"root","value":4},{"f":"r","key":"root","value":[4]}]}
            """,
            json);
        Assert.Equal(_lists.Calls, ListAppendAccess.AccessFor("Execute", input, "root"));
        var read = JsonSerializer.Deserialize<ExecuteResult>(json, JsonSerializerOptions.Web)!;
        Assert.Equal([3L], read.Ops[1].Seen!);
        Assert.Equal(4, read.Ops[3].Appended);
    }

    [Fact]
    public async Task The_state_is_a_plain_json_array()
    {
        await Execute(new ExecuteInput([new Operation("append", "k", 1), new Operation("append", "k", 2)]));

        var list = await _lists.Run<Nothing, ImmutableList<long>>(new ActorKey("ListAppend", "k"), "Read", default);
        Assert.Equal("[1,2]", JsonSerializer.Serialize(list, JsonSerializerOptions.Web));
        Assert.Equal([1L, 2L], JsonSerializer.Deserialize<ImmutableList<long>>("[1,2]")!);
    }

    [Fact]
    public async Task An_abort_comes_after_the_last_operation()
    {
        await AbortOf(new ExecuteInput([new Operation("append", "a", 1), new Operation("append", "b", 2)], Abort: true));

        Assert.Equal(1, _lists.Calls[new ActorKey("ListAppend", "b")]);
    }

    [Fact]
    public async Task An_unknown_operation_is_named_before_any_has_run()
    {
        var reason = await AbortOf(new ExecuteInput([new Operation("append", "a", 1), new Operation("drop", "b")]));

        Assert.Contains("'drop'", reason, StringComparison.Ordinal);
        Assert.Equal([new ActorKey("ListAppend", "root")], _lists.Calls.Keys);
    }

    [Fact]
    public async Task Malformed_operations_abort_with_their_place()
    {
        Assert.Contains("operation 1 appends no 'value'", await AbortOf(new ExecuteInput([new Operation("r", "a"), new Operation("append", "a")])), StringComparison.Ordinal);
        Assert.Contains("operation 0 has no 'key'", await AbortOf(new ExecuteInput([new Operation("r", "")])), StringComparison.Ordinal);
        Assert.Contains("operation 0 is null", await AbortOf(new ExecuteInput([null!])), StringComparison.Ordinal);
        Assert.Contains("'ops'", await AbortOf(new ExecuteInput(null!)), StringComparison.Ordinal);
        Assert.Contains("'ops'", await AbortOf(null!), StringComparison.Ordinal);
        Assert.Contains("'delayMs'", await AbortOf(new ExecuteInput([], DelayMs: -1)), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_delay_passes_before_the_first_operation()
    {
        var clock = System.Diagnostics.Stopwatch.StartNew();

        await Execute(new ExecuteInput([], DelayMs: 30));

        Assert.True(clock.ElapsedMilliseconds >= 25, $"Waited {clock.ElapsedMilliseconds} ms, 30 were asked for.");
    }

    [Theory]
    [InlineData("""{"parallel":true}""")]
    [InlineData("""{"ops":[{"key":"k"}]}""")]
    [InlineData("""{"ops":[{"f":"r"}]}""")]
    [InlineData("""{"ops":[{"f":"append","key":"k","value":"x"}]}""")]
    public void Missing_and_mistyped_members_are_refused(string json) =>
        Assert.Throws<JsonException>(() => JsonSerializer.Deserialize<ExecuteInput>(json, JsonSerializerOptions.Web));

    private Task<ExecuteResult> Execute(ExecuteInput input) =>
        _lists.Run<ExecuteInput, ExecuteResult>(new ActorKey("ListAppend", "root"), "Execute", input);

    private async Task<string> AbortOf(ExecuteInput input) =>
        (await Assert.ThrowsAsync<TransactionAbortException>(() => Execute(input))).Message;
}
