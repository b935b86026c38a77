using System.Globalization;
using Snapper.Live.Harness;

namespace Snapper.Live.Faults;

/// <summary>A Redis whose disk or memory makes trouble.</summary>
internal static class RedisFaults
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan LongestTrouble = TimeSpan.FromSeconds(10);

    public static async Task SlowDisk(Blow strike, RedisSeat redis)
    {
        var delay = strike.Random.Next(10) switch
        {
            < 5 => strike.Between(20, 100),
            < 8 => strike.Between(100, 500),
            _ => strike.Between(500, 2000),
        };
        var (disk, whyNot) = await Faults.SlowDisk.Attach(await redis.Pid(), delay);
        if (disk is null)
        {
            strike.NotRun = whyNot;
            return;
        }

        try
        {
            await strike.Wait(TimeSpan.FromSeconds(0.5) + (delay * 3));
        }
        finally
        {
            strike.Mark();
            await disk.End();
        }

        strike.Detail = string.Create(CultureInfo.InvariantCulture, $"{disk.Flushes} flushes, {delay.TotalMilliseconds:0} ms longer");
        if (disk.Flushes == 0)
        {
            strike.Problems.Enqueue("No flush was made slow: redis-server made none, although transactions were to commit.");
        }
    }

    public static async Task MemoryFull(Blow strike, RedisSeat redis)
    {
        var before = await RedisLine.Section(redis.Port, "errorstats", "errorstat_OOM", redis.Password);
        await Config(redis, "maxmemory 1mb");
        try
        {
            await strike.Wait(strike.Span(LongestTrouble));
            if (await RedisLine.Section(redis.Port, "errorstats", "errorstat_OOM", redis.Password) == before)
            {
                strike.Problems.Enqueue("Redis refused nothing for want of memory.");
            }
        }
        finally
        {
            await Config(redis, "maxmemory 0");
            strike.Mark();
        }
    }

    /// <summary>The file may grow by a few kilobytes and no further. A Redis that flushes always ends then, and so does its successor, until there is room again.</summary>
    public static async Task DiskFull(Blow strike, RedisSeat redis)
    {
        var pid = await redis.Pid();
        var length = Directory.EnumerateFiles(redis.Folder, "*.aof", SearchOption.AllDirectories).Max(file => new FileInfo(file).Length);
        var most = (length + 4096 + strike.Random.Next(20_000)) / 512 * 512;
        redis.Stand.RoomOf(most / 512);
        try
        {
            SystemCalls.LimitFiles(pid, (ulong)most);
            await Eventually.Holds("redis-server to end for want of room", Patience, () => Task.FromResult(ProcessTable.Read(pid) is null ? null : "it runs"));
            await strike.Wait(strike.Span(LongestTrouble));
        }
        finally
        {
            redis.Stand.RoomOf(null);
            if (await redis.Pid() is var now && ProcessTable.Read(now) is not null)
            {
                Lift(now);
            }

            strike.Mark();
        }

        strike.Detail = $"room for {most - length} bytes";
    }

    /// <summary>The append-only file is written anew by a child of Redis, under load.</summary>
    public static Task Rewrite(Blow strike, RedisSeat redis) => InBackground(strike, redis, "BGREWRITEAOF", "aof_rewrite_in_progress");

    /// <summary>A dump is written by a child of Redis, under load.</summary>
    public static Task Save(Blow strike, RedisSeat redis) => InBackground(strike, redis, "BGSAVE", "rdb_bgsave_in_progress");

    private static async Task InBackground(Blow strike, RedisSeat redis, string command, string inProgress)
    {
        strike.Mark();
        var answer = await RedisLine.Ask(redis.Port, command, redis.Password);
        if (answer?.StartsWith('+') != true)
        {
            strike.Problems.Enqueue($"{command} was answered by {answer}");
        }

        await Eventually.Holds($"{command} to end", Patience, async () =>
            await RedisLine.Section(redis.Port, "persistence", inProgress, redis.Password) == "0" ? null : "it is in progress");
        await strike.Wait(TimeSpan.FromMilliseconds(300));
    }

    private static void Lift(int pid)
    {
        try
        {
            SystemCalls.LimitFiles(pid, ulong.MaxValue);
        }
        catch (InvalidOperationException) when (ProcessTable.Read(pid) is null)
        {
            // It has just ended for want of room; the next one has it.
        }
    }

    private static async Task Config(RedisSeat redis, string setting)
    {
        var answer = await RedisLine.Ask(redis.Port, "CONFIG SET " + setting, redis.Password);
        if (answer != "+OK")
        {
            throw new InvalidOperationException($"CONFIG SET {setting} was answered by {answer}");
        }
    }
}
