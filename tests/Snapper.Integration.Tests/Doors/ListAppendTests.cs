using System.Text.Json;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Doors;

/// <summary>ListAppend, on which the serializability tests stand.</summary>
[Collection(OnDaprAndRedis.Name)]
[RequiresServers]
public sealed class ListAppendTests(DaprAndRedisSystem system) : SystemTests(system)
{
    private static readonly bool[] Modes = [true, false];

    /// <summary>The same operations come back, each read with what was there and the transaction's own appends.</summary>
    [SystemFact]
    public Task Execute_answers_its_operations_with_what_it_saw() => All(Modes, async pact =>
    {
        var (root, x, y) = (Name("root"), Name("x"), Name("y"));
        await Commit(Lists.AppendTo(x, 1));

        var answer = await Commit(Make(pact, root, [Lists.Read(x), Lists.Append(x, 2), Lists.Read(x), Lists.Read(y), Lists.Append(y, 3)]));

        Assert.True(
            JsonElement.DeepEquals(
                JsonDocument.Parse($$"""[{"f":"r","key":"{{x}}","value":[1]},{"f":"append","key":"{{x}}","value":2},{"f":"r","key":"{{x}}","value":[1,2]},{"f":"r","key":"{{y}}","value":[]},{"f":"append","key":"{{y}}","value":3}]""").RootElement,
                answer.Result.GetProperty("ops")),
            answer.ToString());
        await AssertList(x, 1, 2);
        await AssertList(y, 3);
    });

    /// <summary>The root's own id is a key like any other.</summary>
    [SystemFact]
    public Task Execute_may_use_its_own_key() => All(Modes, async pact =>
    {
        var x = Name("x");

        var answer = await Commit(Make(pact, x, [Lists.Append(x, 1), Lists.Read(x)]));

        Assert.Equal([1], answer.Result.GetProperty("ops")[1].GetProperty("value").EnumerateArray().Select(value => value.GetInt64()));
        await AssertList(x, 1);
    });

    [SystemFact]
    public Task Parallel_operations_all_happen() => All(Modes, async pact =>
    {
        var keys = Enumerable.Range(0, 20).Select(_ => Name("x")).ToArray();
        var operations = keys.Select((key, index) => Lists.Append(key, index)).ToArray();

        await Commit(pact ? Lists.ExecutePact(Name("root"), operations, parallel: true) : Lists.Execute(Name("root"), operations, parallel: true));

        for (var index = 0; index < keys.Length; index++)
        {
            await AssertList(keys[index], index);
        }
    });

    /// <summary>All or nothing: the abort comes after the last operation, and nothing remains.</summary>
    [SystemFact]
    public Task An_aborted_Execute_leaves_nothing() => All(from pact in Modes from parallel in new[] { true, false } select (pact, parallel), async row =>
    {
        var (x, y) = (Name("x"), Name("y"));
        await Commit(Lists.AppendTo(x, 1).Pact());
        var operations = new[] { Lists.Append(x, 2), Lists.Append(y, 3) };

        await Abort(row.pact ? Lists.ExecutePact(Name("root"), operations, row.parallel, abort: true) : Lists.Execute(Name("root"), operations, row.parallel, abort: true), "application");

        await AssertList(x, 1);
        await AssertList(y);
    });

    [SystemFact]
    public Task Append_and_Read_are_roots_too() => All(Modes, async pact =>
    {
        var x = Name("x");

        await Commit(pact ? Lists.AppendTo(x, 7).Pact() : Lists.AppendTo(x, 7).Act());

        Assert.Equal("[7]", (await Commit(pact ? Lists.ReadOf(x).Pact() : Lists.ReadOf(x).Act())).Result.GetRawText());
    });

    [SystemFact]
    public async Task Extreme_integers_survive()
    {
        var x = Name("x");

        await Commit(Lists.ExecutePact(x, [Lists.Append(x, long.MaxValue), Lists.Append(x, long.MinValue), Lists.Append(x, 0)]));

        await AssertList(x, long.MaxValue, long.MinValue, 0);
    }

    private static Transaction Make(bool pact, string root, IReadOnlyList<System.Text.Json.Nodes.JsonObject> operations) =>
        pact ? Lists.ExecutePact(root, operations) : Lists.Execute(root, operations).Act();
}
