using System.Globalization;
using Snapper.Live.Harness;
using Snapper.Live.Running;

namespace Snapper.Live.Faults;

/// <summary>A Redis whose disk or memory makes trouble.</summary>
internal static class RedisFaults
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan LongestTrouble = TimeSpan.FromSeconds(10);

    public static async Task SlowDisk(Strike strike)
    {
        var delay = strike.Random.Next(10) switch
        {
            < 5 => strike.Between(20, 100),
            < 8 => strike.Between(100, 500),
            _ => strike.Between(500, 2000),
        };
        var (disk, whyNot) = await Faults.SlowDisk.Attach(await strike.System.Pid(Part.Redis), delay);
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

    public static async Task MemoryFull(Strike strike)
    {
        var before = await RedisLine.Section(strike.System.RedisPort, "errorstats", "errorstat_OOM", strike.System.RedisPassword);
        await Config(strike, "maxmemory 1mb");
        try
        {
            await strike.Wait(strike.Span(LongestTrouble));
            if (await RedisLine.Section(strike.System.RedisPort, "errorstats", "errorstat_OOM", strike.System.RedisPassword) == before)
            {
                strike.Problems.Enqueue("Redis refused nothing for want of memory.");
            }
        }
        finally
        {
            await Config(strike, "maxmemory 0");
            strike.Mark();
        }
    }

    /// <summary>The file may grow by a few kilobytes and no further. A Redis that flushes always ends then, and so does its successor, until there is room again.</summary>
    public static async Task DiskFull(Strike strike)
    {
        var pid = await strike.System.Pid(Part.Redis);
        var length = Directory.EnumerateFiles(strike.System.RedisFolder, "*.aof", SearchOption.AllDirectories).Max(file => new FileInfo(file).Length);
        var most = (length + 4096 + strike.Random.Next(20_000)) / 512 * 512;
        strike.System.Stand.RoomOf(most / 512);
        try
        {
            SystemCalls.LimitFiles(pid, (ulong)most);
            await Eventually.Holds("redis-server to end for want of room", Patience, () => Task.FromResult(ProcessTable.Read(pid) is null ? null : "it runs"));
            await strike.Wait(strike.Span(LongestTrouble));
        }
        finally
        {
            strike.System.Stand.RoomOf(null);
            if (await strike.System.Pid(Part.Redis) is var now && ProcessTable.Read(now) is not null)
            {
                Lift(now);
            }

            strike.Mark();
        }

        strike.Detail = $"room for {most - length} bytes";
    }

    public static async Task Rewrite(Strike strike)
    {
        strike.Mark();
        var answer = await RedisLine.Ask(strike.System.RedisPort, "BGREWRITEAOF", strike.System.RedisPassword);
        if (answer?.StartsWith('+') != true)
        {
            strike.Problems.Enqueue($"BGREWRITEAOF was answered by {answer}");
        }

        await Eventually.Holds("the rewrite to end", Patience, async () =>
            await RedisLine.Section(strike.System.RedisPort, "persistence", "aof_rewrite_in_progress", strike.System.RedisPassword) == "0" ? null : "it is in progress");
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

    private static async Task Config(Strike strike, string setting)
    {
        var answer = await RedisLine.Ask(strike.System.RedisPort, "CONFIG SET " + setting, strike.System.RedisPassword);
        if (answer != "+OK")
        {
            throw new InvalidOperationException($"CONFIG SET {setting} was answered by {answer}");
        }
    }
}
