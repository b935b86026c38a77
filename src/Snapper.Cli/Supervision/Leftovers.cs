using System.Diagnostics;
using Snapper.AspNetCore.Processes;

namespace Snapper.Cli.Supervision;

/// <summary>
/// Children of a supervisor that died without stopping them. Two Redis servers on one append-only file would destroy it, so the next supervisor waits for
/// the old ones, and ends them if they do not go by themselves.
/// </summary>
internal static class Leftovers
{
    private static readonly TimeSpan GoByThemselves = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan GoOnRequest = TimeSpan.FromSeconds(12);

    /// <summary>Returns when none is left. The caller holds the lock on the data directory, so their supervisor has ended.</summary>
    /// <exception cref="StartupException">One cannot be ended.</exception>
    public static async Task End(RunState? before, MessageWriter messages, CancellationToken cancellation)
    {
        if (before is null) return;
        foreach (var (name, process) in before.Children())
        {
            if (await Gone(process, GoByThemselves, cancellation)) continue;
            messages.Say($"{name} (pid {process.Pid}) is left over from an earlier run that was killed; ending it");
            Posix.Send(process.Pid, Posix.Terminate);
            if (await Gone(process, GoOnRequest, cancellation)) continue;
            Posix.Send(process.Pid, Posix.Kill);
            if (!await Gone(process, GoByThemselves, cancellation)) throw new StartupException($"{name} (pid {process.Pid}) of an earlier run cannot be ended; {FixHints.Leftover}");
        }
    }

    private static async Task<bool> Gone(ProcessIdentity process, TimeSpan within, CancellationToken cancellation)
    {
        var started = Stopwatch.GetTimestamp();
        while (process.IsAlive())
        {
            if (Stopwatch.GetElapsedTime(started) > within) return false;
            await Task.Delay(20, cancellation);
        }

        return true;
    }
}
