namespace Snapper.Server.Supervision;

/// <summary>The dashboard beside the system. The system does not need it: whatever becomes of it, the rest runs on.</summary>
internal sealed partial class Deployment
{
    /// <summary>Starts it, and again whenever it ends.</summary>
    /// <returns>Its address; null: none was asked for, or it cannot run here, which was said.</returns>
    private string? StartDashboard()
    {
        if (!options.Dashboard) return null;
        if (DashboardProgram.Find() is not { } program)
        {
            Say("dashboard: not started, because it is not built here; './snapper up' in a clone of the repository builds it");
            return null;
        }

        if (!Ports.IsFree(options.DashboardPort))
        {
            var holder = Ports.Holder(options.DashboardPort) is { } known ? $" by {known}" : "";
            Say($"dashboard: not started, because port {options.DashboardPort} on 127.0.0.1 is taken{holder}; choose another with --dashboard-port");
            return null;
        }

        _dashboard = Supervise(ChildCommands.Dashboard(program, _data!, options, [.. _workers.Select(worker => worker.Url)], watchParent: _wrappers.Setpriv is null));

        // It is started again without limit, like everything else once the system is up.
        _dashboard.Settle();
        _dashboard.Start();
        var address = $"http://127.0.0.1:{options.DashboardPort}";
        Say($"dashboard: {address}");
        return address;
    }
}
