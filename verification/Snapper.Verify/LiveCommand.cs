using System.CommandLine;
using Snapper.Live.Cluster;
using Snapper.Live.Exhaust;
using Snapper.Live.Rounds;

namespace Snapper.Verify;

/// <summary>Verification of a running system; an interruption ends it and all that it has started.</summary>
internal static class LiveCommand
{
    public static Command Of(CancellationToken interrupted) => LiveOptions.Command(options => Run(options, interrupted));

    private static async Task<int> Run(LiveOptions options, CancellationToken interrupted)
    {
        if (options.Exhaust)
        {
            return await new ExhaustRun(options, Console.WriteLine).Run(interrupted) ? 0 : 1;
        }

        if (options.Workers > 1)
        {
            var several = new ClusterRun(options, Console.WriteLine);
            return await several.Run(interrupted) || (several.WasStopped && several.Violations.Count == 0) ? 0 : 1;
        }

        // False also where it was interrupted: that alone is no finding.
        var run = new LiveRun(options, Console.WriteLine);
        return await run.Run(interrupted) || (run.WasStopped && run.Violations.Count == 0) ? 0 : 1;
    }
}
