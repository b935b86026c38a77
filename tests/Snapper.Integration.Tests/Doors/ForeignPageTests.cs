using System.Text;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Doors;

/// <summary>Web pages in a browser on this machine reach loopback too; what they send is refused. What daprd sends is not.</summary>
[Collection(OnDaprAndRedis.Name)]
[RequiresServers]
public sealed class ForeignPageTests(DaprAndRedisSystem system) : SystemTests(system)
{
    private const string Direct = "v1/transactions";
    private const string Service = "v1.0/invoke/snapper/method/v1/transactions";

    /// <summary>A page behind a name of its own that points here, and one that posts across sites, move no money and see nothing.</summary>
    [SystemFact]
    public async Task Pages_of_others_are_refused_at_the_direct_door() => await All(
        [("Host", "evil.example"), ("Host", "evil.example:5101"), ("Host", "127.0.0.1.evil.example"), ("Origin", "http://evil.example"), ("Origin", "null"), ("Origin", "http://127.0.0.1:1")],
        async row =>
        {
            var account = Name("a");
            var answer = await Deposit(new Uri(Client.Worker, Direct), account, row.Item1, row.Item2, "text/plain");

            Assert.True(answer.Status == 403 && answer.ContentType == "application/problem+json", $"{row}: {answer}");
            Assert.Equal(10_000, await Checking(account));
            Assert.Equal(403, (await Send(HttpMethod.Get, new Uri(Client.Worker, "v1/status"), null, row.Item1, row.Item2)).Status);
        });

    /// <summary>Loopback by any of its names, and a page of the worker's own origin.</summary>
    [SystemFact]
    public async Task Own_names_are_answered()
    {
        var port = Client.Worker.Port;
        await All(
            [("Host", $"localhost:{port}"), ("Host", "LOCALHOST"), ("Host", $"[::1]:{port}"), ("Host", "127.0.0.2"), ("Origin", $"http://127.0.0.1:{port}")],
            async row => Assert.Equal(Verdict.Committed, (await Deposit(new Uri(Client.Worker, Direct), Name("a"), row.Item1, row.Item2)).Verdict));
    }

    /// <summary>The sidecar passes on who sent a request by the service door, and calls by the worker's own name.</summary>
    [SystemFact]
    public async Task Pages_of_others_are_refused_behind_the_sidecar()
    {
        var account = Name("a");

        var service = await Deposit(new Uri(Client.Sidecar, Service), account, "Origin", "http://evil.example", "text/plain");
        Assert.True(service.Status == 403, service.ToString());
        var rebound = await Deposit(new Uri(Client.Sidecar, Service), account, "Host", "evil.example", "text/plain", "http://evil.example");
        Assert.True(rebound.Status == 403, rebound.ToString());
        var actor = await Deposit(new Uri(Client.Sidecar, $"v1.0/actors/Account/{account}/method/StartTransaction"), account, "Origin", "http://evil.example", "text/plain");
        Assert.True(actor.Status >= 400, actor.ToString());
        Assert.Equal(10_000, await Checking(account));

        Assert.Equal(Verdict.Committed, (await Deposit(new Uri(Client.Sidecar, Service), account, "Host", "sidecar.example")).Verdict);
        Assert.Equal(10_001, await Checking(account));
    }

    private static Task<Answer> Deposit(Uri address, string account, string header, string value, string contentType = "application/json", string? origin = null)
    {
        var actor = address.AbsolutePath.Contains("/actors/", StringComparison.Ordinal) ? "" : $"\"actor\":{{\"type\":\"Account\",\"id\":\"{account}\"}},";
        var body = $"{{{actor}\"method\":\"DepositChecking\",\"input\":{{\"amount\":1}}}}";
        return Send(HttpMethod.Post, address, new StringContent(body, Encoding.UTF8, contentType), header, value, origin);
    }

    private static async Task<Answer> Send(HttpMethod method, Uri address, HttpContent? content, string header, string value, string? origin = null)
    {
        using var http = new HttpClient(new SocketsHttpHandler { UseProxy = false });
        using var request = new HttpRequestMessage(method, address) { Content = content };
        request.Headers.TryAddWithoutValidation(header, value);
        if (origin is not null)
        {
            request.Headers.TryAddWithoutValidation("Origin", origin);
        }

        using var response = await http.SendAsync(request);
        return await Answer.From(response);
    }
}
