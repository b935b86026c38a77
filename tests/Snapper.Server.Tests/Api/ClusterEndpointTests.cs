using Snapper.AspNetCore.Api;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary>What one worker says of all, before it has joined them and when there are none.</summary>
public sealed class ClusterEndpointTests
{
    [Theory]
    [InlineData("/v1/workers")]
    [InlineData("/v1/directory")]
    [InlineData("/v1/migrations")]
    [InlineData("/v1/migrations/m-1")]
    [InlineData("/v1/migrations/proposals")]
    public async Task A_worker_that_is_starting_is_not_one_that_is_alone(string path)
    {
        var door = new LifecycleGate();
        await using var api = await ApiHost.Start(door);

        var starting = await api.Get(path);
        door.Open(new FakeTransactionService());
        var alone = await api.Get(path);

        Assert.Equal((503, "1"), (starting.Status, starting.RetryAfter));
        Assert.Equal("The worker is starting.", starting.String("detail"));
        Assert.Equal(404, alone.Status);
        Assert.Contains("alone", alone.String("detail"), StringComparison.Ordinal);
    }
}
