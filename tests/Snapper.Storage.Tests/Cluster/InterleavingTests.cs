using Snapper.Storage.Membership;
using Snapper.Storage.Tests.Conformance;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Cluster;

/// <summary>
/// Random interleavings of starts, crashes, pauses, rescues and migrations: whatever comes, an actor is written by one incarnation at a time, and what was
/// acknowledged is what the next owner finds.
/// </summary>
[NeedsRedis]
public sealed class InterleavingTests(RedisServerFixture fixture) : IClassFixture<RedisServerFixture>
{
    private static readonly ClusterOptions Options = new() { Lease = TimeSpan.FromMinutes(5) };

    [Fact]
    public async Task No_actor_ever_has_two_owners_and_nothing_acknowledged_is_lost_in_memory()
    {
        var counts = new Dictionary<string, int>(StringComparer.Ordinal);
        for (var seed = 1; seed <= 300; seed++)
        {
            await using var backend = new MemoryBackend(Options);
            await new InterleavingWorld(backend, seed, counts).Run(steps: 300);
        }

        // A world in which nothing happens finds nothing.
        foreach (var what in new[] { "write", "write fenced", "restart", "fence", "recover", "take over", "take over in two parts", "reclaim", "plan", "commit", "cancel", "stale", "rescuer fenced" })
        {
            Assert.True(counts.GetValueOrDefault(what) >= 20, $"'{what}' happened {counts.GetValueOrDefault(what)} times only.");
        }
    }

    [ServerFact]
    public async Task No_actor_ever_has_two_owners_and_nothing_acknowledged_is_lost_in_redis()
    {
        var counts = new Dictionary<string, int>(StringComparer.Ordinal);
        for (var seed = 1; seed <= 8; seed++)
        {
            await using var backend = await RedisBackend.Connect(fixture.Server, Options);
            await new InterleavingWorld(backend, seed, counts).Run(steps: 300);
        }

        foreach (var what in new[] { "write", "write fenced", "restart", "fence", "recover", "take over", "reclaim", "plan", "commit", "cancel" })
        {
            Assert.True(counts.GetValueOrDefault(what) >= 2, $"'{what}' happened {counts.GetValueOrDefault(what)} times only.");
        }
    }
}
