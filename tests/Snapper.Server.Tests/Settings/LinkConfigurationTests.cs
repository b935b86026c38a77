using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Logging.Abstractions;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Cluster.Links;
using Snapper.Server.Tests.Harness;
using Snapper.Tests.Support;
using Xunit;

namespace Snapper.Server.Tests.Settings;

/// <summary>What a worker makes of the settings of direct links, and the words by which it refuses them.</summary>
public sealed class LinkConfigurationTests : IDisposable
{
    private readonly TempFolder _folder = new();
    private readonly LinkFiles _files;

    public LinkConfigurationTests() => _files = new LinkFiles(_folder.Path);

    public void Dispose()
    {
        _files.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public void Without_settings_links_are_taken_on_loopback_at_a_free_port()
    {
        var options = Read()!;
        Assert.Equal((new IPEndPoint(IPAddress.Loopback, 0), null), (options.Listen, options.Host));
        Assert.Null(options.Certificate);
        Assert.Null(Read(("Links", "sidecar")));
    }

    [Theory]
    [InlineData("w1.workers", "w1.workers", 0)]
    [InlineData("10.0.0.7:5104", "10.0.0.7", 5104)]
    [InlineData("[fd00::7]:5104", "fd00::7", 5104)]
    [InlineData("fd00::7", "fd00::7", 0)]
    public void The_name_for_others_may_have_a_port(string text, string host, int port)
    {
        var options = Read(("LinkHost", text))!;
        Assert.Equal((host, port), (options.Host, options.HostPort));
    }

    [Theory]
    [InlineData("Links", "foo", "'foo': 'direct' or 'sidecar' is meant.")]
    [InlineData("LinkAddress", "workers", "'workers': an IP address of this machine is meant.")]
    [InlineData("LinkPort", "65536", "65536: 1 to 65535 is meant, or 0 for one that is free.")]
    [InlineData(
        "LinkAddress", "0.0.0.0", "0.0.0.0, which is no address for others: set Snapper:Cluster:LinkHost.")]
    [InlineData("LinkHost", "a b", "'a b': a host name or an IP address is meant, perhaps with ':PORT'.")]
    [InlineData("LinkHost", "w1:0", "'w1:0': a host name or an IP address is meant, perhaps with ':PORT'.")]
    public void A_wrong_value_is_told_in_a_line_that_names_it(string name, string value, string line) =>
        Assert.Equal($"Snapper:Cluster:{name} is {line}", Refusal((name, value)));

    [Fact]
    public void A_port_that_is_no_number_is_named() =>
        Assert.Contains("'Snapper:Cluster:LinkPort'", Refusal(("LinkPort", "many")), StringComparison.Ordinal);

    [Fact]
    public void Beyond_loopback_there_must_be_certificates() => Assert.Equal(
        "Direct links would listen on 0.0.0.0 without encryption: set Snapper:Cluster:LinkCertificate, LinkKey and "
        + "LinkAuthority, or leave Snapper:Cluster:LinkAddress on loopback, or set Snapper:Cluster:Links to 'sidecar'.",
        Refusal(("LinkAddress", "0.0.0.0"), ("LinkPort", "5104"), ("LinkHost", "w1.workers")));

    [Fact]
    public void Certificate_key_and_authority_belong_together()
    {
        var (certificate, key) = _files.Issue("w1", "127.0.0.1");
        const string line = "Snapper:Cluster:LinkCertificate, LinkKey and LinkAuthority belong together: "
            + "all three are set, or none.";
        Assert.Equal(line, Refusal(("LinkCertificate", certificate), ("LinkKey", key)));
        Assert.Equal(line, Refusal(("LinkAuthority", _files.Authority)));
        Assert.Equal(line, Refusal(("LinkKey", key)));
        Assert.Equal(
            $"Snapper:Cluster:LinkCertificate, '{certificate}', has no private key beside the certificate: "
            + "Snapper:Cluster:LinkKey names the file with it.",
            Refusal(("LinkCertificate", certificate), ("LinkAuthority", _files.Authority)));
    }

    [Fact]
    public void A_file_with_both_needs_no_other_for_the_key()
    {
        var (certificate, key) = _files.Issue("w1", "127.0.0.1");
        File.AppendAllText(certificate, "\n" + File.ReadAllText(key));
        var options = Read(("LinkCertificate", certificate), ("LinkAuthority", _files.Authority))!;
        Assert.True(options.Certificate!.HasPrivateKey);
    }

    [Fact]
    public void Files_that_cannot_be_used_are_named()
    {
        var (certificate, key) = _files.Issue("w1", "127.0.0.1");
        var (_, other) = _files.Issue("w2", "127.0.0.1");
        var none = _folder.File("none");
        var empty = _folder.File("empty");
        File.WriteAllText(empty, "");
        Assert.Equal(
            $"Snapper:Cluster:LinkCertificate, '{none}', or LinkKey, '{key}', cannot be read: "
            + $"Could not find file '{none}'.",
            Refusal(("LinkCertificate", none), ("LinkKey", key), ("LinkAuthority", _files.Authority)));
        Assert.StartsWith(
            $"Snapper:Cluster:LinkCertificate, '{certificate}', or LinkKey, '{other}', cannot be read: ",
            Refusal(("LinkCertificate", certificate), ("LinkKey", other), ("LinkAuthority", _files.Authority)),
            StringComparison.Ordinal);
        Assert.Equal(
            $"Snapper:Cluster:LinkAuthority, '{none}', cannot be read: Could not find file '{none}'.",
            Refusal(("LinkCertificate", certificate), ("LinkKey", key), ("LinkAuthority", none)));
        Assert.Equal(
            $"Snapper:Cluster:LinkAuthority, '{empty}', has no certificate.",
            Refusal(("LinkCertificate", certificate), ("LinkKey", key), ("LinkAuthority", empty)));
    }

    [Fact]
    public void A_certificate_that_others_would_refuse_is_refused_at_the_start()
    {
        Assert.Matches(
            "^Snapper:Cluster:LinkCertificate, '.*old.crt', is valid from [-0-9]+ [:0-9]+Z to [-0-9]+ [:0-9]+Z, "
            + "and not now[.]$",
            With(_files.Issue("old", "127.0.0.1", days: 0.5)));
        Assert.Equal(
            "Snapper:Cluster:LinkCertificate is not for '127.0.0.1', under which others reach this worker "
            + "(Snapper:Cluster:LinkHost): it must be among its subject alternative names.",
            With(_files.Issue("named", "w1.workers")));
        Assert.Null(With(
            _files.Issue("named", "w1.workers"), ("LinkAddress", "0.0.0.0"), ("LinkHost", "w1.workers:5104")));
        Assert.Null(With(_files.Issue("all", "*.workers.bank.svc"), ("LinkHost", "w1.workers.bank.svc")));

        Directory.CreateDirectory(_folder.File("elsewhere"));
        using var elsewhere = new LinkFiles(_folder.File("elsewhere"));
        Assert.StartsWith(
            "Snapper:Cluster:LinkCertificate is none that Snapper:Cluster:LinkAuthority has issued, "
            + "so other workers would refuse it: ",
            With(elsewhere.Issue("w1", "127.0.0.1")), StringComparison.Ordinal);
    }

    [Fact]
    public void An_address_that_cannot_be_listened_on_is_told_with_what_helps()
    {
        using var taken = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        taken.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        taken.Listen();
        var port = ((IPEndPoint)taken.LocalEndPoint!).Port;
        const string help =
            " Set Snapper:Cluster:LinkAddress and Snapper:Cluster:LinkPort to what is free on this machine, "
            + "or Snapper:Cluster:Links to 'sidecar'.";
        Assert.Equal(
            $"direct links of other workers cannot be taken at 127.0.0.1:{port}: Address already in use.{help}",
            NotStarted(("LinkPort", $"{port}")));

        var (certificate, key) = _files.Issue("w1", "192.0.2.1");
        Assert.Equal(
            $"direct links of other workers cannot be taken at 192.0.2.1:0: Cannot assign requested address.{help}",
            NotStarted(
                ("LinkAddress", "192.0.2.1"), ("LinkCertificate", certificate), ("LinkKey", key),
                ("LinkAuthority", _files.Authority)));
    }

    private static DirectLinkOptions? Read(params (string Name, string Value)[] settings) =>
        LinkConfiguration.Read(
            new ConfigurationBuilder().AddInMemoryCollection(settings.Select(
                static one => KeyValuePair.Create($"Snapper:Cluster:{one.Name}", (string?)one.Value))).Build(),
            []);

    /// <summary>The words, as the worker makes them one line.</summary>
    private static string Refusal(params (string Name, string Value)[] settings)
    {
        var refused = Assert.Throws<UsageException>(() => WorkerRun.Configured(() => Read(settings))).Message;
        const string before = "The configuration is wrong: ";
        var after = $" What helps: {FixHints.Setting}.";
        Assert.StartsWith(before, refused, StringComparison.Ordinal);
        Assert.EndsWith(after, refused, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', refused);
        return refused[before.Length..^after.Length];
    }

    private static string NotStarted(params (string Name, string Value)[] settings) =>
        Assert.Throws<StartupException>(
            () => LinkConfiguration.Start(Read(settings)!, null!, NullLogger.Instance)).Message;

    /// <returns>Null: it is taken.</returns>
    private string? With((string Certificate, string Key) files, params (string Name, string Value)[] more)
    {
        (string, string)[] settings =
        [
            ("LinkCertificate", files.Certificate), ("LinkKey", files.Key), ("LinkAuthority", _files.Authority),
            .. more,
        ];
        try
        {
            Read(settings);
            return null;
        }
        catch (InvalidDataException)
        {
            return Refusal(settings);
        }
    }
}
