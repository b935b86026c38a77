using System.Diagnostics;
using Snapper.Server.Processes;

namespace Snapper.Cli.Supervision;

/// <summary>A child in the foreground that shares our terminal and ends with us.</summary>
internal static class ForwardedProcess
{
    /// <summary>Runs it to its end; SIGTERM to us is passed on.</summary>
    /// <returns>Its exit code.</returns>
    public static async Task<int> Run(ProcessStartInfo start, StopSignals signals)
    {
        using var process = Process.Start(start)!;
        await using var stop = signals.Stop.Register(() => Posix.Send(process.Id, Posix.Terminate));
        await using var force = signals.Force.Register(() => process.Kill(entireProcessTree: true));
        await process.WaitForExitAsync();
        return process.ExitCode;
    }
}
