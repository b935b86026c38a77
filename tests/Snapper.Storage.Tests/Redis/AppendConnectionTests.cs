using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Snapper.Storage.Log;
using Snapper.Storage.Redis;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Redis;

/// <summary>The append connection against a server that answers what each test wants.</summary>
public sealed class AppendConnectionTests : IAsyncLifetime
{
    private const string Ok = "$2\r\nOK\r\n";
    private readonly List<string[]> _commands = [];
    private readonly List<AppendConnection> _made = [];
    private readonly List<AppendCommand> _succeeded = [];
    private ScriptedRedis? _server;
    private ScriptedRedis.Connection? _last;
    private int _received;

    public Task InitializeAsync() => Task.CompletedTask;

    public async Task DisposeAsync()
    {
        _made.ForEach(c => c.Dispose());
        if (_server is not null)
        {
            await _server.DisposeAsync();
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(400)]
    [InlineData(64 * 1024)]
    [InlineData(3 * 1024 * 1024)]
    public async Task A_group_arrives_as_it_is(int size)
    {
        var group = new byte[size];
        new Random(size).NextBytes(group);
        var connection = Connect((c, _) => c.SendByteByByte(Ok));

        for (var i = 1; i <= 3; i++)
        {
            Assert.Equal(AppendStatus.Appended, (await Run(connection, i, group)).Status);
        }

        Assert.Equal(3, _succeeded.Count);
        for (var i = 0; i < 3; i++)
        {
            string[] expected = ["EVALSHA", RedisScripts.Append.Sha, "2", "p:{w1}:meta", "p:{w1}:log", "7", "mark", "1", $"{i + 1}", $"{i + 2}", "1", Encoding.Latin1.GetString(group), "5"];
            Assert.Equal(expected, _commands[i]);
        }

        Assert.Equal(1, _server!.Connections);
    }

    [Fact]
    public async Task A_check_of_the_epoch_carries_no_group()
    {
        var connection = Connect((c, _) => c.Send(Ok));

        var result = await connection.Run(new AppendCommand { Epoch = long.MaxValue, Mark = "m", AcknowledgedNext = 9, Changes = 12 }, default).WaitAsync(TimeSpan.FromSeconds(20));

        Assert.Equal(AppendStatus.Appended, result.Status);
        Assert.Equal(["EVALSHA", RedisScripts.CheckEpoch.Sha, "1", "p:{w1}:meta", "9223372036854775807", "m", "9", "12"], _commands[0]);
    }

    [Theory]
    [InlineData("-OOM command not allowed when used memory > 'maxmemory'.\r\n", AppendStatus.Refused)]
    [InlineData("-MISCONF Redis is configured to save RDB snapshots\r\n", AppendStatus.Refused)]
    [InlineData("-READONLY You can't write against a read only replica.\r\n", AppendStatus.Refused)]
    [InlineData("-LOADING Redis is loading the dataset in memory\r\n", AppendStatus.Refused)]
    [InlineData("-NOREPLICAS Not enough good replicas to write.\r\n", AppendStatus.Refused)]
    [InlineData("-BUSY Redis is busy running a script.\r\n", AppendStatus.Refused)]
    [InlineData("-NOAUTH Authentication required.\r\n", AppendStatus.Refused)]
    [InlineData("$23\r\nREFUSED OOM no more room\r\n", null)]
    [InlineData("$24\r\nREFUSED OOM no more room\r\n", AppendStatus.Refused)]
    [InlineData("$3\r\nDUP\r\n", AppendStatus.AlreadyThere)]
    [InlineData("$14\r\nFENCED epoch 3\r\n", AppendStatus.Fenced)]
    [InlineData("$6\r\nGAP 12\r\n", AppendStatus.Gap)]
    [InlineData("$6\r\nLOST 1\r\n", AppendStatus.Gap)]
    [InlineData("-ERR something else\r\n", null)]
    [InlineData("$3\r\nWHO\r\n", null)]
    [InlineData("$-1\r\n", null)]
    [InlineData("*0\r\n", null)]
    [InlineData("HTTP/1.1 400 Bad Request\r\n\r\n", null)]
    [InlineData(Ok + Ok, null)]
    public async Task Each_answer_means_one_thing_and_the_next_append_works(string answer, AppendStatus? status)
    {
        var connection = Connect((c, _) => c.Send(_commands.Count == 1 ? answer : Ok));

        if (status is null)
        {
            await Assert.ThrowsAnyAsync<Exception>(() => Run(connection, 1));
            Assert.Empty(_succeeded);
        }
        else
        {
            Assert.Equal(status, (await Run(connection, 1)).Status);
        }

        Assert.Equal(AppendStatus.Appended, (await Run(connection, 1)).Status);
    }

    [Fact]
    public async Task A_malformed_answer_closes_the_connection_and_says_so()
    {
        var connection = Connect((c, _) => c.Send(c.Number == 1 ? ":1\r\n" : Ok));

        var error = await Assert.ThrowsAsync<RespException>(() => Run(connection, 1));

        Assert.Contains("byte 0x3a", error.Message, StringComparison.Ordinal);
        Assert.Equal(AppendStatus.Appended, (await Run(connection, 1)).Status);
        Assert.Equal(2, _server!.Connections);
    }

    [Fact]
    public async Task A_script_that_the_server_does_not_know_goes_with_its_text()
    {
        var connection = Connect((c, parts) => c.Send(parts[0] == "EVALSHA" ? "-NOSCRIPT No matching script. Please use EVAL.\r\n" : Ok));

        Assert.Equal(AppendStatus.Appended, (await Run(connection, 1)).Status);
        Assert.Equal(AppendStatus.Appended, (await Run(connection, 2)).Status);

        Assert.Equal(["EVALSHA", "EVAL", "EVALSHA", "EVAL"], _commands.Select(c => c[0]));
        Assert.Equal(RedisScripts.Append.Text, _commands[1][1]);
        Assert.Equal(_commands[0][2..], _commands[1][2..]);
        Assert.Equal(1, _server!.Connections);
    }

    [Fact]
    public async Task A_late_answer_is_nobodys()
    {
        var late = new TaskCompletionSource();
        var connection = Connect(
            async (c, _) =>
            {
                if (c.Number == 1)
                {
                    await late.Task;
                    await c.Send("$8\r\nFENCED 1\r\n");
                }
                else
                {
                    late.TrySetResult();
                    await c.Send("$3\r\nDUP\r\n");
                }
            },
            new RedisOptions { CommandTimeout = TimeSpan.FromSeconds(1) });

        var watch = Stopwatch.StartNew();
        await Assert.ThrowsAsync<TimeoutException>(() => Run(connection, 1));
        Assert.InRange(watch.Elapsed.TotalSeconds, 0.9, 15);

        for (var i = 0; i < 3; i++)
        {
            Assert.Equal(AppendStatus.AlreadyThere, (await Run(connection, 1)).Status);
        }
    }

    [Fact]
    public async Task A_timeout_counts_from_each_command()
    {
        var connection = Connect(
            async (c, _) =>
            {
                if (_commands.Count <= 8)
                {
                    await Task.Delay(150);
                    await c.Send(Ok);
                }
            },
            new RedisOptions { CommandTimeout = TimeSpan.FromSeconds(1) });
        for (var i = 1; i <= 8; i++)
        {
            Assert.Equal(AppendStatus.Appended, (await Run(connection, i)).Status);
        }

        var watch = Stopwatch.StartNew();
        await Assert.ThrowsAsync<TimeoutException>(() => Run(connection, 9));
        Assert.InRange(watch.Elapsed.TotalSeconds, 0.9, 15);
    }

    [Fact]
    public async Task A_server_that_does_not_read_holds_up_no_caller()
    {
        using var deaf = new System.Net.Sockets.TcpListener(IPAddress.Loopback, 0);
        deaf.Start();
        var connection = Make(new RedisOptions { Port = ((IPEndPoint)deaf.LocalEndpoint).Port, CommandTimeout = TimeSpan.FromMilliseconds(300) });

        var watch = Stopwatch.StartNew();
        var run = connection.Run(Append(1, new byte[32 * 1024 * 1024]), default);
        Assert.True(watch.Elapsed < TimeSpan.FromMilliseconds(250), "the caller was held up");
        await Assert.ThrowsAsync<TimeoutException>(() => run.WaitAsync(TimeSpan.FromSeconds(20)));
    }

    [Fact]
    public async Task Cancelling_ends_the_wait_and_the_next_append_works()
    {
        var connection = Connect((c, _) => c.Number == 1 ? Task.CompletedTask : c.Send(Ok));
        using var cancellation = new CancellationTokenSource();
        var run = connection.Run(Append(1, new byte[10]), cancellation.Token);
        await Some.Until(() => Volatile.Read(ref _received) == 1, "the command to arrive");

        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => run.WaitAsync(TimeSpan.FromSeconds(20)));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connection.Run(Append(1, new byte[10]), cancellation.Token));

        Assert.Equal(AppendStatus.Appended, (await Run(connection, 1)).Status);
    }

    [Fact]
    public async Task Disposing_ends_the_wait_and_refuses_what_follows()
    {
        var connection = Connect((_, _) => Task.CompletedTask);
        var run = Run(connection, 1);
        await Some.Until(() => Volatile.Read(ref _received) == 1, "the command to arrive");

        connection.Dispose();
        connection.Dispose();

        await Assert.ThrowsAsync<ObjectDisposedException>(() => run);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => Run(connection, 1));
    }

    [Fact]
    public async Task A_connection_that_ended_while_idle_is_no_failure_of_the_next_append()
    {
        var connection = Connect((c, _) => c.Send(Ok));
        for (var i = 1; i <= 5; i++)
        {
            Assert.Equal(AppendStatus.Appended, (await Run(connection, i)).Status);
            _last!.Client.Dispose();
            await Some.Until(() => !connection.IsConnected, "the end of the connection to be heard");
        }

        Assert.Equal(5, _server!.Connections);
    }

    [Fact]
    public async Task A_command_that_begins_and_is_cancelled_while_the_answer_before_is_told_ends()
    {
        var connection = Connect((c, _) => c.Send(Ok));
        using var cancellation = new CancellationTokenSource();

        var second = RunWhenToldOf(connection, 1, () =>
        {
            var run = connection.Run(Append(2, new byte[10]), cancellation.Token);
            cancellation.Cancel();
            return run;
        });

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => second.WaitAsync(TimeSpan.FromSeconds(20)));
        Assert.Equal(AppendStatus.Appended, (await Run(connection, 2)).Status);
    }

    [Fact]
    public async Task A_command_that_begins_on_a_connection_which_the_server_has_just_reset_ends()
    {
        var connection = Connect(async (c, _) =>
        {
            await c.Send(Ok);
            if (c.Number == 1)
            {
                c.Client.Client.Close(0); // a reset
            }
        });

        var second = RunWhenToldOf(connection, 1, () =>
        {
            SpinWait.SpinUntil(() => !Some.HasConnectionTo(_server!.Port), TimeSpan.FromSeconds(20));
            return connection.Run(Append(2, new byte[10]), default);
        });

        await Assert.ThrowsAnyAsync<SocketException>(() => second.WaitAsync(TimeSpan.FromSeconds(20)));
        Assert.Equal(AppendStatus.Appended, (await Run(connection, 2)).Status);
    }

    [Fact]
    public async Task Callers_at_the_same_time_take_turns()
    {
        var connection = Connect((c, parts) => c.Send(int.Parse(parts[8], System.Globalization.CultureInfo.InvariantCulture) % 2 == 0 ? Ok : "$3\r\nDUP\r\n"));

        var results = await Task.WhenAll(Enumerable.Range(1, 200).Select(i => Task.Run(() => Run(connection, i))));

        Assert.Equal(Enumerable.Range(1, 200).Select(i => i % 2 == 0 ? AppendStatus.Appended : AppendStatus.AlreadyThere), results.Select(r => r.Status));
        Assert.Equal(1, _server!.Connections);
    }

    [Theory]
    [InlineData("-WRONGPASS invalid username-password pair or user is disabled.\r\n", AppendStatus.Refused)]
    [InlineData("-ERR AUTH <password> called without any password configured for the default user.\r\n", AppendStatus.Appended)]
    [InlineData("+OK\r\n", AppendStatus.Appended)]
    public async Task The_password_goes_first(string answer, AppendStatus status)
    {
        var connection = Connect((c, parts) => c.Send(parts[0] == "AUTH" ? answer : Ok), new RedisOptions { User = "u", Password = "pässword" });

        Assert.Equal(status, (await Run(connection, 1)).Status);

        Assert.Equal(["AUTH", "u", Encoding.Latin1.GetString(Encoding.UTF8.GetBytes("pässword"))], _commands[0]);
    }

    [Fact]
    public async Task Tls_carries_groups_and_a_certificate_that_nobody_trusts_is_refused()
    {
        using var key = RSA.Create(2048);
        using var certificate = new CertificateRequest("CN=localhost", key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1)
            .CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(1));
        _server = new ScriptedRedis(Answer((c, _) => c.Send(Ok)), certificate);
        var options = new RedisOptions { Port = _server.Port, Tls = true };
        var trusting = new AppendConnection(options, new RedisKeys("p:", "w1"), _succeeded.Add, (_, given, _, _) => given?.GetCertHashString() == certificate.GetCertHashString());
        _made.Add(trusting);

        foreach (var size in new[] { 10, 300_000, 10 })
        {
            Assert.Equal(AppendStatus.Appended, (await Run(trusting, 1, new byte[size])).Status);
            Assert.Equal(size, _commands[^1][^2].Length);
        }

        await Assert.ThrowsAsync<AuthenticationException>(() => Run(Make(options), 1));
    }

    private static AppendCommand Append(long first, byte[] group) =>
        new() { Epoch = 7, Mark = "mark", AcknowledgedNext = 1, Changes = 5, FirstSequence = first, Count = 1, Group = group };

    /// <summary>Runs a command; when it is told to have succeeded, on the thread that tells, begins another.</summary>
    private static async Task<AppendResult> RunWhenToldOf(
        AppendConnection connection, long first, Func<Task<AppendResult>> begin)
    {
        var command = Append(first, new byte[10]);
        var next = command.Task.ContinueWith(
            _ => begin(), default, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        await connection.Run(command, default).WaitAsync(TimeSpan.FromSeconds(20));
        return await await next;
    }

    private static Task<AppendResult> Run(AppendConnection connection, long first, byte[]? group = null) =>
        connection.Run(Append(first, group ?? new byte[10]), default).WaitAsync(TimeSpan.FromSeconds(20));

    private AppendConnection Connect(Func<ScriptedRedis.Connection, string[], Task> answer, RedisOptions? options = null)
    {
        _server = new ScriptedRedis(Answer(answer));
        return Make((options ?? new RedisOptions()) with { Port = _server.Port });
    }

    private AppendConnection Make(RedisOptions options)
    {
        var connection = new AppendConnection(options, new RedisKeys("p:", "w1"), _succeeded.Add);
        _made.Add(connection);
        return connection;
    }

    private Func<ScriptedRedis.Connection, string[], Task> Answer(Func<ScriptedRedis.Connection, string[], Task> answer) => (connection, parts) =>
    {
        _commands.Add(parts);
        _last = connection;
        Interlocked.Increment(ref _received);
        return answer(connection, parts);
    };
}
