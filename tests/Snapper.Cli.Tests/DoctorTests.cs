using System.Net;
using System.Net.Sockets;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Commands;
using Snapper.Cli.Doctor;
using Snapper.Cli.Supervision;
using Snapper.Server.Hosting;
using Xunit;

namespace Snapper.Cli.Tests;

public sealed class DoctorTests : IDisposable
{
    private readonly TempFolder _temp = new();
    private readonly int[] _ports = Ports.Free(2);

    public void Dispose() => _temp.Dispose();

    private async Task<(int Exit, string Output)> Doctor(params string[] options)
    {
        var output = new StringWriter();
        string[] command = ["doctor", "--data", _temp.File("data"), "--base-port", $"{_ports[0] - 1}", "--sidecar-port", $"{_ports[1]}", .. options];
        return (await CommandLine.Run(command, output, TextWriter.Null), output.ToString());
    }

    [Fact]
    public async Task A_machine_with_free_ports_and_a_writable_folder_is_healthy_and_left_as_it_was()
    {
        var (exit, output) = await Doctor();
        Assert.Equal(ExitCode.Success, exit);
        foreach (var check in (string[])[".NET SDK", "redis-server", "configured Redis", "daprd", "placement", $"port {_ports[0]}", "data directory", "disk space", "memory"])
        {
            Assert.Contains(check, output);
        }

        Assert.Contains("'./snapper up' would start.", output);
        Assert.False(Directory.Exists(_temp.File("data")));
    }

    [Fact]
    public async Task A_taken_port_fails_and_names_the_holder()
    {
        using var taken = new TcpListener(IPAddress.Loopback, _ports[1]);
        taken.Start();
        var (exit, output) = await Doctor();
        Assert.Equal(ExitCode.Failure, exit);
        Assert.Contains($"(pid {Environment.ProcessId})", output);
        Assert.Contains("FAIL", output);
    }

    [Fact]
    public async Task A_configured_Redis_that_does_not_answer_fails()
    {
        var (exit, output) = await Doctor("--redis", $"127.0.0.1:{Ports.Free(1)[0]}");
        Assert.Equal(ExitCode.Failure, exit);
        Assert.Matches("FAIL +configured Redis", output);
    }

    [Fact]
    public async Task Missing_servers_are_notes_because_the_stand_ins_take_over()
    {
        var bare = new ExecutableFinder(_ => null, _temp.Path);
        var rows = await ServerChecks.All(UpCommand.Parse(), bare);
        Assert.Equal([Health.Limited, Health.Good, Health.Limited, Health.Limited, Health.Good], rows.Select(r => r.Health));
        Assert.All(rows.Where(r => r.Health == Health.Limited), r => Assert.NotEmpty(r.Fix));
    }

    [Theory]
    [InlineData(null, "Good")]
    [InlineData("sixteen-letters!", "Good")]
    [InlineData("none", "Limited")]
    [InlineData("fifteen-letters", "Broken")]
    public void The_secret_of_the_workers_is_looked_at(string? secret, string health)
    {
        var row = SettingChecks.Settings(ServerActors.Own, secret);
        Assert.Equal(health, row.Health.ToString());
        Assert.Equal(health != "Good", row.Finding.Contains("SNAPPER_MAILBOX_SECRET", StringComparison.Ordinal));
    }
}
