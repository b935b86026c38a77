using System.Text;
using Snapper.Storage.Log;
using Snapper.Storage.Redis;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Redis;

/// <summary>Appends that wait for replicas, against a server that answers what each test wants.</summary>
public sealed class ReplicaWaitTests : IAsyncLifetime
{
    private const string Ok = "$2\r\nOK\r\n";
    private const string Enough = ":2\r\n";
    private const string EnoughOnDisk = "*2\r\n:1\r\n:2\r\n";
    private const string NoRight = "-NOPERM this user has no permissions to run the 'wait' command\r\n";
    private const string ReadOnly = "-READONLY You can't write against a read only replica.\r\n";
    private const string NotOfReplicas = "-ERR WAIT cannot be used with replica instances.\r\n";
    private static readonly RedisOptions s_options = new()
    {
        Replicas = 2,
        ReplicaTimeout = TimeSpan.FromMilliseconds(300),
    };

    private readonly List<string[]> _commands = [];
    private readonly List<AppendConnection> _made = [];
    private readonly List<AppendCommand> _succeeded = [];
    private ScriptedRedis? _server;
    private int _doubted;

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
    [InlineData(false)]
    [InlineData(true)]
    public async Task One_wait_goes_behind_each_command_on_its_connection(bool isForDisk)
    {
        var connection = Connect(async (c, parts) =>
        {
            await c.SendByteByByte(parts[0] switch { "WAIT" => ":2\r\n", "WAITAOF" => "*2\r\n:1\r\n:3\r\n", _ => Ok });
        }, isForDisk);

        Assert.Equal(AppendStatus.Appended, (await Run(connection, 1, new byte[300_000])).Status);
        Assert.Equal(AppendStatus.Appended, (await Run(connection, 0)).Status);
        Assert.Equal(AppendStatus.Appended, (await Run(connection, 2)).Status);

        string[] wait = isForDisk ? ["WAITAOF", "1", "2", "300"] : ["WAIT", "2", "300"];
        string[] scripts = [RedisScripts.Append.Sha, RedisScripts.CheckEpochTold.Sha, RedisScripts.Append.Sha];
        Assert.Equal(6, _commands.Count);
        Assert.Equal(scripts, _commands.Where((_, i) => i % 2 == 0).Select(static c => c[1]));
        Assert.All(_commands.Where((_, i) => i % 2 == 1), command => Assert.Equal(wait, command));
        Assert.Equal((1, 3, 0), (_server!.Connections, _succeeded.Count, _doubted));
    }

    [Fact]
    public async Task Without_replicas_nothing_waits_although_the_server_could()
    {
        var connection = Connect((c, _) => c.Send(Ok), isForDisk: true, new RedisOptions());

        Assert.Equal(AppendStatus.Appended, (await Run(connection, 1)).Status);
        Assert.Equal(AppendStatus.Appended, (await Run(connection, 0)).Status);

        Assert.Equal([RedisScripts.Append.Sha, RedisScripts.CheckEpoch.Sha], _commands.Select(static c => c[1]));
    }

    /// <summary>Done on the primary all the same: it counts as unknown, never as done or refused.</summary>
    [Theory]
    [InlineData(Ok, ":1\r\n", false, "Snapper:Log:Replicas is 2, and 1 replica had the write within 300 ms")]
    [InlineData("$3\r\nDUP\r\n", ":0\r\n", false, "is 2, and 0 replicas had the write within 300 ms")]
    [InlineData(Ok, "*2\r\n:1\r\n:1\r\n", true, "1 replica had the write on disk (WAITAOF: each needs appendonly yes)")]
    [InlineData(Ok, "*2\r\n:0\r\n:2\r\n", true, "the primary had not flushed the write itself")]
    [InlineData(Ok, NoRight, false, "WAIT was answered by 'NOPERM")]
    [InlineData(Ok, "-UNBLOCKED force unblock from blocking operation\r\n", false, "WAIT was answered by 'UNBLOCKED")]
    public async Task What_too_few_have_is_not_acknowledged_and_says_so(
        string script, string answer, bool isForDisk, string says)
    {
        var connection = Connect((c, parts) => c.Send(
            !IsWait(parts) ? script : _commands.Count == 2 ? answer : isForDisk ? EnoughOnDisk : Enough), isForDisk);

        var tooFew = await Assert.ThrowsAsync<TooFewReplicasException>(() => Run(connection, 1));
        Assert.Contains(says, tooFew.Message, StringComparison.Ordinal);
        Assert.Equal((0, 1), (_succeeded.Count, _doubted));
        Assert.True(StorageFaults.IsPassing(tooFew));

        // The same again, over a connection that may lead elsewhere by now.
        var again = await Run(connection, 1);
        Assert.Equal(script == Ok ? AppendStatus.Appended : AppendStatus.AlreadyThere, again.Status);
        Assert.Equal(2, _server!.Connections);
    }

    [Theory]
    [InlineData("-ERR unknown command 'WAITAOF', with args beginning with: '1' '2' '300' \r\n")]
    [InlineData("-NOPERM this user has no permissions to run the 'waitaof' command\r\n")]
    public async Task A_server_that_does_not_know_or_allow_waitaof_is_asked_by_wait(string refusal)
    {
        var connection = Connect(
            (c, parts) => c.Send(parts[0] switch { "WAIT" => Enough, "WAITAOF" => refusal, _ => Ok }),
            isForDisk: true);

        await Assert.ThrowsAsync<TooFewReplicasException>(() => Run(connection, 1));
        Assert.Equal(AppendStatus.Appended, (await Run(connection, 1)).Status);
        Assert.Equal(AppendStatus.Appended, (await Run(connection, 2)).Status);

        Assert.Equal(["WAITAOF", "WAIT", "WAIT"], _commands.Where((_, i) => i % 2 == 1).Select(static c => c[0]));
    }

    [Theory]
    [InlineData(ReadOnly, NotOfReplicas, AppendStatus.Refused)]
    [InlineData("$14\r\nFENCED epoch 3\r\n", ":2\r\n", AppendStatus.Fenced)]
    [InlineData("$6\r\nLOST 1\r\n", ":0\r\n", AppendStatus.Gap)]
    public async Task What_was_not_done_waits_for_nobody_and_its_answer_is_not_the_next_ones(
        string script, string wait, AppendStatus status)
    {
        var connection = Connect((c, parts) => c.Send(
            _commands.Count <= 2 ? IsWait(parts) ? wait : script : IsWait(parts) ? Enough : Ok));

        Assert.Equal(status, (await Run(connection, 1)).Status);
        Assert.Equal(AppendStatus.Appended, (await Run(connection, 1)).Status);
    }

    [Fact]
    public async Task A_script_that_the_server_does_not_know_goes_with_its_text_and_its_wait()
    {
        var connection = Connect((c, parts) => c.Send(parts[0] switch
        {
            "EVALSHA" => "-NOSCRIPT No matching script. Please use EVAL.\r\n",
            "WAIT" => _commands.Count == 2 ? ":0\r\n" : ":2\r\n",
            _ => Ok,
        }));

        Assert.Equal(AppendStatus.Appended, (await Run(connection, 1)).Status);

        Assert.Equal(["EVALSHA", "WAIT", "EVAL", "WAIT"], _commands.Select(static c => c[0]));
        Assert.Equal(1, _server!.Connections);
    }

    [Theory]
    [InlineData("$1\r\n2\r\n", false)]
    [InlineData(":2\r\n:2\r\n", false)]
    [InlineData(":-1\r\n", false)]
    [InlineData(":\r\n", false)]
    [InlineData("*2\r\n:1\r\n:2\r\n", false)]
    [InlineData(":2\r\n", true)]
    [InlineData("*1\r\n:2\r\n", true)]
    [InlineData("*2\r\n:1\r\n$1\r\n2\r\n", true)]
    public async Task What_is_no_answer_of_a_wait_closes_the_connection(string answer, bool isForDisk)
    {
        var connection = Connect((c, parts) => c.Send(
            !IsWait(parts) ? Ok : c.Number == 1 ? answer : isForDisk ? EnoughOnDisk : Enough), isForDisk);

        await Assert.ThrowsAsync<RespException>(() => Run(connection, 1));
        Assert.Empty(_succeeded);
        Assert.Equal(AppendStatus.Appended, (await Run(connection, 1)).Status);
        Assert.Equal(2, _server!.Connections);
    }

    [Theory]
    [InlineData(":12\r\n", false, 0, 12)]
    [InlineData("*2\r\n:1\r\n:0\r\n", true, 1, 0)]
    public void An_answer_of_a_wait_cut_at_any_point_waits_for_the_rest(
        string answer, bool isForDisk, int own, int replicas)
    {
        var bytes = Encoding.ASCII.GetBytes(answer);
        for (var cut = 0; cut < bytes.Length; cut++)
        {
            Assert.False(
                ReplicaCount.TryRead(bytes.AsSpan(0, cut), isForDisk, out _, out _), $"complete after {cut} bytes");
        }

        Assert.True(ReplicaCount.TryRead([.. bytes, (byte)'$'], isForDisk, out var count, out var length));
        Assert.Equal((new ReplicaCount(own, replicas), bytes.Length), (count, length));
    }

    [Theory]
    [InlineData("7.0.15", RedisFlushPolicy.Always, false)]
    [InlineData("7.2.0", RedisFlushPolicy.Always, true)]
    [InlineData("8.0.1", RedisFlushPolicy.Always, true)]
    [InlineData("8.0.1", RedisFlushPolicy.EverySecond, false)]
    [InlineData("unknown", RedisFlushPolicy.Always, false)]
    public void Disks_are_asked_for_where_the_server_flushes_before_it_answers(
        string version, RedisFlushPolicy policy, bool isForDisk)
    {
        var wait = new ReplicaWait(s_options);
        wait.Note(Facts(version, policy));
        Assert.Equal(isForDisk, wait.IsForDisk);
    }

    private static RedisDurability Facts(string version, RedisFlushPolicy policy) => new()
    {
        Policy = policy,
        IsPolicyCertain = true,
        MaxMemoryBytes = 0,
        MaxMemoryPolicy = "noeviction",
        UsedMemoryBytes = 0,
        SystemMemoryBytes = 0,
        RunId = "",
        ProcessId = 1,
        ServerVersion = version,
    };

    private static bool IsWait(string[] parts) => parts[0] is "WAIT" or "WAITAOF";

    private static Task<AppendResult> Run(AppendConnection connection, long first, byte[]? group = null)
    {
        var command = new AppendCommand
        {
            Epoch = 7,
            Mark = "mark",
            AcknowledgedNext = 1,
            FirstSequence = first,
            Count = first == 0 ? 0 : 1,
            Group = first == 0 ? default : group ?? new byte[10],
        };
        return connection.Run(command, default).WaitAsync(TimeSpan.FromSeconds(20));
    }

    private AppendConnection Connect(
        Func<ScriptedRedis.Connection, string[], Task> answer, bool isForDisk = false, RedisOptions? options = null)
    {
        _server = new ScriptedRedis((connection, parts) =>
        {
            _commands.Add(parts);
            return answer(connection, parts);
        });
        options = (options ?? s_options) with { Port = _server.Port };
        var wait = new ReplicaWait(options);
        wait.Note(Facts(isForDisk ? "7.2.4" : "7.0.15", RedisFlushPolicy.Always));
        var made = new AppendConnection(options, new RedisKeys("p:", "w1"), _succeeded.Add, replicas: wait)
        {
            Doubted = () => _doubted++,
        };
        _made.Add(made);
        return made;
    }
}
