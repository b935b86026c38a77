using System.Diagnostics;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Text.RegularExpressions;
using Microsoft.Extensions.Configuration;
using Snapper.AspNetCore.Hosting;
using Snapper.Cluster.Links;
using Xunit;

namespace Snapper.Manifests.Tests;

/// <summary>
/// The certificates that docs/kubernetes.md makes are taken by the workers of the component direct-links, at both ends
/// of a link, and no others are.
/// </summary>
public sealed class DirectLinksTests : IDisposable
{
    private static readonly Rules.Manifests s_all = Rendered.Of("production", "redis", "../../components/direct-links");

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("snapper-links-");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public async Task Every_worker_takes_the_certificate_of_the_document_and_so_do_the_others()
    {
        await MakeCertificates();
        foreach (var pod in (string[])["snapper-worker-1", "snapper-worker-2", "snapper-worker-3"])
        {
            var options = OfWorker(pod)!;
            Assert.Equal(new IPEndPoint(IPAddress.Any, 5104), options.Listen);
            Assert.Equal($"{pod}.snapper-workers", options.Host);
            await Handshake(options, options);
        }

        var refused = Assert.Throws<InvalidDataException>(() => OfWorker("snapper-worker-4")).Message;
        Assert.Contains("is not for 'snapper-worker-4.snapper-workers'", refused, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_worker_of_another_authority_is_refused_by_both_ends()
    {
        await MakeCertificates();
        var first = OfWorker("snapper-worker-1")!;
        await MakeCertificates();
        var other = OfWorker("snapper-worker-1")!;
        await Assert.ThrowsAnyAsync<AuthenticationException>(() => Handshake(first, other));
        await Assert.ThrowsAnyAsync<AuthenticationException>(() => Handshake(other, first));
    }

    private static async Task Handshake(DirectLinkOptions connects, DirectLinkOptions takes)
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var caller = new TcpClient();
        await caller.ConnectAsync((IPEndPoint)listener.LocalEndpoint);
        using var taken = await listener.AcceptTcpClientAsync();
        await using var here = new SslStream(caller.GetStream());
        await using var there = new SslStream(taken.GetStream());
        var taking = there.AuthenticateAsServerAsync(LinkCertificates.OfAcceptor(takes));
        await here.AuthenticateAsClientAsync(LinkCertificates.OfConnector(connects, takes.Host!));
        await taking;
        Assert.True(there.RemoteCertificate is not null && here.IsMutuallyAuthenticated);
    }

    /// <summary>What a pod makes of its environment, with the files of the secret here.</summary>
    private DirectLinkOptions? OfWorker(string pod)
    {
        var worker = s_all.Pods.Single(static pods => pods.HasSidecar);
        var environment = worker.Environment(worker.Containers[0], pod);
        const string folder = "/run/secrets/snapper-links/";
        var settings = environment.Select(pair => KeyValuePair.Create<string, string?>(
            pair.Key.Replace("__", ":", StringComparison.Ordinal),
            pair.Value.StartsWith(folder, StringComparison.Ordinal)
                ? FileOf(pair.Value[folder.Length..]) : pair.Value));
        return LinkConfiguration.Read(new ConfigurationBuilder().AddInMemoryCollection(settings).Build(), []);
    }

    /// <summary>Where the document has what becomes a key of the secret.</summary>
    private string FileOf(string key)
    {
        var made = $@"secret generic snapper-links .*--from-file={Regex.Escape(key)}=(\S+)";
        return Path.Combine(_folder.FullName, Regex.Match(Tree.Read("docs", "kubernetes.md"), made).Groups[1].Value);
    }

    /// <summary>By the commands of docs/kubernetes.md.</summary>
    private async Task MakeCertificates()
    {
        var lines = Tree.Read("docs", "kubernetes.md").Split('\n');
        var from = Array.FindIndex(lines, static line => line.StartsWith("openssl req -x509", StringComparison.Ordinal)
            && line.Contains("CN=snapper-links", StringComparison.Ordinal));
        var commands = lines[from..].TakeWhile(static line => !line.StartsWith("kubectl", StringComparison.Ordinal));
        var start = new ProcessStartInfo("sh", ["-ec", string.Join('\n', commands)])
        {
            WorkingDirectory = _folder.FullName,
            RedirectStandardError = true,
        };
        using var shell = Process.Start(start)!;
        var said = await shell.StandardError.ReadToEndAsync();
        await shell.WaitForExitAsync();
        Assert.True(shell.ExitCode == 0, said);
    }
}
