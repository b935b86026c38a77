using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;
using Snapper.AspNetCore.Api;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary>A worker that is told to listen somewhere else is still there for its sidecar.</summary>
public sealed class ListenAddressTests
{
    [Theory]
    [InlineData("127.0.0.1", "127.0.0.1", true)]
    [InlineData("127.0.0.1", "127.0.0.2", false)]
    [InlineData("127.0.0.2", "127.0.0.2", true)]
    [InlineData("127.0.0.2", "127.0.0.1", true)]
    [InlineData("127.0.0.2", "127.0.0.3", false)]
    public async Task Loopback_answers_wherever_else_it_listens(string told, string asked, bool answers)
    {
        var port = Ports.Free(1)[0];
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(server => ApiListener.Listen(server, IPAddress.Parse(told), port));
        await using var web = builder.Build();
        web.Run(context => context.Response.WriteAsync("here"));
        await web.StartAsync();
        using var http = new HttpClient();
        var address = new Uri($"http://{asked}:{port}/");
        if (answers) Assert.Equal("here", await http.GetStringAsync(address));
        else await Assert.ThrowsAsync<HttpRequestException>(() => http.GetStringAsync(address));
    }
}
