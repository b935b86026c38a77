using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using Snapper.Integration.Tests.Harness;
using Snapper.Live.Faults;
using Xunit;

namespace Snapper.Integration.Tests.Live;

/// <summary>The faults of a disk are real ones: Redis' flushes are late, and its file cannot grow.</summary>
[RequiresServers]
public sealed class RedisTroubleTests
{
    private static readonly TimeSpan Delay = TimeSpan.FromSeconds(1.5);
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    [SystemFact]
    public async Task A_slow_disk_makes_every_flush_late_until_it_is_fast_again()
    {
        // By a shell, so that it is no child of this process: see SlowDisk.
        var folder = Directory.CreateTempSubdirectory("snapper-it-slow-").FullName;
        var port = FreePorts.Base(0);
        using var shell = Process.Start(new ProcessStartInfo(
            "/bin/sh", ["-c", $"'{ServerPrograms.PathOf("redis-server")}' --port {port} --bind 127.0.0.1 --save '' --appendonly yes --appendfsync always --logfile redis.log & echo $!; wait"])
        { WorkingDirectory = folder, RedirectStandardOutput = true })!;
        var pid = int.Parse((await shell.StandardOutput.ReadLineAsync())!, CultureInfo.InvariantCulture);
        try
        {
            await Eventually.Holds("Redis to answer", Patience, async () =>
            {
                try
                {
                    return await RedisLine.Ask(port, "PING") == "+PONG" ? null : "it answers otherwise";
                }
                catch (Exception away) when (away is IOException or SocketException)
                {
                    return away.Message;
                }
            });
            var (disk, whyNot) = await SlowDisk.Attach(pid, Delay);
            Assert.True(disk is not null, whyNot);

            Assert.InRange(await Set(port), Delay, Patience);
            Assert.True(disk.Flushes > 0);

            await disk.End();
            Assert.InRange(await Set(port), TimeSpan.Zero, Delay);
        }
        finally
        {
            ProcessTable.Signal(pid, ProcessTable.Kill);
            await shell.WaitForExitAsync();
            Directory.Delete(folder, recursive: true);
        }
    }

    [SystemFact]
    public async Task A_file_without_room_ends_a_Redis_that_flushes_always()
    {
        using var redis = new PrivateRedis();
        await redis.Start();
        SystemCalls.LimitFiles(redis.Pid, 100);

        await Eventually.Holds("Redis to end for want of room", Patience, async () =>
        {
            try
            {
                await redis.Ask("SET a " + new string('x', 100));
            }
            catch (Exception gone) when (gone is IOException or SocketException)
            {
                // As it should be.
            }

            return ProcessTable.Read(redis.Pid) is null ? null : "it runs";
        });
    }

    private static async Task<TimeSpan> Set(int port)
    {
        var started = Stopwatch.GetTimestamp();
        Assert.Equal("+OK", await RedisLine.Ask(port, "SET a 1"));
        return Stopwatch.GetElapsedTime(started);
    }
}
