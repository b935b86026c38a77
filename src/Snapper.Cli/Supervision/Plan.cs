using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;

namespace Snapper.Cli.Supervision;

/// <summary>What a deployment will use, decided before anything is started.</summary>
/// <param name="Log">Redis or file.</param>
/// <param name="ForeignRedis">The Redis that the user named; null: a private one, or none.</param>
/// <param name="RedisServer">The program of the private Redis; null: none is started.</param>
/// <param name="Sidecar">daprd or embedded.</param>
/// <param name="Daprd">Set exactly with <see cref="SidecarKind.Daprd"/>.</param>
/// <param name="Placement">Set exactly with <see cref="SidecarKind.Daprd"/>.</param>
/// <param name="Reasons">What was taken and why, a line each.</param>
internal sealed record Plan(
    LogKind Log, HostAndPort? ForeignRedis, string? RedisServer, SidecarKind Sidecar, string? Daprd, string? Placement, IReadOnlyList<string> Reasons)
{
    /// <summary>Takes the best that is there.</summary>
    /// <remarks>
    /// A Redis that merely happens to answer on 6379 is not taken: it may be another program's, with other durability and other data. Only one that the user
    /// names is used, else a private one.
    /// </remarks>
    /// <exception cref="StartupException">A variable names a program that is not there.</exception>
    public static Plan Make(UpOptions options, ExecutableFinder finder)
    {
        if (options.Embedded)
        {
            return new Plan(LogKind.File, null, null, SidecarKind.Embedded, null, null,
            [
                "log: a local file, as --embedded asks",
                "sidecar: the embedded stand-in, as --embedded asks; it serves Dapr's HTTP API, but is not for production and never benchmarked",
            ]);
        }

        var reasons = new List<string>();
        string? redisServer = null;
        var log = LogKind.Redis;
        if (options.Redis is { } named)
        {
            reasons.Add($"log: Redis at {named}, as configured");
        }
        else
        {
            var found = ServerPrograms.Redis(finder);
            redisServer = found.Path;
            if (found.Path is not null)
            {
                reasons.Add($"log: a private {found.Finding}, appendonly yes, appendfsync {(options.Fsync == FsyncPolicy.Always ? "always" : "everysec")}");
            }
            else
            {
                log = LogKind.File;
                reasons.Add($"log: a local file, because there is {found.Finding}; {FixHints.Redis}");
            }
        }

        if (options.Workers > 1 && log == LogKind.File)
        {
            throw new StartupException($"several workers share a Redis, and there is none; {FixHints.Redis}");
        }

        var daprd = ServerPrograms.Daprd(finder);
        var placement = ServerPrograms.Placement(finder);
        if (daprd.Path is not null && placement.Path is not null)
        {
            reasons.Add($"sidecar: {daprd.Finding}, {placement.Finding}");
            return new Plan(log, options.Redis, redisServer, SidecarKind.Daprd, daprd.Path, placement.Path, reasons);
        }

        var missing = daprd.Path is null ? daprd.Finding : placement.Finding;
        if (options.Workers > 1) throw new StartupException($"several workers speak through daprd, and {missing}; {FixHints.Dapr}");
        reasons.Add($"sidecar: the embedded stand-in, because: {missing} ({FixHints.Dapr}); it serves Dapr's HTTP API, but is not for production and never benchmarked");
        return new Plan(log, options.Redis, redisServer, SidecarKind.Embedded, null, null, reasons);
    }
}
