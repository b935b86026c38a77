using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using Snapper.Live.Harness;

namespace Snapper.Live.Faults;

/// <summary>
/// A replica of Redis, a sentinel that promotes it, and the way back. The product knows neither: the road of <see cref="RedisSeat"/> follows the master that the sentinel
/// announces, as a service address does. Both are started for one fault and are gone after it.
/// </summary>
internal sealed class RedisFailover : IAsyncDisposable
{
    private const string Name = "snapper";
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan PromotedWithin = TimeSpan.FromSeconds(90); // a sentinel that had to wait for the processor believes its clock for 30 s no more

    private readonly Blow _blow;
    private readonly RedisSeat _redis;
    private readonly string _password;
    private readonly string _folder;
    private readonly List<Process> _mine = [];

    private RedisFailover(Blow blow, RedisSeat redis)
    {
        _blow = blow;
        _redis = redis;
        _password = redis.Password;

        // Not in the data directory: what works there is taken for a child of up, and ends with it.
        _folder = Directory.CreateTempSubdirectory("snapper-it-replica-").FullName;
    }

    /// <summary>The master stands still; the sentinel promotes the replica; all goes on there. Then the same back, so that the next fault finds what it knows.</summary>
    /// <param name="blow">The fault.</param>
    /// <param name="redis">The victim.</param>
    /// <param name="losesTail">The replica lacks the last second or two of what was acknowledged. On the way back it never does.</param>
    /// <param name="served">Returns when the system serves again, before the way back.</param>
    public static async Task Strike(Blow blow, RedisSeat redis, bool losesTail, Func<Task> served)
    {
        await using var failover = new RedisFailover(blow, redis);
        var master = await redis.Pid();
        var replica = await failover.StartReplica();
        await failover.StartSentinel();
        if (losesTail)
        {
            await failover.LoseTail();
        }
        else
        {
            await failover.AllIsThere(redis.Port, redis.ReplicaPort);
        }

        await failover.Promote(master, redis.Port, redis.ReplicaPort);
        redis.Stand.CopiesFrom(redis.ReplicaPort, failover._password);
        ProcessTable.Signal(master, ProcessTable.Kill);
        await served();
        await failover.Copies(redis.Port, "the old master to be a replica of the new one");
        redis.Stand.CopiesFrom(null, "");
        await failover.AllIsThere(redis.ReplicaPort, redis.Port);
        await failover.Promote(replica, redis.ReplicaPort, redis.Port);
    }

    public async ValueTask DisposeAsync()
    {
        _redis.Stand.CopiesFrom(null, "");
        foreach (var process in _mine)
        {
            process.Kill();
            await process.WaitForExitAsync();
            process.Dispose();
        }

        Directory.Delete(_folder, recursive: true);
    }

    private async Task<int> StartReplica()
    {
        var port = Text(_redis.ReplicaPort);
        var started = Start(
            "--port", port, "--bind", "127.0.0.1", "--dir", _folder, "--appendonly", "yes", "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction",
            "--requirepass", _password, "--masterauth", _password, "--replicaof", "127.0.0.1", Text(_redis.Port), "--logfile", "redis.log");
        await Copies(_redis.ReplicaPort, "the replica to have copied the master");
        return started;
    }

    private async Task StartSentinel()
    {
        var configuration = Path.Combine(_folder, "sentinel.conf");
        await File.WriteAllTextAsync(configuration, $"""
            port {Text(_redis.SentinelPort)}
            bind 127.0.0.1
            dir {_folder}
            logfile sentinel.log
            sentinel monitor {Name} 127.0.0.1 {Text(_redis.Port)} 1
            sentinel auth-pass {Name} {_password}
            sentinel down-after-milliseconds {Name} 1000
            sentinel failover-timeout {Name} 5000

            """, _blow.Cancellation);
        Start(configuration, "--sentinel");
        await Eventually.Holds("the sentinel to know the replica", Patience, () => Says("it knows none", async () =>
            await RedisLine.Ask(_redis.SentinelPort, $"SENTINEL REPLICAS {Name}") is "*1"));
    }

    /// <summary>The master and the replica have lost each other, and the master goes on alone.</summary>
    private async Task LoseTail()
    {
        var alone = _blow.Between(300, 1500);
        await Ask(_redis.ReplicaPort, "CONFIG SET masterauth none");
        _blow.LosesSince = Stopwatch.GetTimestamp();
        await Ask(_redis.Port, "CLIENT KILL TYPE replica", ":1");
        await _blow.Wait(alone);
        _redis.Road.Freeze();
        var (had, has) = (await Offset(_redis.Port), await Offset(_redis.ReplicaPort));
        _blow.Detail += string.Create(CultureInfo.InvariantCulture, $"{had - has} bytes of {alone.TotalSeconds:0.0} s lost; ");
        if (had == has)
        {
            _blow.Problems.Enqueue("The replica had everything: nothing was lost.");
        }
    }

    /// <summary>No command reaches the master any more, and what it has executed is at the replica.</summary>
    private async Task AllIsThere(int master, int replica)
    {
        _redis.Road.Freeze();
        long before = -1;
        await Eventually.Holds("the replica to have everything", Patience, async () =>
        {
            var (had, has) = (await Offset(master), await Offset(replica));
            var isQuiet = had == before && had == has;
            before = had;
            return isQuiet ? null : $"it has {has} of {had}";
        });
    }

    /// <summary>The master stands still until the sentinel has put the replica in its place, and ends with the connections that it had.</summary>
    private async Task Promote(int pid, int master, int replica)
    {
        var began = Stopwatch.GetTimestamp();
        ProcessTable.Signal(pid, ProcessTable.Stop);
        _redis.Road.Cut(refuses: true);
        await Eventually.Holds($"the sentinel to promote the replica of {master}", PromotedWithin, () => Says("it has not", async () =>
        {
            _blow.Cancellation.ThrowIfCancellationRequested();
            return await RedisLine.Ask(_redis.SentinelPort, $"SENTINEL GET-MASTER-ADDR-BY-NAME {Name}", line: 5) == Text(replica)
                && await RedisLine.Section(replica, "replication", "role", _password) == "master";
        }));
        _redis.LeadTo(replica);
        _redis.Road.Heal();
        _blow.Mark();
        _blow.Detail += string.Create(CultureInfo.InvariantCulture, $"promoted after {Stopwatch.GetElapsedTime(began).TotalSeconds:0.0} s ");
    }

    private Task Copies(int port, string what) => Eventually.Holds(what, Patience, () => Says("its link is down", async () =>
        await RedisLine.Section(port, "replication", "master_link_status", _password) == "up"));

    /// <summary>How far its history goes, as master or as replica.</summary>
    private async Task<long> Offset(int port) => long.Parse(
        await RedisLine.Section(port, "replication", "slave_repl_offset", _password) ?? await RedisLine.Section(port, "replication", "master_repl_offset", _password) ?? "-2",
        CultureInfo.InvariantCulture);

    private async Task Ask(int port, string command, string expected = "+OK")
    {
        if (await RedisLine.Ask(port, command, _password) is var answer && answer != expected)
        {
            throw new InvalidOperationException($"{command} was answered by {answer}");
        }
    }

    private static async Task<string?> Says(string missing, Func<Task<bool>> holds)
    {
        try
        {
            return await holds() ? null : missing;
        }
        catch (Exception away) when (away is SocketException or IOException or TimeoutException)
        {
            return away.Message;
        }
    }

    private int Start(params string[] arguments)
    {
        var process = Process.Start(new ProcessStartInfo(ServerPrograms.PathOf("redis-server"), arguments) { WorkingDirectory = _folder })!;
        _mine.Add(process);
        return process.Id;
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
