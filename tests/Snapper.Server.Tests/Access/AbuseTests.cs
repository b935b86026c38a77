using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Snapper.AspNetCore.Api;
using Snapper.Cli.Supervision;
using Snapper.Security;
using Snapper.Server.Tests.Api;
using Snapper.Server.Tests.Harness;
using Xunit;

namespace Snapper.Server.Tests.Access;

/// <summary>The abuse list: what strangers try.</summary>
public sealed class AbuseTests
{
    private const string Deposit = """{"actor":{"type":"Account","id":"alice"},"method":"Balance"}""";

    [Theory]
    [InlineData("Origin", "http://evil.example")]
    [InlineData("Origin", "null")]
    [InlineData("Host", "evil.example")]
    public async Task A_web_page_of_another_site_is_refused_even_where_nothing_is_configured(string header, string value)
    {
        await using var worker = await SecuredWorker.Start(tokens: false, appToken: null);
        foreach (var path in (string[])["/v1/transactions", "/v1/leave", "/v1/migrations", "/actors/Account/alice/method/StartTransaction"])
        {
            // What a page may send without asking: no content type that a form could not have.
            var host = header == "Host" ? value : "localhost";
            var line = await worker.Raw($"POST {path} HTTP/1.1\r\nHost: {host}\r\n{(header == "Origin" ? $"Origin: {value}\r\n" : "")}Content-Type: text/plain\r\nConnection: close\r\nContent-Length: {Deposit.Length}\r\n\r\n{Deposit}");
            Assert.StartsWith("HTTP/1.1 403", line, StringComparison.Ordinal);
        }

        Assert.Equal(0, worker.Door.Submitted);
    }

    [Theory]
    [InlineData("//v1/status")]
    [InlineData("/v1//status")]
    [InlineData("/V1/STATUS")]
    [InlineData("/v1/%73tatus")]
    [InlineData("/v1%2Fstatus")]
    [InlineData("/v1%5Cstatus")]
    [InlineData("/v1\\status")]
    [InlineData("/v1/status/")]
    [InlineData("/v1/status;x=1")]
    [InlineData("/v1/./status")]
    [InlineData("/x/../v1/status")]
    [InlineData("/healthz/../v1/status")]
    [InlineData("/healthz/%2e%2e/v1/status")]
    [InlineData("/healthz%2F..%2Fv1/status")]
    [InlineData("/metrics/..;/v1/status")]
    [InlineData("/v1/status%00")]
    [InlineData("/v1/status?x=/healthz")]
    [InlineData("/v1/status#/healthz")]
    [InlineData("http://localhost/v1/status")]
    [InlineData("/actors/../v1/status")]
    [InlineData("/v1/actors/Account/../../status")]
    [InlineData("/v1/%2e%2e/v1/audit")]
    [InlineData("/%76%31/audit")]
    public async Task No_spelling_of_an_address_gets_round_the_gate(string target)
    {
        await using var worker = await SecuredWorker.Start();
        foreach (var method in (string[])["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", "PROPFIND"])
        {
            var line = await worker.Raw($"{method} {target} HTTP/1.1\r\nHost: localhost\r\nX-HTTP-Method-Override: GET\r\nX-Original-URL: /healthz\r\nX-Forwarded-For: 127.0.0.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
            var status = line.Split(' ') is [_, var text, ..] && int.TryParse(text, out var number) ? number : 0;
            Assert.True(status is 400 or 401 or 403 or 404 or 405 or 0, $"{method} {target}: {line}");
        }

        Assert.Equal(0, worker.Door.Submitted);
    }

    [Theory]
    [InlineData("DELETE /v1/leave")]
    [InlineData("POST /v1/leave/")]
    [InlineData("POST /V1/LEAVE")]
    [InlineData("POST /v1/x/../leave")]
    [InlineData("POST //v1/migrations")]
    [InlineData("POST /v1/%6digrations")]
    public async Task No_spelling_lets_a_viewer_administer(string request)
    {
        await using var worker = await SecuredWorker.Start();
        var line = await worker.Raw($"{request} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {worker.TokenOf(Role.Viewer)}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{{}}");
        Assert.True(line.Contains(" 403", StringComparison.Ordinal) || line.Contains(" 404", StringComparison.Ordinal) || line.Contains(" 405", StringComparison.Ordinal), line);
        var audit = await worker.Read(Role.Admin, "GET", "/v1/audit");
        Assert.DoesNotContain(audit.Json.GetProperty("entries").EnumerateArray(), entry => entry.GetProperty("outcome").GetString()!.StartsWith('2'));
    }

    [Fact]
    public async Task Floods_of_headers_and_long_addresses_are_cut_off()
    {
        await using var worker = await SecuredWorker.Start();
        string Headers(int count, int length) => string.Concat(Enumerable.Range(0, count).Select(i => $"X-{i}: {new string('x', length)}\r\n"));

        Assert.StartsWith("HTTP/1.1 431", await worker.Raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + Headers(150, 1) + "\r\n"), StringComparison.Ordinal);
        Assert.StartsWith("HTTP/1.1 431", await worker.Raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + Headers(1, 40_000) + "\r\n"), StringComparison.Ordinal);
        Assert.StartsWith("HTTP/1.1 414", await worker.Raw($"GET /healthz?{new string('x', 40_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n"), StringComparison.Ordinal);
        Assert.StartsWith("HTTP/1.1 200", await worker.Raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + Headers(50, 100) + "\r\n"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Content-Length: 5\r\nContent-Length: 6\r\n")]
    [InlineData("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")]
    [InlineData("Transfer-Encoding: xchunked\r\n")]
    [InlineData("Content-Length: -1\r\n")]
    public async Task Two_lengths_of_one_body_are_never_two_requests(string lengths)
    {
        await using var worker = await SecuredWorker.Start(tokens: false, appToken: null);
        var smuggled = $"POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {Deposit.Length}\r\n\r\n{Deposit}";
        var line = await worker.Raw($"POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\n{lengths}\r\n0\r\n\r\n{smuggled}");
        Assert.StartsWith("HTTP/1.1 400", line, StringComparison.Ordinal);
        Assert.Equal(0, worker.Door.Submitted);
    }

    [Fact]
    public async Task A_stranger_is_refused_before_the_body_is_read()
    {
        await using var worker = await SecuredWorker.Start();

        // Of the announced body nothing is sent: who waited for it would not answer.
        Assert.StartsWith("HTTP/1.1 401", await worker.Raw("POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"), StringComparison.Ordinal);
        Assert.StartsWith("HTTP/1.1 401", await worker.Raw("PUT /actors/Account/alice/method/StartTransaction HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_body_that_never_ends_or_hardly_comes_is_given_up()
    {
        await using var worker = await SecuredWorker.Start(tokens: false, appToken: null);
        Assert.StartsWith("HTTP/1.1 413", await worker.Raw("POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000000\r\n\r\n"), StringComparison.Ordinal);
        var endless = "POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + string.Concat(Enumerable.Repeat("10000\r\n" + new string(' ', 0x10000) + "\r\n", 40));
        Assert.StartsWith("HTTP/1.1 413", await worker.Raw(endless), StringComparison.Ordinal);
        Assert.StartsWith("HTTP/1.1 408", await worker.Raw("POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n{"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task New_connections_that_say_nothing_are_closed_and_those_that_speak_are_kept()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService(), listener: new ApiListener { SilenceMax = TimeSpan.FromMilliseconds(500) });
        var silent = new List<Socket>();
        using var speaking = await Connect(host.Address);
        try
        {
            Assert.StartsWith("HTTP/1.1 200", await Exchange(speaking), StringComparison.Ordinal);
            for (var i = 0; i < 200; i++) silent.Add(await Connect(host.Address));
            foreach (var socket in silent) Assert.Equal(0, await Received(socket).WaitAsync(TimeSpan.FromSeconds(60)));
            Assert.StartsWith("HTTP/1.1 200", await Exchange(speaking), StringComparison.Ordinal);
        }
        finally
        {
            silent.ForEach(socket => socket.Dispose());
        }
    }

    [Fact]
    public async Task Ten_thousand_idle_connections_keep_nobody_out()
    {
        const int idle = 10_000;

        // In a process of its own: both ends of so many connections are more files than one process may have open.
        using var data = new TempFolder();
        var port = Ports.Free(2);
        using var worker = Process.Start(new ProcessStartInfo("dotnet",
        [
            Path.Combine(AppContext.BaseDirectory, "Snapper.Server.dll"), "worker", "--listen-port", port[0].ToString(CultureInfo.InvariantCulture), "--sidecar-port", port[1].ToString(CultureInfo.InvariantCulture), "--sidecar", "embedded",
            "--data", data.File("data"), "--watch-parent", Environment.ProcessId.ToString(CultureInfo.InvariantCulture),
        ]))!;
        var address = new Uri($"http://127.0.0.1:{port[0]}");
        var sockets = new List<Socket>(idle);
        try
        {
            using var http = new HttpClient { BaseAddress = address, Timeout = TimeSpan.FromSeconds(60) };
            await Soon.Holds(TimeSpan.FromSeconds(120), async () =>
            {
                try
                {
                    return (await http.GetAsync(new Uri("/readyz", UriKind.Relative))).IsSuccessStatusCode;
                }
                catch (HttpRequestException)
                {
                    return false;
                }
            });
            for (var i = 0; i < idle; i++)
            {
                var socket = await Connect(address);
                sockets.Add(socket);
                Assert.StartsWith("HTTP/1.1 200", await Exchange(socket), StringComparison.Ordinal);
            }

            // All of them have been answered and stay: callers on new connections are served, and so are the first and the last.
            for (var i = 0; i < 50; i++)
            {
                using var caller = new HttpClient { BaseAddress = address, Timeout = TimeSpan.FromSeconds(60) };
                using var content = new StringContent(Deposit, Encoding.UTF8, "application/json");
                using var answer = await caller.PostAsync(new Uri("/v1/transactions", UriKind.Relative), content);
                Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
            }

            Assert.StartsWith("HTTP/1.1 200", await Exchange(sockets[0]), StringComparison.Ordinal);
            Assert.StartsWith("HTTP/1.1 200", await Exchange(sockets[^1]), StringComparison.Ordinal);
        }
        finally
        {
            sockets.ForEach(socket => socket.Dispose());
            worker.Kill();
            await worker.WaitForExitAsync();
        }
    }

    [Fact]
    public async Task With_all_connections_taken_more_are_closed_at_once_and_room_comes_back()
    {
        await using var host = await ApiHost.Start(new FakeTransactionService(), listener: new ApiListener { ConnectionsMax = 20 });
        var taken = new List<Socket>();
        for (var i = 0; i < 20; i++)
        {
            taken.Add(await Connect(host.Address));
            Assert.StartsWith("HTTP/1.1 200", await Exchange(taken[^1]), StringComparison.Ordinal);
        }

        using (var more = await Connect(host.Address))
        {
            Assert.Equal(0, await Received(more).WaitAsync(TimeSpan.FromSeconds(60)));
        }

        taken.ForEach(socket => socket.Dispose());
        await Soon.Holds(TimeSpan.FromSeconds(30), async () =>
        {
            using var again = await Connect(host.Address);
            return (await Exchange(again)).StartsWith("HTTP/1.1 200", StringComparison.Ordinal);
        });
    }

    private static async Task<Socket> Connect(Uri address)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await socket.ConnectAsync(IPAddress.Loopback, address.Port);
        return socket;
    }

    private static async Task<string> Exchange(Socket socket)
    {
        try
        {
            await socket.SendAsync(Encoding.ASCII.GetBytes("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        }
        catch (SocketException)
        {
            return "";
        }

        var buffer = new byte[8192];
        var length = await Received(socket, buffer).WaitAsync(TimeSpan.FromSeconds(60));
        return Encoding.ASCII.GetString(buffer, 0, length);
    }

    private static async Task<int> Received(Socket socket, byte[]? buffer = null)
    {
        try
        {
            return await socket.ReceiveAsync(buffer ?? new byte[16]);
        }
        catch (SocketException)
        {
            return 0; // reset, which is closed, too
        }
    }

    private static class Soon
    {
        public static async Task Holds(TimeSpan within, Func<Task<bool>> condition)
        {
            var until = DateTime.UtcNow + within;
            while (!await condition())
            {
                Assert.True(DateTime.UtcNow < until, "it does not come about");
                await Task.Delay(20);
            }
        }
    }
}
