using System.Globalization;
using Snapper.Cluster.Control;

namespace Snapper.AspNetCore.Hosting;

/// <summary>A worker that comes (back) to others and owns nothing asks for its share, as <c>./snapper rebalance</c> does: the counterpart of <see cref="DrainOnStop"/>.</summary>
/// <param name="control">The workers as one system, as this one sees them.</param>
/// <param name="logger">Hears what becomes of it.</param>
internal sealed class RebalanceOnJoin(IClusterControl control, ILogger logger)
{
    private static readonly TimeSpan GivesUpAfter = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan LookEvery = TimeSpan.FromMilliseconds(250);

    /// <summary>Returns when it owns something, when there is nothing to share, or after two minutes. Ends when cancelled; never throws.</summary>
    public async Task Run(CancellationToken cancellation)
    {
        using var end = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        end.CancelAfter(GivesUpAfter);
        var last = "nobody was asked";
        try
        {
            for (var attempt = 1; ; attempt++)
            {
                try
                {
                    if (await Ask(attempt, end.Token)) return;
                    last = "it moves slowly";
                }
                catch (Exception problem) when (!end.IsCancellationRequested)
                {
                    // Others come or go at this moment, too, and what they move cannot be moved twice; or the store is away. Said if it does not pass.
                    last = problem.Message;
                }

                await Task.Delay(LookEvery, end.Token);
            }
        }
        catch (OperationCanceledException) when (end.IsCancellationRequested)
        {
            if (!cancellation.IsCancellationRequested) ServerLog.HasNoShare(logger, control.Name, last);
        }
    }

    /// <summary>Whether there is nothing more to ask for.</summary>
    private async Task<bool> Ask(int attempt, CancellationToken end)
    {
        var workers = await control.Workers(end);
        var self = workers.FirstOrDefault(worker => worker.Worker == control.Name);
        if (self is null || self.Entries > 0 || !workers.Any(worker => worker.State == "live" && worker.Worker != control.Name))
        {
            return self is not null;
        }

        var id = string.Create(CultureInfo.InvariantCulture, $"share-{self.Worker}-{self.Epoch}-{attempt}");
        var made = await control.Migrate(new MigrationAsk(id, null, null, null, null, $"{control.Name} has joined", DryRun: false, Rebalance: true), end);
        if (made.Parts.Count == 0) return true;
        ServerLog.TakesShare(logger, control.Name, made.Keys);
        await MigrationEnd.Wait(control, made, LookEvery, end);
        return false; // the next look says whether something came
    }
}
