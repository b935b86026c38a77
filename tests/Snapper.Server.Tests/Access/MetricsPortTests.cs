using System.Net;
using System.Net.Sockets;
using System.Text;
using Snapper.Security;
using Xunit;

namespace Snapper.Server.Tests.Access;

/// <summary>A port that is opened to what scrapes shows metrics and nothing else, also to who may do all.</summary>
public sealed class MetricsPortTests
{
    [Fact]
    public async Task Metrics_are_served_there_without_a_token()
    {
        await using var worker = await SecuredWorker.Start(metricsPort: FreePort(out var port));
        using var client = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{port}") };
        Assert.Contains("snapper_", await client.GetStringAsync("/metrics"), StringComparison.Ordinal);

        // Where it was, it stays.
        var before = await worker.Read(Role.Nobody, "GET", "/metrics");
        Assert.Equal(200, before.Status);
    }

    [Theory]
    [InlineData("GET", "/healthz")]
    [InlineData("GET", "/readyz")]
    [InlineData("GET", "/v1/status")]
    [InlineData("POST", "/v1/transactions")]
    [InlineData("GET", "/v1/audit")]
    [InlineData("GET", "/dapr/config")]
    [InlineData("PUT", "/actors/Account/a/method/Balance")]
    [InlineData("GET", "/metrics/")]
    [InlineData("GET", "/METRICS")]
    [InlineData("GET", "//metrics")]
    [InlineData("GET", "/metrics/../v1/status")]
    [InlineData("GET", "/v1/status?x=/metrics")]
    [InlineData("GET", "http://127.0.0.1/v1/status")]
    [InlineData("GET", "/")]
    [InlineData("OPTIONS", "*")]
    public async Task Nothing_else_is_there_whatever_token_is_shown(string method, string target)
    {
        await using var worker = await SecuredWorker.Start(metricsPort: FreePort(out var port));
        string[] shown =
        [
            "", $"Authorization: Bearer {worker.TokenOf(Role.Admin)}\r\n",
            $"dapr-api-token: {SecuredWorker.SidecarToken}\r\n",
        ];
        foreach (var header in shown)
        {
            var rest = $"HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}Content-Length: 0\r\n\r\n";
            Assert.Equal("HTTP/1.1 404 Not Found", await FirstLine(port, $"{method} {target} {rest}"));
        }

        Assert.Equal(0, worker.Door.Submitted);
    }

    private static async Task<string> FirstLine(int port, string text)
    {
        using var socket = new TcpClient();
        await socket.ConnectAsync(IPAddress.Loopback, port);
        await socket.GetStream().WriteAsync(Encoding.Latin1.GetBytes(text));
        using var reader = new StreamReader(socket.GetStream(), Encoding.Latin1);
        return await reader.ReadLineAsync().WaitAsync(TimeSpan.FromSeconds(60)) ?? "";
    }

    private static int FreePort(out int port)
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return port = ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}
