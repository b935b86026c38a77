using System.Diagnostics;
using System.Globalization;
using Snapper.Cluster.Control;
using Snapper.Contracts;

namespace Snapper.AspNetCore.Hosting;

/// <summary>
/// A worker that stops gives what it owns to the others first, as <c>./snapper leave</c> does from outside: nobody waits for a lease to run out, and nobody's
/// transaction is aborted.
/// </summary>
/// <param name="control">The workers as one system, as this one sees them.</param>
/// <param name="logger">Hears what becomes of it.</param>
internal sealed class DrainOnStop(IClusterControl control, ILogger logger)
{
    private const string Prefix = "leave-";
    private const int MigrationsLookedAt = 100;
    private static readonly TimeSpan LookEvery = TimeSpan.FromMilliseconds(50);

    private string _last = "it was not asked in time";

    /// <summary>Returns when the worker owns nothing, when there is nobody to give it to, or when it is cancelled. Never throws.</summary>
    /// <returns>Whether it owns nothing.</returns>
    public async Task<bool> Run(CancellationToken end)
    {
        var started = Stopwatch.GetTimestamp();
        try
        {
            // Again and again: a part that does not come to rest is given back, and another worker that leaves may give to this one.
            for (var attempt = 1; ; attempt++)
            {
                if (await Attempt(attempt, end) is { } done)
                {
                    if (done) ServerLog.HasLeft(logger, control.Name, (long)Stopwatch.GetElapsedTime(started).TotalMilliseconds);
                    else ServerLog.LeavesNothing(logger, control.Name, _last);
                    return done;
                }

                await Task.Delay(LookEvery, end);
            }
        }
        catch (OperationCanceledException) when (end.IsCancellationRequested)
        {
            ServerLog.LeavesNothing(logger, control.Name, $"not within the time it has; {_last}");
            return false;
        }
    }

    /// <summary>True: it owns nothing. False: nobody takes it. Null: try again.</summary>
    private async Task<bool?> Attempt(int attempt, CancellationToken end)
    {
        try
        {
            var workers = await control.Workers(end);
            if (workers.FirstOrDefault(worker => worker.Worker == control.Name) is not { State: "live" } self)
            {
                _last = "it is not one of the workers any more; the others take over";
                return false;
            }

            if (self.Entries == 0)
            {
                // From now on nobody can give it anything, which another that rebalances at this moment might.
                if (await control.Leave(end) is not { } why) return true;
                _last = why;
                return null;
            }

            _last = $"it still owns {self.Entries.ToString(CultureInfo.InvariantCulture)} partitions and single actors";
            var others = workers.Where(worker => worker.State == "live" && worker.Worker != control.Name).ToArray();
            var leaving = await WhoLeaves(others, end);
            var staying = others.Where(worker => !leaving.Contains(worker.Worker)).ToArray();
            if (staying.Length == 0)
            {
                _last = others.Length == 0 ? "no other worker lives" : "all other workers leave as well";
                return false;
            }

            if (attempt == 1) ServerLog.DrainOnStop(logger, control.Name, self.Entries);

            // Spread over all that live, unless one of them is on its way out: it would only have to give it away again.
            var made = await control.Migrate(
                new MigrationAsk(IdOf(self, attempt), null, null, control.Name, leaving.Count == 0 ? null : staying[attempt % staying.Length].Worker, $"{control.Name} stops", DryRun: false), end);
            await MigrationEnd.Wait(control, made, LookEvery, end);
        }
        catch (Exception problem) when (!end.IsCancellationRequested)
        {
            // Whatever it is, the worker has to stop, and in order. Said if it does not pass.
            _last = problem.Message;
        }

        return null;
    }

    /// <summary>Those whose present life has asked for the same: when a whole system is stopped, nobody shall be handed what its owner is about to leave behind.</summary>
    private async Task<HashSet<string>> WhoLeaves(ClusterMember[] others, CancellationToken end)
    {
        var leaving = new HashSet<string>(StringComparer.Ordinal);
        foreach (var migration in await control.Migrations(MigrationsLookedAt, end))
        {
            foreach (var other in others)
            {
                if (migration.Id.StartsWith(LifeOf(other), StringComparison.Ordinal)) leaving.Add(other.Worker);
            }
        }

        return leaving;
    }

    private static string IdOf(ClusterMember worker, int attempt) => LifeOf(worker) + attempt.ToString(CultureInfo.InvariantCulture);

    private static string LifeOf(ClusterMember worker) => string.Create(CultureInfo.InvariantCulture, $"{Prefix}{worker.Worker}-{worker.Epoch}-");
}
