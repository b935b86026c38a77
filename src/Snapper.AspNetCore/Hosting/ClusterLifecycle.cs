using System.Globalization;
using Snapper.Cluster.Control;
using Snapper.Sidecar.Client;

namespace Snapper.AspNetCore.Hosting;

/// <summary>What a worker does, by its settings, when it has come to other workers and before it goes from them: takes its share, gives away what it owns, ends its sidecar.</summary>
/// <param name="settings">Whether it does.</param>
/// <param name="control">The workers as one system; null: it is alone, and none of this happens.</param>
/// <param name="inspection">Tells probes that it leaves.</param>
/// <param name="logger">Hears what becomes of it.</param>
internal sealed class ClusterLifecycle(WorkerSettings settings, IClusterControl? control, InspectionSwitch inspection, ILogger logger)
{
    private CancellationTokenSource? _taking;
    private Task _share = Task.CompletedTask;
    private bool _sidecarIsTold;

    /// <summary>The door is open. Returns at once.</summary>
    /// <param name="stop">It shall go.</param>
    public void Come(CancellationToken stop)
    {
        if (settings.TakeShare && control is not null)
        {
            _taking = CancellationTokenSource.CreateLinkedTokenSource(stop);
            _share = new RebalanceOnJoin(control, logger).Run(_taking.Token);
        }
    }

    /// <summary>It shall go, or has failed. The door stays open meanwhile: requests for what has moved are passed on. Only probes hear that nobody new shall come.</summary>
    /// <param name="failed">It has failed: nothing is given away any more.</param>
    /// <param name="force">What it still owns stays its own.</param>
    /// <returns>Whether it has left: nothing is under way here, and nothing new is let in.</returns>
    public async Task<bool> Go(Task failed, CancellationToken force)
    {
        if (_taking is not null)
        {
            await _taking.CancelAsync();
            await _share;
            _taking.Dispose();
        }

        if (settings.LeaveOnStop is not { } within || control is null || failed.IsCompleted)
        {
            return false;
        }

        inspection.IsLeaving = true;
        using var end = CancellationTokenSource.CreateLinkedTokenSource(force);
        end.CancelAfter(within);
        var leaving = new DrainOnStop(control, logger).Run(end.Token);
        if (await Task.WhenAny(leaving, failed) == failed)
        {
            await end.CancelAsync();
        }

        return await leaving;
    }

    /// <summary>
    /// Nothing that is under way here needs the sidecar any more. Whoever stops this worker has told its sidecar as well, which waits (<c>block-shutdown-duration</c>) with actor types that nobody serves any more. Once is enough; one that
    /// does not hear it is ended by whoever started it.
    /// </summary>
    public async Task EndSidecar(DaprSidecarClient? sidecar, TimeSpan within)
    {
        if (settings.LeaveOnStop is null || sidecar is null || _sidecarIsTold)
        {
            return;
        }

        _sidecarIsTold = true;
        using var limit = new CancellationTokenSource(within);
        try
        {
            var answer = await sidecar.Shutdown(limit.Token);
            if (answer.Status is < 200 or > 299)
            {
                ServerLog.SidecarNotEnded(logger, string.Create(CultureInfo.InvariantCulture, $"it answered {answer.Status}"));
            }
        }
        catch (Exception problem) when (problem is SidecarUnreachableException or OperationCanceledException)
        {
            ServerLog.SidecarNotEnded(logger, problem.Message);
        }
    }
}
