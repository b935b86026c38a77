using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Snapper.Client.Tests;

public sealed class ServicesTests
{
    [Fact]
    public async Task A_host_has_one_client_with_the_options_it_was_given_and_closes_it()
    {
        await using var worker = await FakeWorker.Start();
        SnapperClient client;
        using (var services = new ServiceCollection()
            .AddSingleton(new Where(worker.Address))
            .AddSnapperClient(provider =>
                new SnapperClientOptions { Worker = provider.GetRequiredService<Where>().Address })
            .BuildServiceProvider())
        {
            client = services.GetRequiredService<SnapperClient>();
            Assert.Same(client, services.GetRequiredService<SnapperClient>());
            Assert.Same(client, services.GetRequiredService<ISnapperClient>());
            Assert.Null(await client.Find("never"));
        }

        await Assert.ThrowsAsync<ObjectDisposedException>(() => client.Find("never"));
    }

    [Theory]
    [InlineData(null, "snapper")]
    [InlineData("orders", "orders")]
    public void The_app_id_is_that_of_the_configuration_which_the_worker_reads_as_well(string? configured,
        string expected)
    {
        var configuration =
            new ConfigurationBuilder().AddInMemoryCollection([new("Snapper:AppId", configured)]).Build();
        using var services = new ServiceCollection().AddSingleton<IConfiguration>(configuration).AddSnapperClient()
            .BuildServiceProvider();
        Assert.Equal(expected, services.GetRequiredService<SnapperClient>().Options.AppId);
        using var bare = new ServiceCollection().AddSnapperClient().BuildServiceProvider();
        Assert.Equal("snapper", bare.GetRequiredService<SnapperClient>().Options.AppId);
    }

    private sealed record Where(Uri Address);
}
