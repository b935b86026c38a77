using System.Collections.Concurrent;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Crash;

/// <summary>
/// The backups of docs/operating.md, restored into a fresh place: every commit that was acknowledged before the backup was begun
/// is there. The log is in files.
/// </summary>
public sealed class EmbeddedBackupTests
{
    [SystemFact]
    public async Task A_copy_of_the_stopped_data_directory_has_everything()
    {
        var options = UpOptions.Random(embedded: true);
        var acknowledged = new ConcurrentQueue<string>();
        await using (var snapper = await SnapperProcess.Start(options))
        {
            using var client = BackupCheck.Client(snapper);
            await BackupCheck.Commit(client, acknowledged, 200);
            await snapper.Stop();
        }

        await BackupCheck.CopyHasAll(options, acknowledged);
    }
}

/// <summary>On Redis, also while it runs.</summary>
[RequiresServers]
public sealed class DaprBackupTests
{
    [SystemFact]
    public async Task A_copy_under_load_has_what_was_acknowledged_before_and_one_of_the_stopped_data_directory_has_everything()
    {
        var options = UpOptions.Random(embedded: false);
        var fresh = UpOptions.Random(embedded: false);
        var acknowledged = new ConcurrentQueue<string>();
        string[] before;
        await using (var snapper = await SnapperProcess.Start(options))
        {
            using var client = BackupCheck.Client(snapper);
            using var stop = new CancellationTokenSource();
            var load = BackupCheck.Commit(client, acknowledged, int.MaxValue, stop.Token);
            await Committed(300);
            before = [.. acknowledged];
            await BackupCheck.CopyAppendOnlyFile(snapper.Ready.Redis!, options.Data, fresh.Data);
            await Committed(acknowledged.Count + 50);
            await stop.CancelAsync();
            await load;
            await snapper.Stop();
        }

        await BackupCheck.HasAll(fresh, before);
        await BackupCheck.CopyHasAll(options, acknowledged);

        Task Committed(int count) => Eventually.Holds($"{count} commits", TimeSpan.FromSeconds(60), () =>
            Task.FromResult(acknowledged.Count >= count ? null : $"{acknowledged.Count} commits"));
    }

    [SystemFact]
    public async Task A_snapshot_of_a_named_Redis_has_what_was_acknowledged_before()
    {
        var acknowledged = new ConcurrentQueue<string>();
        using var restored = new PrivateRedis();
        using (var redis = new PrivateRedis())
        {
            await redis.Start();
            var options = UpOptions.Random(embedded: false) with { Redis = redis.Address };
            await using var snapper = await SnapperProcess.Start(options);
            using var client = BackupCheck.Client(snapper);
            await BackupCheck.Commit(client, acknowledged, 200);
            Assert.StartsWith("+", await redis.Ask("BGSAVE"), StringComparison.Ordinal);
            await Eventually.Holds("the snapshot", TimeSpan.FromSeconds(30), async () =>
                (await redis.Info("rdb_bgsave_in_progress"), await redis.Info("rdb_last_bgsave_status"), File.Exists(Path.Combine(redis.Folder, "dump.rdb"))) is ("0", "ok", true) ? null : "not written yet");
            File.Copy(Path.Combine(redis.Folder, "dump.rdb"), Path.Combine(restored.Folder, "dump.rdb"));
            await snapper.Stop();
            Directory.Delete(options.Data, recursive: true);
        }

        // Redis reads its snapshot only when it has no append-only file to read; it makes one when it is told to.
        await restored.Start(appendOnly: false);
        Assert.Equal("+OK", await restored.Ask("CONFIG SET appendonly yes"));
        await Eventually.Holds("the append-only file", TimeSpan.FromSeconds(30), async () => await restored.Info("aof_rewrite_in_progress") == "0" && await restored.Info("aof_enabled") == "1" ? null : "being written");
        await BackupCheck.HasAll(UpOptions.Random(embedded: false) with { Redis = restored.Address }, acknowledged);
    }
}

/// <summary>Commits with ids, and finds them again.</summary>
internal static class BackupCheck
{
    private static int s_next;

    public static SnapperClient Client(SnapperProcess snapper) => new(snapper.Worker.Url, snapper.Worker.Sidecar);

    /// <summary>What an account holds.</summary>
    public static async Task<decimal> Checking(this SnapperClient client, string account) =>
        (await client.Submit(Accounts.Balance(account).Act())).Result.GetProperty("checking").GetDecimal();

    /// <summary>Transfers of 1 from one account to another, by four clients, each noted once it is acknowledged.</summary>
    public static async Task Commit(SnapperClient client, ConcurrentQueue<string> acknowledged, int most, CancellationToken stop = default)
    {
        var sent = 0;
        await Task.WhenAll(Enumerable.Range(0, 4).Select(async one =>
        {
            while (!stop.IsCancellationRequested && Interlocked.Increment(ref sent) <= most)
            {
                var id = $"backup-{Interlocked.Increment(ref s_next)}";
                var answer = await client.Submit(Accounts.Transfer($"from-{one}", "to", 1).Pact("to") with { RequestId = id }, cancellation: CancellationToken.None);
                Assert.True(answer.Verdict == Verdict.Committed, answer.ToString());
                acknowledged.Enqueue(id);
            }
        }));
    }

    /// <summary>Starts on what was restored: no alarm, every id committed, and exactly so much money moved as commits are there.</summary>
    public static async Task HasAll(UpOptions options, IReadOnlyCollection<string> acknowledged)
    {
        await using (var snapper = await SnapperProcess.Start(options))
        {
            using var client = Client(snapper);
            foreach (var some in acknowledged.Chunk(50))
            {
                await Task.WhenAll(some.Select(async id =>
                {
                    var found = await client.Find(id);
                    Assert.True(found.Verdict == Verdict.Committed, $"{id} was acknowledged before the backup and is not in it: {found}");
                }));
            }

            var to = await client.Checking("to") - 10_000;
            var from = 0m;
            for (var i = 0; i < 4; i++) from += 10_000 - await client.Checking($"from-{i}");
            Assert.Equal(from, to);
            Assert.True(to >= acknowledged.Count, $"{to} arrived, and {acknowledged.Count} were acknowledged");
            await snapper.Stop();
        }

        Directory.Delete(options.Data, recursive: true);
    }

    /// <summary>Copies the data directory of one that is stopped, deletes it, and starts on the copy.</summary>
    public static async Task CopyHasAll(UpOptions stopped, IReadOnlyCollection<string> acknowledged)
    {
        var fresh = UpOptions.Random(stopped.Embedded);
        Copy(stopped.Data, fresh.Data);
        Directory.Delete(stopped.Data, recursive: true);
        await HasAll(fresh, acknowledged);
    }

    /// <summary>As <c>cp -a</c>.</summary>
    public static void Copy(string from, string to)
    {
        foreach (var file in Directory.EnumerateFiles(from, "*", SearchOption.AllDirectories))
        {
            var target = Path.Combine(to, Path.GetRelativePath(from, file));
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            File.Copy(file, target, overwrite: true);
        }
    }

    /// <summary>The order of docs/operating.md: no rewrite of the file meanwhile, then the folder <c>redis</c>, then as before. Both are data directories.</summary>
    public static async Task CopyAppendOnlyFile(string address, string from, string to)
    {
        var port = int.Parse(address.Split(':')[^1], System.Globalization.CultureInfo.InvariantCulture);
        var password = RedisLine.PasswordIn(from);
        Assert.Equal("+OK", await RedisLine.Ask(port, "CONFIG SET auto-aof-rewrite-percentage 0", password));
        try
        {
            await Eventually.Holds("no rewrite", TimeSpan.FromSeconds(60), async () => await RedisLine.Section(port, "persistence", "aof_rewrite_in_progress", password) == "0" ? null : "a rewrite is under way");
            Copy(Path.Combine(from, "redis"), Path.Combine(to, "redis"));
        }
        finally
        {
            Assert.Equal("+OK", await RedisLine.Ask(port, "CONFIG SET auto-aof-rewrite-percentage 100", password));
        }
    }

    public static Task<string?> Info(this PrivateRedis redis, string name) => RedisLine.Section(redis.Port, "persistence", name);
}
