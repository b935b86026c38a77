using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Snapper.Tests.Support;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>
/// Wrong settings of direct links end a worker with a line, before it waits for its Redis, which is away here.
/// </summary>
public sealed class LinkSettingsProcessTests : IDisposable
{
    private const string Help =
        " Set Snapper:Cluster:LinkAddress and Snapper:Cluster:LinkPort to what is free on this machine, "
        + "or Snapper:Cluster:Links to 'sidecar'.";

    private const string Taken = "snapper: direct links of other workers cannot be taken at ";
    private const string Wrong = "snapper: The configuration is wrong: ";

    private readonly TempFolder _temp = new();

    public void Dispose() => _temp.Dispose();

    [Fact]
    public async Task A_port_that_is_taken()
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        var place = (IPEndPoint)taken.LocalEndpoint;
        await Ends(
            ExitCode.Failure,
            $"{Taken}{place}: Address already in use.{Help}",
            ("LinkPort", place.Port.ToString(CultureInfo.InvariantCulture)));
    }

    [Fact]
    public async Task An_address_of_another_machine()
    {
        using var files = new LinkFiles(_temp.Path);
        var (certificate, key) = files.Issue("w1", "192.0.2.1");
        await Ends(
            ExitCode.Failure,
            $"{Taken}192.0.2.1:0: Cannot assign requested address.{Help}",
            ("LinkAddress", "192.0.2.1"), ("LinkCertificate", certificate), ("LinkKey", key),
            ("LinkAuthority", files.Authority));
    }

    [Fact]
    public async Task A_certificate_that_has_expired()
    {
        using var files = new LinkFiles(_temp.Path);
        var (certificate, key) = files.Issue("w1", "127.0.0.1", days: 0.5);
        await Ends(
            ExitCode.Usage, $"{Wrong}Snapper:Cluster:LinkCertificate, '{certificate}', is valid from ",
            ("LinkCertificate", certificate), ("LinkKey", key), ("LinkAuthority", files.Authority));
    }

    [Fact]
    public Task A_way_that_there_is_not() => Ends(
        ExitCode.Usage,
        $"{Wrong}Snapper:Cluster:Links is 'foo': 'direct' or 'sidecar' is meant. What helps: {FixHints.Setting}.",
        ("Links", "foo"));

    [Fact]
    public Task No_encryption_beyond_loopback() => Ends(
        ExitCode.Usage,
        Wrong + "Direct links would listen on 0.0.0.0 without encryption: "
        + "set Snapper:Cluster:LinkCertificate, LinkKey and LinkAuthority, ",
        ("LinkAddress", "0.0.0.0"), ("LinkHost", "w1.workers"));

    private async Task Ends(int code, string line, params (string Name, string Value)[] settings)
    {
        var ports = Ports.Free(3);
        var start = new ProcessStartInfo(
            "dotnet",
            [
                UpProcess.CommandLineDll, "worker", "--name", "w1", "--workers", "2", "--data", _temp.Path, "--log",
                "redis", "--redis", $"127.0.0.1:{ports[0]}", "--listen-port", $"{ports[1]}",
                "--sidecar-port", $"{ports[2]}",
            ])
        {
            RedirectStandardOutput = true, RedirectStandardError = true,
        };
        start.Environment["SNAPPER_MAILBOX_SECRET"] = "a secret of all workers";
        foreach (var (name, value) in settings)
        {
            start.Environment[$"Snapper__Cluster__{name}"] = value;
        }

        using var worker = Process.Start(start)!;
        try
        {
            var (output, errors) = (worker.StandardOutput.ReadToEndAsync(), worker.StandardError.ReadToEndAsync());
            await worker.WaitForExitAsync().WaitAsync(Eventually.Deadline);
            var said = await errors;
            Assert.True(worker.ExitCode == code, $"{worker.ExitCode}: {said}{await output}");
            Assert.Contains(said.Split('\n'), one => one.StartsWith(line, StringComparison.Ordinal));
            Assert.DoesNotContain("   at ", said, StringComparison.Ordinal); // no trace
        }
        finally
        {
            worker.Kill();
        }
    }
}
