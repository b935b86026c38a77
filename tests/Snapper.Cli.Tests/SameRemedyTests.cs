using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Commands;
using Snapper.Cli.Doctor;
using Snapper.Cli.Supervision;
using Snapper.Storage.Remembering;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>What keeps <c>up</c> from starting, <c>doctor</c> finds before, and both name the same way out.</summary>
[Collection(nameof(EnvironmentOfTheProcess))]
public sealed class SameRemedyTests : IDisposable
{
    private readonly TempFolder _temp = new();
    private readonly int[] _ports = Ports.Free(2);

    public void Dispose() => _temp.Dispose();

    private string Data => _temp.File("data");

    private async Task<(int Exit, string Said)> Run(string command, params string[] options)
    {
        var said = new StringWriter();
        string[] line = [command, "--data", Data, "--base-port", $"{_ports[0] - 1}", "--sidecar-port", $"{_ports[1]}", .. options];
        var exit = await CommandLine.Run(line, said, said);
        return (exit, said.ToString());
    }

    /// <summary>Both fail, and both say it.</summary>
    private async Task BothSay(string remedy, params string[] options)
    {
        var up = await Run("up", options);
        Assert.True(up.Exit == ExitCode.Failure && up.Said.Contains(remedy, StringComparison.Ordinal), $"up: {up.Said}");
        var doctor = await Run("doctor", options);
        Assert.True(doctor.Exit == ExitCode.Failure && doctor.Said.Contains(remedy, StringComparison.Ordinal), $"doctor: {doctor.Said}");
        Assert.Contains("'./snapper up' would not start", doctor.Said);
    }

    [Fact]
    public async Task A_taken_port_of_a_worker_and_of_a_sidecar()
    {
        using (var worker = Take(_ports[0])) await BothSay(FixHints.Port("--base-port"), "--embedded");
        using (var sidecar = Take(_ports[1])) await BothSay(FixHints.Port("--sidecar-port"), "--embedded");
    }

    [Fact]
    public async Task Ports_of_further_workers_are_looked_at_too()
    {
        using var second = Take(_ports[1] + 1);
        var doctor = await Run("doctor", "--workers", "2", "--redis", $"127.0.0.1:{_ports[0]}");
        Assert.Matches($@"FAIL +port {_ports[1] + 1} \(sidecar of w2\)", doctor.Said);
    }

    [Fact]
    public async Task A_data_directory_that_is_none()
    {
        File.WriteAllText(Data, "a file");
        await BothSay(FixHints.Data, "--embedded");
    }

    [Fact]
    public async Task A_data_directory_in_which_another_up_works()
    {
        using var other = DataDirectory.Open(Data);
        await BothSay(FixHints.OtherUp, "--embedded");
    }

    [Fact]
    public async Task A_named_Redis_that_is_not_there() => await BothSay(FixHints.NamedRedis, "--redis", $"127.0.0.1:{Ports.Free(1)[0]}");

    [Theory]
    [InlineData("role", "slave", "it is a replica, which takes no writes; " + FixHints.Primary)]
    [InlineData("redis_version", "6.0.16", "it is Redis 6.0.16; " + FixHints.NewerRedis)]
    [InlineData("maxmemory_policy", "allkeys-lru", "set 'maxmemory-policy noeviction' there")]
    public async Task A_named_Redis_that_must_not_be_used(string fact, string value, string remedy)
    {
        await using var redis = new TalkingRedis { [fact] = value };
        await BothSay(remedy, "--redis", redis.Address);
    }

    [Theory]
    [InlineData("appendonly", "no", "set 'appendonly yes'")]
    [InlineData("appendfsync", "everysec", "'appendfsync always' keeps them")]
    [InlineData("no-appendfsync-on-rewrite", "yes", "set 'no-appendfsync-on-rewrite no'")]
    [InlineData("aof_last_write_status", "err", "give its disk room")]
    [InlineData("used_memory", "95", "its memory is nearly full (95 % of maxmemory)")]
    [InlineData("server_time_usec", "1000000000000000", "let the machine keep its time by NTP")]
    public async Task A_named_Redis_that_is_weaker_than_it_should_be_is_a_note(string fact, string value, string remedy)
    {
        await using var redis = new TalkingRedis { [fact] = value };
        var doctor = await Run("doctor", "--redis", redis.Address);
        Assert.Matches("note +configured Redis", doctor.Said);
        Assert.Contains(remedy, doctor.Said);
    }

    [Fact]
    public async Task A_Redis_with_fewer_replicas_than_must_have_what_is_acknowledged()
    {
        using var set = new Variable("Snapper__Log__Replicas", "2");
        await using var redis = new TalkingRedis { ["connected_slaves"] = "1" };
        var doctor = await Run("doctor", "--redis", redis.Address);
        Assert.Matches("note +configured Redis", doctor.Said);
        Assert.Contains("Snapper:Log:Replicas is 2, and it has 1 connected", doctor.Said);

        redis["connected_slaves"] = "2";
        Assert.DoesNotContain("Snapper:Log:Replicas", (await Run("doctor", "--redis", redis.Address)).Said);

        // What has none by its nature is refused before anything starts.
        foreach (var none in (string[])["--no-dashboard", "--embedded"])
        {
            await using var up = UpProcess.Start("up", Data, _ports[0] - 1, _ports[1], [none]);
            Assert.Equal(ExitCode.Usage, await up.Exit());
            Assert.Contains("Snapper__Log__Replicas is set, and neither the Redis", up.ErrorText);
        }
    }

    [Theory]
    [InlineData("SNAPPER_REDIS_SERVER")]
    [InlineData("SNAPPER_DAPRD")]
    [InlineData("SNAPPER_PLACEMENT")]
    public async Task A_variable_that_names_what_is_not_there(string variable)
    {
        using var set = new Variable(variable, _temp.File("absent"));
        await BothSay(FixHints.Variable);
    }

    [Theory]
    [InlineData("Snapper__Worker__Executors", "65", "Executors")]
    [InlineData("Snapper__Log__Replicas", "-1", "Snapper:Log:Replicas must be 0 to 16, not -1")]
    [InlineData("OTEL_EXPORTER_OTLP_ENDPOINT", "collector", "OTEL_EXPORTER_OTLP_ENDPOINT")]
    [InlineData("Snapper__Cluster__Links", "foo", "Snapper:Cluster:Links is 'foo': 'direct' or 'sidecar' is meant.")]
    [InlineData("Snapper__Cluster__LinkAddress", "0.0.0.0", "no address for others: set Snapper:Cluster:LinkHost.")]
    [InlineData("Snapper__Cluster__LinkAuthority", "ca.crt", "LinkAuthority, 'ca.crt', cannot be read: ")]
    public async Task A_setting_that_is_out_of_range_is_found_before_a_worker_dies_of_it(string variable, string value, string named)
    {
        using var set = new Variable(variable, value);
        var doctor = await Run("doctor", "--embedded");
        Assert.Equal(ExitCode.Failure, doctor.Exit);
        Assert.Contains(named, doctor.Said);
        Assert.Contains(FixHints.Setting, doctor.Said);
        await using var up = UpProcess.Start("up", Data, _ports[0] - 1, _ports[1], ["--embedded"]);
        Assert.Equal(ExitCode.Failure, await up.Exit());
        Assert.Contains(named, up.ErrorText);
        Assert.Contains(FixHints.Setting, up.ErrorText);
    }

    [Fact]
    public async Task A_name_that_no_setting_has()
    {
        using var set = new Variable("Snapper__Cluster__LinkPorts", "5104");
        const string line =
            "The configuration has the key Snapper:Cluster:LinkPorts, which is not known. Known there: ";
        Assert.Contains(line, (await Run("doctor", "--embedded")).Said);
        await using var up = UpProcess.Start("up", Data, _ports[0] - 1, _ports[1], ["--embedded"]);
        Assert.Equal(ExitCode.Failure, await up.Exit());
        Assert.Contains(line, up.ErrorText);
    }

    [Fact]
    public async Task Several_workers_without_Redis_or_without_Dapr()
    {
        var bare = new ExecutableFinder(_ => null, _temp.Path);
        Assert.Contains(FixHints.Redis, Assert.Throws<StartupException>(() => Plan.Make(Options("--workers", "2"), bare)).Message);
        Assert.Contains(FixHints.Dapr, Assert.Throws<StartupException>(() => Plan.Make(Options("--workers", "2", "--redis", "localhost:1"), bare)).Message);
        var rows = await ServerChecks.All(Options("--workers", "2"), bare);
        Assert.Contains(rows, r => (r.Health, r.Check, r.Fix) == (Health.Broken, "redis-server", FixHints.Redis));
        Assert.Contains(rows, r => (r.Health, r.Check, r.Fix) == (Health.Broken, "daprd", FixHints.Dapr));
    }

    [Fact]
    public async Task A_log_that_is_not_the_one_that_is_remembered()
    {
        Directory.CreateDirectory(Data);
        new LogIdentityFile(Path.Combine(Data, "remembered", "w1.json"), "file").Write(new LogIdentity("0123456789abcdef", 3, 1000));
        var doctor = await Run("doctor", "--embedded");
        Assert.Equal(ExitCode.Failure, doctor.Exit);
        Assert.Contains("Found: there is no log. Remembered in", doctor.Said);
        Assert.Contains(FixHints.LostLog, doctor.Said);
        Assert.Equal(ExitCode.Success, (await Run("doctor", "--embedded", "--accept-lost-log")).Exit);
        File.WriteAllText(Path.Combine(Data, "remembered", "w1.json"), "{");
        Assert.Matches("FAIL +log of w1", (await Run("doctor", "--embedded")).Said);
    }

    [Fact]
    public async Task A_private_Redis_whose_file_is_gone()
    {
        Directory.CreateDirectory(Data);
        new LogIdentityFile(Path.Combine(Data, "remembered", "w1.json"), "redis, private snapper:").Write(new LogIdentity("0123456789abcdef", 3, 1000));
        _temp.Script("redis-server", "echo v=7.0.15");
        using var set = new Variable("SNAPPER_REDIS_SERVER", _temp.File("redis-server"));
        Assert.Matches("FAIL +log of w1", (await Run("doctor")).Said);
        Directory.CreateDirectory(Path.Combine(Data, "redis", "appendonlydir"));
        File.WriteAllText(Path.Combine(Data, "redis", "appendonlydir", "appendonly.aof.1.incr.aof"), "");
        Assert.DoesNotMatch("FAIL +log of w1", (await Run("doctor")).Said);
    }

    [Theory]
    [InlineData("LOST LOG. The log is gone.", FixHints.LostLog)]
    [InlineData("DAMAGED log in folder x: bad record", FixHints.DamagedLog)]
    [InlineData("OTHER PLACEMENT. Account is placed by another key.", FixHints.OtherPlacement)]
    public async Task A_worker_that_ended_for_good_is_told_with_its_reason(string line, string remedy)
    {
        Directory.CreateDirectory(Path.Combine(Data, "logs"));
        File.WriteAllText(Path.Combine(Data, "logs", "worker-w1.log"), $"2026-11-01T00:00:00.000Z crit: Snapper.Worker[2002] {line}\n");
        var doctor = await Run("doctor", "--embedded");
        Assert.Matches("note +last end of w1", doctor.Said);
        Assert.Contains(line, doctor.Said);
        Assert.Contains(remedy, doctor.Said);
        File.AppendAllText(Path.Combine(Data, "logs", "worker-w1.log"), "2026-11-01T00:00:01.000Z info: Snapper.Worker[2] serves again\n");
        Assert.DoesNotContain("last end of w1", (await Run("doctor", "--embedded")).Said);
    }

    [Fact]
    public async Task What_a_killed_run_left_is_named_and_a_stale_file_is_no_process()
    {
        Directory.CreateDirectory(Path.Combine(Data, "run"));
        using var left = Process.Start(new ProcessStartInfo("sleep", "60"))!;
        try
        {
            var gone = new ProcessIdentity(left.Id, 1);
            new RunStateFile(DataDirectory.RunStateIn(Data)).Write(new RunState(gone, [new("w1", gone, gone)], ProcessIdentity.Of(left.Id), null));
            Assert.Contains($"was killed, and left placement (pid {left.Id})", (await Run("doctor", "--embedded")).Said);
            new RunStateFile(DataDirectory.RunStateIn(Data)).Write(new RunState(gone, [new("w1", gone, gone)], gone, null));
            Assert.Contains("was killed; nothing of it runs", (await Run("doctor", "--embedded")).Said);
        }
        finally
        {
            left.Kill();
        }
    }

    private static UpOptions Options(params string[] arguments) => UpCommand.Parse(arguments);

    private static TcpListener Take(int port)
    {
        var listener = new TcpListener(IPAddress.Loopback, port);
        listener.Start();
        return listener;
    }

    /// <summary>An environment variable for the length of a test.</summary>
    private sealed class Variable : IDisposable
    {
        private readonly string _name;
        private readonly string? _before;

        public Variable(string name, string value)
        {
            (_name, _before) = (name, Environment.GetEnvironmentVariable(name));
            Environment.SetEnvironmentVariable(name, value);
        }

        public void Dispose() => Environment.SetEnvironmentVariable(_name, _before);
    }

    /// <summary>Speaks enough of Redis' protocol to be looked at; facts as the test says.</summary>
    private sealed class TalkingRedis : IAsyncDisposable
    {
        private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
        private readonly CancellationTokenSource _stop = new();
        private readonly Task _serving;
        private readonly Dictionary<string, string> _facts = new(StringComparer.Ordinal)
        {
            ["redis_version"] = "7.0.15", ["role"] = "master", ["aof_last_write_status"] = "ok", ["used_memory"] = "10", ["maxmemory"] = "100",
            ["appendonly"] = "yes", ["appendfsync"] = "always", ["no-appendfsync-on-rewrite"] = "no", ["server_time_usec"] = $"{DateTimeOffset.UtcNow.ToUnixTimeMilliseconds()}000",
            ["maxmemory_policy"] = "noeviction",
        };

        public TalkingRedis()
        {
            _listener.Start();
            _serving = Serve();
        }

        public string Address => $"127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}";

        public string this[string fact]
        {
            set => _facts[fact] = value;
        }

        public async ValueTask DisposeAsync()
        {
            await _stop.CancelAsync();
            _listener.Stop();
            await _serving;
            _stop.Dispose();
        }

        private async Task Serve()
        {
            try
            {
                while (!_stop.IsCancellationRequested)
                {
                    _ = Serve(await _listener.AcceptTcpClientAsync(_stop.Token));
                }
            }
            catch (Exception ended) when (ended is OperationCanceledException or SocketException or ObjectDisposedException)
            {
                // The test is over.
            }
        }

        private async Task Serve(TcpClient client)
        {
            using (client)
            using (var reader = new StreamReader(client.GetStream(), Encoding.Latin1)) // a client may send any bytes
            {
                try
                {
                    while (await reader.ReadLineAsync(_stop.Token) is { Length: > 1 } head)
                    {
                        var words = new List<string>();
                        for (var i = int.Parse(head.AsSpan(1), CultureInfo.InvariantCulture); i > 0; i--)
                        {
                            var length = int.Parse((await reader.ReadLineAsync(_stop.Token)).AsSpan(1), CultureInfo.InvariantCulture);
                            var word = new char[length + 2];
                            await reader.ReadBlockAsync(word, _stop.Token);
                            words.Add(new string(word, 0, length));
                        }

                        await client.GetStream().WriteAsync(Encoding.Latin1.GetBytes(Answer(words)), _stop.Token);
                    }
                }
                catch (Exception ended) when (ended is OperationCanceledException or IOException or ObjectDisposedException)
                {
                    // The test is over, or the caller has what it wanted.
                }
            }
        }

        private string Answer(List<string> words)
        {
            static string Bulk(string text) => $"${text.Length}\r\n{text}\r\n";
            return words[0] switch
            {
                "PING" => "+PONG\r\n",
                "INFO" => Bulk(string.Join("\r\n", _facts.Select(f => $"{f.Key}:{f.Value}"))),
                "ECHO" => Bulk(words[1]),
                "CONFIG" => _facts.TryGetValue(words[2], out var fact) ? $"*2\r\n{Bulk(words[2])}{Bulk(fact)}" : "*0\r\n",
                _ => "-ERR unknown command\r\n",
            };
        }
    }
}

/// <summary>Tests that change the environment of this process run alone.</summary>
[CollectionDefinition(nameof(EnvironmentOfTheProcess), DisableParallelization = true)]
public sealed class EnvironmentOfTheProcess;
