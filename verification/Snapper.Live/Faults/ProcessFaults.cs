using System.Globalization;
using Snapper.Live.Harness;
using Snapper.Live.Running;

namespace Snapper.Live.Faults;

/// <summary>Processes that are killed, stopped and continued; <c>up</c> starts them again.</summary>
internal static class ProcessFaults
{
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan DeadWithin = TimeSpan.FromSeconds(30);

    public static async Task Kill(Strike strike, params Part[] victims)
    {
        foreach (var victim in victims)
        {
            strike.Mark();
            await strike.System.Kill(victim);
        }
    }

    public static async Task KillInRecovery(Strike strike)
    {
        var more = 1 + strike.Random.Next(5);
        await Kill(strike, Part.Server);
        for (var i = 0; i < more; i++)
        {
            // Pid waits for the next life; then anywhere between its first step and a while after its recovery.
            await strike.System.Pid(Part.Server);
            await strike.Wait(strike.Between(0, 900));
            await Kill(strike, Part.Server);
        }

        strike.Detail = $"{1 + more} kills";
    }

    /// <summary>
    /// Its appends are stuck on the way when it dies: whatever it has answered in that time is in no log. They arrive later, mostly when its successor has
    /// the log, and must not count then.
    /// </summary>
    public static async Task KillUnflushed(Strike strike)
    {
        var link = strike.System.ServerToRedis;
        var late = strike.Between(0, 4_000);
        strike.Detail = string.Create(CultureInfo.InvariantCulture, $"what was on its way arrived {late.TotalSeconds:0.0} s later");
        try
        {
            link.Strand();
            await strike.Wait(strike.Between(50, 700));
            await Kill(strike, Part.Server);
            await strike.Wait(late);
        }
        finally
        {
            link.Heal();
        }
    }

    public static async Task Terminate(Strike strike, Part victim)
    {
        var pid = await strike.System.Pid(victim);
        var process = ProcessTable.Read(pid);
        strike.Mark();
        ProcessTable.Signal(pid, ProcessTable.Terminate);
        await Eventually.Holds($"{victim} ({pid}) to end after SIGTERM", DeadWithin, () => Task.FromResult(process is { IsAlive: true } ? "it is alive" : null));
        strike.NotBeforeNow();
    }

    public static async Task Pause(Strike strike, Part victim)
    {
        var time = strike.Span(LongestPause);
        strike.Detail = string.Create(CultureInfo.InvariantCulture, $"for {time.TotalSeconds:0.0} s");
        var pid = await strike.System.Signal(victim, ProcessTable.Stop);
        try
        {
            await strike.Wait(time);
        }
        finally
        {
            ProcessTable.Signal(pid, ProcessTable.Continue);
            strike.Mark();
        }
    }
}
