using System.Text.Json;
using Snapper.Actors.Generated;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Cluster;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Memory;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>The states of several actors in one cut, as <c>POST /v1/reads</c> has them.</summary>
public sealed class StateReadingTests
{
    [Fact]
    public async Task What_was_never_written_has_no_state_and_what_was_deleted_has_a_version()
    {
        await using var rig = await Rig.Start();
        Rig.Seen(await Rig.Within(rig.Act("a", Step.Add(5)), "a write"));
        Rig.Seen(await Rig.Within(rig.Act("a", Step.Add(2)), "another"));
        Rig.Seen(await Rig.Within(rig.Act("gone", Step.Add(1)), "one that goes"));
        Assert.Equal(Outcome.Committed,
            (await Submit(rig.Host.Door, "Box", ["gone"], StateMethods.Delete, "")).Outcome);

        var seen = await Read(rig.Host.Door, "Box", "never", "gone", "a");

        Assert.Equal([0, 2, 2], seen.Select(actor => actor.Version));
        Assert.Equal(JsonValueKind.Null, seen[0].State.ValueKind);
        Assert.Equal(JsonValueKind.Null, seen[1].State.ValueKind);
        Assert.Equal(7, seen[2].State.GetProperty("value").GetInt32());
    }

    [Fact]
    public async Task A_read_changes_nothing_and_leaves_no_record()
    {
        await using var rig = await Rig.Start();
        Rig.Seen(await Rig.Within(rig.Act("a", Step.Add(5)), "a write"));
        var next = new MemoryTransactionLog(rig.Storage).AcknowledgedNext;

        await Read(rig.Host.Door, "Box", "a", "b", "c");

        Assert.Equal(next, new MemoryTransactionLog(rig.Storage).AcknowledgedNext);
    }

    [Fact]
    public async Task A_state_that_cannot_be_written_fails_the_read_in_words()
    {
        await using var rig = await Rig.Start();
        var answer =
            await Rig.Within(
            Submit(rig.Host.Door, "Box", ["a", "b"], StateMethods.ReadAll,
            """{"actors":[{"type":"Nothing","id":"b"}]}"""), "a read of a type that there is not");
        Assert.Equal(Outcome.Aborted, answer.Outcome);
        Assert.Contains("Nothing", answer.Abort!.Message, StringComparison.Ordinal);
    }

    /// <summary>Each transaction adds one to all three, so that a cut in the order has three equal numbers.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public async Task Under_load_each_read_is_one_cut_and_versions_rise(int workers)
    {
        await using var cluster = await TestCluster.Start(workers);
        string[] keys =
            [.. Enumerable.Range(1, 3).Select(i => cluster.IdAt(((i - 1) % workers) + 1, "ListAppend", $"k{i}-"))];
        var operations = string.Join(',', keys.Select(key => $$"""{"f":"append","key":"{{key}}","value":VALUE}"""));
        var next = 0;
        using var over = new CancellationTokenSource();
        var writers = Enumerable.Range(0, 6).Select(i => Task.Run(async () =>
        {
            while (!over.IsCancellationRequested)
            {
                var value = $"{Interlocked.Increment(ref next)}";
                var own = operations.Replace("VALUE", value, StringComparison.Ordinal);
                var input = JsonSerializer.Deserialize<JsonElement>($$"""{"ops":[{{own}}]}""");
                var access = i % 3 == 0 ? null : Declared(keys);
                var answer = await cluster.Submit("ListAppend", keys[0], "Execute", input, access);
                Assert.True(answer.Outcome == Outcome.Committed
                    || answer.Abort is { Reason: not AbortReason.Application }, TestWorker.Describe(answer));
            }
        })).ToArray();

        var cuts = 0;
        long[] versions = [0, 0, 0];
        var lengths = 0;
        while (cuts < 200 && writers.All(static writer => !writer.IsFaulted))
        {
            var seen = await Read(cluster[(cuts % workers) + 1].Door, "ListAppend", keys);
            int[][] lists = [.. seen.Select(static actor => ValuesOf(actor.State))];
            Assert.Equal(lists[0], lists[1]);
            Assert.Equal(lists[0], lists[2]);
            Assert.True(lists[0].Length >= lengths, "a later read saw less");
            for (var i = 0; i < 3; i++)
            {
                Assert.True(seen[i].Version >= versions[i],
                    $"the version of {keys[i]} fell from {versions[i]} to {seen[i].Version}");
                Assert.True(lists[i].Length == lengths || seen[i].Version > 0);
                versions[i] = seen[i].Version;
            }

            lengths = lists[0].Length;
            cuts++;
        }

        await over.CancelAsync();
        await Task.WhenAll(writers);
        Assert.True(lengths > 0);
        var last = await Read(cluster[1].Door, "ListAppend", keys);
        for (var i = 0; i < 3; i++)
        {
            var view =
                await cluster.OwnerOf("ListAppend", keys[i]).Inspection.Actor(new ActorKey("ListAppend", keys[i]),
                default);
            Assert.Equal(view!.Version, last[i].Version);
        }
    }

    private static DeclaredAccess[] Declared(string[] keys) =>
        [.. keys.Select((key, i) => new DeclaredAccess(new ActorKey("ListAppend", key), i == 0 ? 2 : 1))];

    private static int[] ValuesOf(JsonElement state) =>
        state.ValueKind == JsonValueKind.Null ? []
            : [.. state.EnumerateArray().Select(static value => value.GetInt32())];

    private static async Task<(long Version, JsonElement State)[]> Read(ITransactionService door, string type,
        params string[] ids)
    {
        var actors = string.Join(',', ids.Select(id => $$"""{"type":"{{type}}","id":"{{id}}"}"""));
        var answer =
            await Rig.Within(Submit(door, type, ids, StateMethods.ReadAll, $$"""{"actors":[{{actors}}]}"""), "a read");
        Assert.True(answer.Outcome == Outcome.Committed, TestWorker.Describe(answer));
        using var json = JsonDocument.Parse(answer.Result);
        return [.. json.RootElement.Clone().GetProperty("actors").EnumerateArray().Select(static actor =>
            (actor.GetProperty("version").GetInt64(), actor.GetProperty("state")))];
    }

    private static Task<TransactionEnvelope> Submit(ITransactionService door, string type, string[] ids, string method,
        string input) => door.Submit(
        new TransactionRequest
        {
            Actor = new ActorKey(type, ids[0]),
            Method = method,
            Input = System.Text.Encoding.UTF8.GetBytes(input),
            Mode = TransactionMode.Pact,
            Access = [.. ids.Select(id => new DeclaredAccess(new ActorKey(type, id), 1))],
            Timeout = TimeSpan.FromSeconds(30),
        },
        CancellationToken.None);
}
