using System.Net;
using System.Net.Sockets;
using System.Text;
using Snapper.Benchmarks.Suite;
using Snapper.Benchmarks.Systems;
using Xunit;

namespace Snapper.Benchmarks.Tests;

public sealed class SystemsTests
{
    private const string Ready =
        """ready {"workers":[{"name":"w1","url":"http://127.0.0.1:5101","sidecar":"http://127.0.0.1:3500","pid":11,"sidecarPid":12}],"dashboard":null,"log":"redis","redis":"127.0.0.1:6379","redisPid":13,"dapr":"daprd"}""";

    [Fact]
    public void The_ready_line_names_addresses_and_processes()
    {
        Assert.True(ReadyLine.IsIt(Ready));
        Assert.False(ReadyLine.IsIt("ready or not"));
        var line = ReadyLine.Parse(Ready);
        Assert.Equal([new ReadyWorker("w1", new Uri("http://127.0.0.1:5101"), new Uri("http://127.0.0.1:3500"), 11, 12)], line.Workers);
        Assert.Equal("127.0.0.1:6379", line.Redis);
    }

    [Theory]
    [InlineData("\"daprd\"", "\"embedded\"", "embedded")]
    [InlineData("\"log\":\"redis\"", "\"log\":\"file\"", "file")]
    [InlineData("\"pid\":11,", "", "\"pid\"")]
    [InlineData("\"workers\"", "\"others\"", "no worker")]
    public void Stand_ins_and_missing_fields_are_refused_by_name(string from, string to, string named) =>
        Assert.Contains(
            named,
            Assert.Throws<InvalidOperationException>(() => ReadyLine.Parse(Ready.Replace(from, to, StringComparison.Ordinal))).Message,
            StringComparison.Ordinal);

    [Theory]
    [InlineData("yes", "always", "always", null)]
    [InlineData("yes", "everysec", "everysec", "secret")]
    [InlineData("no", "always", "none (appendonly no)", null)]
    public async Task Redis_is_asked_for_its_process_and_durability(string appendOnly, string policy, string expected, string? password)
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var serving = ServeAsync();
        var server = await RedisProbe.AskAsync($"127.0.0.1:{((IPEndPoint)listener.LocalEndpoint).Port}", password);
        Assert.Equal((4711, "7.0.15", expected), server);
        await serving;

        async Task ServeAsync()
        {
            using var client = await listener.AcceptTcpClientAsync();
            using var reader = new StreamReader(client.GetStream());
            var known = password is null;
            while (await reader.ReadLineAsync() is { } command)
            {
                known |= command == "AUTH secret";
                var answer = command switch
                {
                    _ when !known => "-NOAUTH Authentication required.\r\n",
                    "AUTH secret" => "+OK\r\n",
                    "INFO server" => Bulk("# Server\r\nredis_version:7.0.15\r\nprocess_id:4711\r\n"),
                    "CONFIG GET appendonly" => $"*2\r\n{Bulk("appendonly")}{Bulk(appendOnly)}",
                    _ => $"*2\r\n{Bulk("appendfsync")}{Bulk(policy)}",
                };
                await client.GetStream().WriteAsync(Encoding.ASCII.GetBytes(answer));
            }
        }

        static string Bulk(string text) => $"${text.Length}\r\n{text}\r\n";
    }

    [Fact]
    public void A_variable_that_names_no_file_and_a_program_that_is_nowhere_are_named()
    {
        Assert.Contains("no-such-server-program", Missing("no-such-server-program", "SNAPPER_TEST_UNSET"), StringComparison.Ordinal);
        Environment.SetEnvironmentVariable("SNAPPER_TEST_TOOL", "/no/such/file");
        Assert.Contains("SNAPPER_TEST_TOOL names \"/no/such/file\"", Missing("sh", "SNAPPER_TEST_TOOL"), StringComparison.Ordinal);
        Environment.SetEnvironmentVariable("SNAPPER_TEST_TOOL", "/bin/sh");
        Assert.Equal("/bin/sh", ServerTools.Find("anything", "SNAPPER_TEST_TOOL"));

        static string Missing(string program, string variable) =>
            Assert.Throws<MissingToolException>(() => ServerTools.Find(program, variable)).Message;
    }

    [DaprFact]
    public async Task The_baseline_runs_behind_a_real_sidecar_and_every_process_is_measured()
    {
        var context = new BenchmarkContext(Parsed.Options(["--quick"]), null, _ => { });
        foreach (var name in new[] { "noop", "nontxn-dapr" })
        {
            var result = await BenchmarkRunner.RunAsync(BenchmarkSuite.Select([name])[0], context);
            Assert.Null(result.Missing);
            Assert.True(result.Measured > 0);
            var run = result.Sides[0].Runs[0];
            Assert.Equal(["placement", "server", "daprd", "load generator"], run.Cpu.Select(share => share.Role));
            Assert.True(run.CpuOf("daprd") > 0 && run.CpuOf("server") > 0);
        }
    }
}
