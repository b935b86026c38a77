using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Memory;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>
/// Actors in memory have a bound: above it those leave that were not used for longest, once they are checkpointed (L8).
/// </summary>
public sealed class RoomTests
{
    private const long Most = 1 << 20;

    /// <summary>Cells that may be there beside those that the bound leaves room for: what has just come.</summary>
    private const int Slack = 600;

    [Fact]
    public async Task Actors_that_were_read_leave_when_others_come()
    {
        await using var rig = await Start();
        for (var i = 0; i < 6_000; i++)
        {
            Rig.Seen(await rig.Act("r" + i, Step.Get()));
        }

        Assert.InRange(Residents(rig), 1, (int)(Most / ResidentActors.BytesOfAnActor) + Slack);
        Assert.True(rig.Host.Worker.Executors.Sum(executor => executor.Evictions) > 3_000);
        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task Actors_that_were_declared_and_not_called_leave_too()
    {
        await using var rig = await Start();
        for (var pact = 0; pact < 30; pact++)
        {
            string[] declared = ["a", .. Enumerable.Range(0, 255).Select(i => $"d{pact}-{i}")];
            Rig.Seen(await rig.Pact("a", declared, Step.Add(1)));
        }

        await Reads(rig, 2_000); // what was declared last is final, and its turn under the hand comes
        Assert.InRange(Residents(rig), 1, (int)(Most / ResidentActors.BytesOfAnActor) + Slack);
        Assert.Equal(30, await rig.Value("a"));
        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task Changes_that_are_not_checkpointed_keep_their_actors_and_none_is_lost()
    {
        await using var rig = await Start();
        const int Written = 3_000;
        for (var i = 0; i < Written; i++)
        {
            Rig.Seen(await rig.Act("w" + i, Step.Add(i)));
        }

        await Reads(rig, 3_000);
        Assert.True(Residents(rig) >= Written, $"{Residents(rig)} actors are in memory");
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        await Reads(rig, 4_000);
        Assert.InRange(Residents(rig), 1, (int)(Most / ResidentActors.BytesOfAnActor) + Slack);
        for (var i = 0; i < Written; i += 7)
        {
            Assert.Equal(i, await rig.Value("w" + i));
        }

        Assert.Empty(rig.Failures);
    }

    [Fact]
    public async Task An_actor_that_is_used_again_and_again_stays()
    {
        await using var rig = await Start();
        var store = new HeldLoads(new MemoryStateStore(rig.Storage, rig.Time, new StateStoreOptions()));
        rig.Store = store;
        await rig.Restart();
        for (var i = 0; i < 5_000; i++)
        {
            Rig.Seen(await rig.Act("r" + i, Step.Get()));
            if (i % 16 == 0)
            {
                Rig.Seen(await rig.Act("hot", Step.Get()));
            }
        }

        Assert.Equal(1, store.Loads[new("Box", "hot")]);
    }

    [Fact]
    public async Task An_actor_that_is_declared_and_not_called_is_not_loaded()
    {
        await using var rig = await Rig.Start(new WorkerOptions { Executors = 2, LoadsAhead = 0 });
        Rig.Seen(await rig.Act("b", Step.Add(5)));
        await rig.Host.Worker.Checkpoints.CheckpointNow();
        var store = new HeldLoads(new MemoryStateStore(rig.Storage, rig.Time, new StateStoreOptions()));
        rig.Store = store;
        await rig.Restart();

        Rig.Seen(await rig.Pact("a", ["a", "b", "c"], Step.Add(1)));
        Rig.Seen(await rig.Pact("a", ["a", "b"], Step.Add(1)));
        Assert.Equal((1, 0, 0), (Loads("a"), Loads("b"), Loads("c")));

        // What it had executed before it is loaded, behind it, and what comes while it is loaded.
        store.Hold(new("Box", "b"));
        var calls = new[]
        {
            rig.Pact("a", ["a", "b"], Step.Call("b", Step.Add(1))),
            rig.Act("b", Step.Add(1)),
            rig.Pact("b", ["b", "c"], Step.Add(1)),
            rig.Pact("c", ["b", "c"], Step.Get()),
        };
        await Rig.Until(() => Loads("b") == 1, "b is being loaded");
        store.Release(new("Box", "b"));
        foreach (var call in calls)
        {
            Rig.Seen(await Rig.Within(call, "a call of b"));
        }

        Assert.Equal((2, 8, 0), (await rig.Value("a"), await rig.Value("b"), await rig.Value("c")));
        await rig.Restart();
        Assert.Equal((2, 8), (await rig.Value("a"), await rig.Value("b")));
        Assert.Empty(rig.Failures);

        int Loads(string id) => store.Loads.GetValueOrDefault(new("Box", id));
    }

    [Fact]
    public async Task The_sizes_of_states_count()
    {
        await using var rig = await Start();
        for (var i = 0; i < 60; i++)
        {
            Rig.Seen(await rig.Act("p" + i, Step.Pad(20_000)));
            await rig.Host.Worker.Checkpoints.CheckpointNow();
        }

        await Reads(rig, 500);
        var bytes = rig.Host.Worker.Executors.Sum(executor => executor.BytesOfResidents);
        Assert.InRange(bytes, 1, Most + (Slack * ResidentActors.BytesOfAnActor));
    }

    private static Task<Rig> Start() => Rig.Start(
        new WorkerOptions { Executors = 2, DrainTimeout = TimeSpan.FromSeconds(1), MaxActorBytes = Most });

    private static int Residents(Rig rig) => rig.Host.Worker.Executors.Sum(executor => executor.Residents);

    private static async Task Reads(Rig rig, int count)
    {
        for (var i = 0; i < count; i++)
        {
            Rig.Seen(await rig.Act("other" + (i % 100), Step.Get()));
        }
    }
}
