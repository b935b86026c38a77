using System.Net.Sockets;
using System.Net.WebSockets;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Units;

/// <summary>Connections beyond the limits are refused, and those that are there go on.</summary>
public sealed class ConnectionLimitTests
{
    private static readonly DashboardSettings s_settings = new([new Uri("http://127.0.0.1:1")], null, 0, false, 0);

    [Fact]
    public async Task A_connection_beyond_the_limit_is_closed_and_the_others_answer()
    {
        await using var dashboard = await Start(s_settings with { ConnectionsMax = 3 });
        var held = new List<TcpClient>();
        try
        {
            for (var i = 0; i < 3; i++)
            {
                held.Add(await Connect(dashboard));
                Assert.StartsWith("HTTP/1.1 200", await Ask(held[i]), StringComparison.Ordinal);
            }

            using (var beyond = await Connect(dashboard))
            {
                Assert.Equal("", await Ask(beyond));
            }

            foreach (var one in held) Assert.StartsWith("HTTP/1.1 200", await Ask(one), StringComparison.Ordinal);
            held[0].Dispose();
            held.RemoveAt(0);
            await Eventually(async () =>
            {
                using var next = await Connect(dashboard);
                return await Ask(next) is { Length: > 0 };
            });
        }
        finally
        {
            held.ForEach(one => one.Dispose());
        }
    }

    [Fact]
    public async Task A_connection_on_which_nothing_is_sent_is_closed_in_time_and_one_that_has_spoken_stays()
    {
        await using var dashboard = await Start(s_settings with { ConnectionsMax = 4, SilenceMax = TimeSpan.FromSeconds(2) });
        using var speaking = await Connect(dashboard);
        Assert.StartsWith("HTTP/1.1 200", await Ask(speaking), StringComparison.Ordinal);
        TcpClient[] silent = [await Connect(dashboard), await Connect(dashboard), await Connect(dashboard)];
        try
        {
            // All places are taken: who speaks is answered meanwhile, and the silent ones make room for others.
            Assert.StartsWith("HTTP/1.1 200", await Ask(speaking), StringComparison.Ordinal);
            foreach (var one in silent) Assert.Equal("", await Rest(one));
            Assert.StartsWith("HTTP/1.1 200", await Ask(speaking), StringComparison.Ordinal);
            await Eventually(async () =>
            {
                using var next = await Connect(dashboard);
                return (await Ask(next)).StartsWith("HTTP/1.1 200", StringComparison.Ordinal);
            });
        }
        finally
        {
            foreach (var one in silent) one.Dispose();
        }
    }

    [Fact]
    public async Task A_connection_that_was_used_once_and_is_held_makes_room_for_others()
    {
        await using var dashboard = await Start(s_settings with { ConnectionsMax = 2, IdleMax = TimeSpan.FromSeconds(2) });
        using var first = await Connect(dashboard);
        using var second = await Connect(dashboard);
        foreach (var one in (TcpClient[])[first, second]) Assert.StartsWith("HTTP/1.1 200", await Ask(one), StringComparison.Ordinal);

        foreach (var one in (TcpClient[])[first, second]) Assert.Equal("", await Rest(one));
        await Eventually(async () =>
        {
            using var next = await Connect(dashboard);
            return (await Ask(next)).StartsWith("HTTP/1.1 200", StringComparison.Ordinal);
        });
    }

    [Fact]
    public async Task Connections_beyond_the_limit_leave_nothing_in_the_log()
    {
        await using var dashboard = await Start(s_settings with { ConnectionsMax = 1 });
        using var only = await Connect(dashboard);
        Assert.StartsWith("HTTP/1.1 200", await Ask(only), StringComparison.Ordinal);
        var logs = dashboard.Services.GetRequiredService<ILoggerFactory>();
        using var seen = new SeenLog();
        logs.AddProvider(seen);
        using (var beyond = await Connect(dashboard))
        {
            Assert.Equal("", await Ask(beyond));
        }

        logs.CreateLogger("Microsoft.AspNetCore.Server.Kestrel").LogWarning("Others are still seen.");
        Assert.Equal(["Others are still seen."], seen.Lines);
    }

    [Fact]
    public async Task A_web_socket_beyond_the_limit_is_refused_and_the_open_one_goes_on()
    {
        await using var dashboard = await Start(s_settings with { PagesMax = 1 });
        using var first = await Eventually(() => Open(dashboard));
        Assert.Null(await Open(dashboard));
        using var http = new HttpClient();
        Assert.Equal("ok", await http.GetStringAsync(new Uri(dashboard.Url + "/healthz")));
        await first!.SendAsync(Encoding.UTF8.GetBytes("{\"protocol\":\"blazorpack\",\"version\":1}\u001e"), WebSocketMessageType.Text, true, default);
        var answer = new byte[64];
        var received = await first.ReceiveAsync(answer, default).WaitAsync(TimeSpan.FromSeconds(10));
        Assert.Equal("{}\u001e", Encoding.UTF8.GetString(answer, 0, received.Count));
    }

    [Fact]
    public void Limits_come_from_the_environment_and_wrong_ones_are_named()
    {
        var set = DashboardSettings.Read([], name => name switch { "SNAPPER_DASHBOARD_CONNECTIONS" => "7", "SNAPPER_DASHBOARD_PAGES" => "5", _ => null });
        Assert.Equal((7, 5), (set.ConnectionsMax, set.PagesMax));
        var unset = DashboardSettings.Read([], _ => null);
        Assert.Equal((4096, 256), (unset.ConnectionsMax, unset.PagesMax));
        foreach (var wrong in (string[])["0", "-1", "many", "100001", "1.5"])
        {
            var refused = Assert.Throws<FormatException>(() => DashboardSettings.Read([], name => name == "SNAPPER_DASHBOARD_PAGES" ? wrong : null));
            Assert.Equal($"SNAPPER_DASHBOARD_PAGES must be one whole number from 1 to 100000, not '{wrong}'", refused.Message);
        }
    }

    private static Task<RunningDashboard> Start(DashboardSettings settings) => RunningDashboard.Start(settings, []);

    private static async Task<TcpClient> Connect(RunningDashboard dashboard)
    {
        var client = new TcpClient();
        await client.ConnectAsync("127.0.0.1", new Uri(dashboard.Url).Port);
        return client;
    }

    /// <summary>What is answered; empty: the connection was closed.</summary>
    private static async Task<string> Ask(TcpClient client)
    {
        try
        {
            await client.GetStream().WriteAsync("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"u8.ToArray());
            var answer = new byte[4096];
            return Encoding.ASCII.GetString(answer, 0, await client.GetStream().ReadAsync(answer).AsTask().WaitAsync(TimeSpan.FromSeconds(10)));
        }
        catch (IOException)
        {
            return "";
        }
    }

    /// <summary>What comes until it is closed, with nothing sent.</summary>
    private static async Task<string> Rest(TcpClient client)
    {
        try
        {
            var answer = new byte[4096];
            return Encoding.ASCII.GetString(answer, 0, await client.GetStream().ReadAsync(answer).AsTask().WaitAsync(TimeSpan.FromSeconds(60)));
        }
        catch (IOException)
        {
            return "";
        }
    }

    private static async Task<ClientWebSocket?> Open(RunningDashboard dashboard)
    {
        var socket = new ClientWebSocket();
        try
        {
            await socket.ConnectAsync(new Uri(dashboard.Url.Replace("http", "ws", StringComparison.Ordinal) + "/_blazor"), default);
            return socket;
        }
        catch (WebSocketException)
        {
            socket.Dispose();
            return null;
        }
    }

    private static async Task<T> Eventually<T>(Func<Task<T>> look)
    {
        for (var until = Environment.TickCount64 + 10_000; Environment.TickCount64 < until; await Task.Delay(20))
        {
            if (await look() is { } found && !Equals(found, false)) return found;
        }

        throw new TimeoutException("It has not happened within 10 s.");
    }

    /// <summary>What gets through the filters.</summary>
    private sealed class SeenLog : ILoggerProvider, ILogger
    {
        private readonly System.Collections.Concurrent.ConcurrentQueue<string> _lines = new();

        public IReadOnlyList<string> Lines => [.. _lines];

        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) => _lines.Enqueue(formatter(state, exception));

        public void Dispose()
        {
        }
    }
}
