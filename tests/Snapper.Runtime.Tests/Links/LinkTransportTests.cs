using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Snapper.Cluster.Links;
using Snapper.Protocol.Identity;
using Xunit;

namespace Snapper.Runtime.Tests.Links;

/// <summary>
/// Links over real sockets: they carry what mailboxes send, and whatever becomes of them, each message arrives once and
/// in order.
/// </summary>
public sealed class LinkTransportTests
{
    private const int Many = 3000;

    [Fact]
    public async Task Packets_of_two_workers_go_by_links_and_none_through_the_sidecars()
    {
        await using var pair = LinkedPair.Start();
        await Linked(pair.Meet());
        await Exchange(pair, Many);
        Assert.Equal(0, pair.One.ThroughSidecar + pair.Two.ThroughSidecar);
    }

    [Fact]
    public async Task Before_there_is_a_link_packets_go_through_the_sidecars()
    {
        await using var pair = LinkedPair.Start();
        await Exchange(pair, 10);
        Assert.True(pair.One.ThroughSidecar > 0);
        await Linked(pair.Meet());
    }

    [Fact]
    public async Task A_large_packet_and_a_small_one_behind_it_arrive_in_their_order()
    {
        await using var pair = LinkedPair.Start();
        await Linked(pair.Meet());
        var large = new byte[2 << 20];
        Array.Fill(large, (byte)'x');
        pair.One.Hub.Send(pair.Two.Own, large);
        pair.One.Send(pair.Two.Own, 1);
        await LinkedPair.Until(() => pair.Two.Heard.Count == 2, "both came");
        Assert.Equal([large.Length, 1], pair.Two.Heard.Select(text => text.Length));
    }

    [Fact]
    public async Task A_link_that_is_cut_again_and_again_loses_nothing_and_doubles_nothing()
    {
        await using var pair = LinkedPair.Start();
        await using var proxy = new TcpProxy(pair.Two.Links.Address.Port);
        await Linked(pair.Meet(Through(proxy)));
        for (var round = 0; round < 10; round++)
        {
            for (var i = 0; i < 200; i++)
            {
                pair.One.Send(pair.Two.Own, (round * 200) + i);
            }

            proxy.Cut();
        }

        await LinkedPair.Until(() => pair.Two.Heard.Count >= 2000, "all came");
        Assert.Equal(Enumerable.Range(0, 2000).Select(i => $"{i}"), pair.Two.Heard);
        await LinkedPair.Until(() => pair.One.IsDirect(2), "the link was made again");
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_link_that_is_open_in_one_direction_only_is_given_up_and_made_again(bool there)
    {
        await using var pair = LinkedPair.Start();
        await using var proxy = new TcpProxy(pair.Two.Links.Address.Port);
        await Linked(pair.Meet(Through(proxy)));
        proxy.SwallowsThere = there;
        proxy.SwallowsBack = !there;
        for (var i = 0; i < 100; i++)
        {
            pair.One.Send(pair.Two.Own, i);
        }

        await LinkedPair.Until(() => pair.Two.Heard.Count >= 100 && pair.One.ThroughSidecar > 0,
            "the sidecar carried what the link did not");
        Assert.Equal(Enumerable.Range(0, 100).Select(i => $"{i}"), pair.Two.Heard);
        await LinkedPair.Until(() => pair.One.Problem(2) is { } problem
            && problem.Contains("nothing that answers", StringComparison.Ordinal), "the reason is told");
        (proxy.SwallowsThere, proxy.SwallowsBack) = (false, false);
        await LinkedPair.Until(() => pair.One.IsDirect(2), "the link was made again");
        Assert.Null(pair.One.Problem(2));
    }

    [Fact]
    public async Task A_slow_link_is_kept_and_nothing_goes_twice()
    {
        await using var pair = LinkedPair.Start();
        await using var proxy = new TcpProxy(pair.Two.Links.Address.Port) { DelayMs = 40 };
        await Linked(pair.Meet(Through(proxy)));
        for (var i = 0; i < 200; i++)
        {
            pair.One.Send(pair.Two.Own, i);
            await Task.Yield();
        }

        await LinkedPair.Until(() => pair.Two.Heard.Count == 200, "all came");
        Assert.Equal(Enumerable.Range(0, 200).Select(i => $"{i}"), pair.Two.Heard);
        Assert.True(pair.One.IsDirect(2));
        Assert.Equal(1, proxy.Made);
    }

    [Theory]
    [InlineData("another incarnation answers", "is for w2/6, and this is w2/5")]
    [InlineData("another secret", "different SNAPPER_MAILBOX_SECRETs")]
    [InlineData("nothing listens", "No link to w2/5")]
    [InlineData("a web server", "closed before the link was made")]
    [InlineData("loopback of another machine", "on loopback of elsewhere alone")]
    [InlineData("an older version", "takes no direct links")]
    public async Task Where_no_link_can_be_made_the_reason_is_told_and_the_sidecars_carry_all(string what,
        string problem)
    {
        await using var pair = LinkedPair.Start(two: LinkedPair.Options(what == "another secret" ? (byte)2 : (byte)1));
        using var closed = new TcpListener(IPAddress.Loopback, 0);
        await using var refusing = new TcpProxy(1) { Refuses = true };
        var (address, life) = (pair.Two.Links.Address.ToString(), pair.Two.Own);
        switch (what)
        {
            case "another incarnation answers":
                life = new Incarnation(2, 6);
                break;
            case "nothing listens":
                closed.Start();
                address = At(((IPEndPoint)closed.LocalEndpoint).Port);
                closed.Stop();
                break;
            case "a web server":
                address = At(refusing.Port);
                break;
            case "loopback of another machine":
                address = "127.0.0.1:5000 elsewhere";
                break;
            case "an older version":
                address = "";
                break;
        }

        pair.Meet(address, two: life);
        await LinkedPair.Until(() => pair.One.Problem(2)?.Contains(problem, StringComparison.Ordinal) == true,
            $"told is: {pair.One.Problem(2)}");
        pair.One.Send(pair.Two.Own, 1);
        await LinkedPair.Until(() => !pair.Two.Heard.IsEmpty, "it came");
        Assert.True(pair.One.ThroughSidecar > 0);
        Assert.False(pair.One.IsDirect(2));
    }

    [Fact]
    public async Task A_link_follows_its_worker_to_another_address()
    {
        await using var pair = LinkedPair.Start();
        await using var first = new TcpProxy(pair.Two.Links.Address.Port);
        await using var second = new TcpProxy(pair.Two.Links.Address.Port);
        await Linked(pair.Meet(Through(first)));
        pair.Meet(Through(second));
        await LinkedPair.Until(() => second.Made > 0 && pair.One.IsDirect(2), "it was made at the new address");
        await Exchange(pair, 100);
    }

    [Fact]
    public async Task Garbage_and_silent_connections_cost_only_themselves()
    {
        await using var pair = LinkedPair.Start();
        await Linked(pair.Meet());
        var silent = new List<TcpClient>();
        var chance = new Random(1);
        for (var i = 0; i < 200; i++)
        {
            var client = new TcpClient();
            await client.ConnectAsync(IPAddress.Loopback, pair.Two.Links.Address.Port);
            silent.Add(client);
            if (i % 2 == 0)
            {
                var bytes = new byte[chance.Next(1, 2000)];
                chance.NextBytes(bytes);
                await client.GetStream().WriteAsync(bytes);
            }
        }

        await Exchange(pair, Many); // the link that exists goes on
        Assert.Equal(0, pair.One.ThroughSidecar + pair.Two.ThroughSidecar);
        silent.ForEach(client => client.Dispose());
        await using var third = LinkedPair.Start();
        await Linked(third.Meet());
    }

    [Fact]
    public async Task Links_are_encrypted_and_both_ends_show_a_certificate_of_their_own_authority()
    {
        using var authority = Authority();
        var (one, two) = (With(authority, Issue(authority)), With(authority, Issue(authority)));
        await using var pair = LinkedPair.Start(one, two);
        await Linked(pair.Meet());
        await Exchange(pair, Many);
        Assert.Equal(0, pair.One.ThroughSidecar + pair.Two.ThroughSidecar);
    }

    [Theory]
    [InlineData("another authority")]
    [InlineData("expired")]
    [InlineData("none")]
    public async Task Without_a_valid_certificate_of_the_same_authority_there_is_no_link(string what)
    {
        using var authority = Authority();
        using var other = Authority();
        var wrong = what switch
        {
            "another authority" => With(other, Issue(other)),
            "expired" => With(authority, Issue(authority, expired: true)),
            _ => LinkedPair.Options(),
        };
        await using var pair = LinkedPair.Start(With(authority, Issue(authority)), wrong);
        pair.Meet();
        await LinkedPair.Until(() => pair.One.Problem(2) is not null && pair.Two.Problem(1) is not null,
            "both are refused");
        await Exchange(pair, 10);
        Assert.False(pair.One.IsDirect(2) || pair.Two.IsDirect(1));
    }

    [Fact]
    public void Beyond_loopback_links_without_certificates_are_refused_with_the_settings_names()
    {
        var refused = Assert.Throws<ArgumentException>(() =>
            new DirectLinkOptions { Keys = [], Listen = new IPEndPoint(IPAddress.Any, 0) }.Validate());
        Assert.Contains("Snapper:Cluster:LinkCertificate", refused.Message, StringComparison.Ordinal);
        using var authority = Authority();
        Assert.Throws<ArgumentException>(() => new DirectLinkOptions { Keys = [], Authority = [authority] }.Validate());
    }

    [Theory]
    [InlineData("10.0.0.7:5104 node", "10.0.0.7", 5104)]
    [InlineData("[::1]:5104 node", "::1", 5104)]
    [InlineData("w2.snapper:1 a b", "w2.snapper", 1)]
    public void An_address_is_read_as_it_was_written(string text, string host, int port)
    {
        Assert.True(LinkAddress.TryParse(text, out var address));
        Assert.Equal((host, port), (address.Value.Host, address.Value.Port));
        Assert.Equal(text, address.Value.ToString());
    }

    [Theory]
    [InlineData("")]
    [InlineData("10.0.0.7 node")]
    [InlineData("10.0.0.7:0 node")]
    [InlineData("10.0.0.7:65536 node")]
    [InlineData(":5104 node")]
    [InlineData("10.0.0.7:x node")]
    public void What_is_no_address_is_none(string text) => Assert.False(LinkAddress.TryParse(text, out _));

    private static async Task Linked(LinkedPair pair) =>
        await LinkedPair.Until(() => pair.One.IsDirect(2) && pair.Two.IsDirect(1),
            $"links: {pair.One.Problem(2)} {pair.Two.Problem(1)}");

    private static async Task Exchange(LinkedPair pair, int count)
    {
        pair.One.Heard.Clear();
        pair.Two.Heard.Clear();
        for (var i = 0; i < count; i++)
        {
            pair.One.Send(pair.Two.Own, i);
            pair.Two.Send(pair.One.Own, i);
        }

        await LinkedPair.Until(() => pair.One.Heard.Count >= count && pair.Two.Heard.Count >= count, "all came");
        var expected = Enumerable.Range(0, count).Select(i => $"{i}").ToArray();
        Assert.Equal(expected, pair.One.Heard);
        Assert.Equal(expected, pair.Two.Heard);
    }

    private static string Through(TcpProxy proxy) => At(proxy.Port);

    private static string At(int port) => new LinkAddress("127.0.0.1", port, Environment.MachineName).ToString();

    private static DirectLinkOptions With(X509Certificate2 authority, X509Certificate2 certificate) => new()
    {
        Keys = [[1]], Patience = LinkedPair.Patience, RetryDelay = TimeSpan.FromMilliseconds(5),
            RetryDelayMax = TimeSpan.FromMilliseconds(20),
        Certificate = certificate, Authority = [authority],
    };

    private static X509Certificate2 Authority()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=workers", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        return request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-30), DateTimeOffset.UtcNow.AddDays(30));
    }

    private static X509Certificate2 Issue(X509Certificate2 authority, bool expired = false)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=worker", key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddIpAddress(IPAddress.Loopback);
        request.CertificateExtensions.Add(names.Build());
        var from = DateTimeOffset.UtcNow.AddDays(-20);
        using var issued = request.Create(authority, from, expired ? from.AddDays(1)
            : DateTimeOffset.UtcNow.AddDays(20), RandomNumberGenerator.GetBytes(8));
        using var whole = issued.CopyWithPrivateKey(key);
        return X509CertificateLoader.LoadPkcs12(whole.Export(X509ContentType.Pfx),
            null); // a key that was only lent does not do for both ends
    }
}
