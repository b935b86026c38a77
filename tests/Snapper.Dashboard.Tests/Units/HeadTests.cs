using System.Net.Sockets;
using System.Text;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Units;

/// <summary>Monitors and proxies ask for headers alone.</summary>
public sealed class HeadTests
{
    [Theory]
    [InlineData("/", "200 OK")]
    [InlineData("/batches?mode=pact", "200 OK")]
    [InlineData("/nothing-here", "404 Not Found")]
    [InlineData("/snapper.css", "200 OK")]
    [InlineData("/_framework/blazor.web.js", "200 OK")]
    [InlineData("/healthz", "200 OK")]
    [InlineData("/_blazor", "405 Method Not Allowed")]
    public async Task Pages_and_files_answer_HEAD_as_GET_without_a_body_and_connections_of_pages_do_not(string path, string status)
    {
        await using var worker = await ScriptedWorker.Start();
        await using var dashboard = await RunningDashboard.Start(worker.Url);
        var head = await Ask(dashboard, "HEAD", path);
        Assert.StartsWith($"HTTP/1.1 {status}\r\n", head, StringComparison.Ordinal);
        Assert.EndsWith("\r\n\r\n", head, StringComparison.Ordinal);
        if (status.StartsWith("405", StringComparison.Ordinal)) return;
        var get = await Ask(dashboard, "GET", path);
        Assert.StartsWith($"HTTP/1.1 {status}\r\n", get, StringComparison.Ordinal);
        Assert.Equal(Line(get, "Content-Type"), Line(head, "Content-Type"));
        Assert.NotEmpty(Line(head, "Content-Type"));
        Assert.False(get.EndsWith("\r\n\r\n", StringComparison.Ordinal) && get.Length == head.Length, "GET has no body either.");
    }

    private static async Task<string> Ask(RunningDashboard dashboard, string method, string path)
    {
        using var socket = new TcpClient();
        await socket.ConnectAsync("127.0.0.1", new Uri(dashboard.Url).Port);
        var request = $"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nConnection: close\r\n\r\n";
        await socket.GetStream().WriteAsync(Encoding.ASCII.GetBytes(request));
        using var reader = new StreamReader(socket.GetStream());
        return await reader.ReadToEndAsync().WaitAsync(TimeSpan.FromSeconds(30));
    }

    private static string Line(string answer, string header) =>
        answer.Split("\r\n").FirstOrDefault(line => line.StartsWith(header, StringComparison.OrdinalIgnoreCase)) ?? "";
}
