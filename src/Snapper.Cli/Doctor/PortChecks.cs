using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;

namespace Snapper.Cli.Doctor;

/// <summary>The ports that callers know.</summary>
internal static class PortChecks
{
    public static IEnumerable<DoctorRow> All(UpOptions options)
    {
        for (var i = 1; i <= options.Workers; i++)
        {
            yield return Port(options.WorkerPort(i), $"worker w{i}", Health.Broken, "--base-port");
            yield return Port(options.SidecarPortOf(i), $"sidecar of w{i}", Health.Broken, "--sidecar-port");
        }

        yield return Private(options);

        // Without its port there is no dashboard; the system starts all the same.
        yield return Port(options.DashboardPort, "dashboard", Health.Limited, "--dashboard-port");
    }

    private static DoctorRow Port(int port, string use, Health whenTaken, string option)
    {
        var check = $"port {port} ({use})";
        if (Ports.IsFree(port)) return new DoctorRow(Health.Good, check, "free");
        var holder = Ports.Holder(port) ?? "a process that cannot be seen from here";
        return new DoctorRow(whenTaken, check, $"taken by {holder}", FixHints.Port(option));
    }

    /// <summary>Redis, placement and the sidecars' inner ports: any that are free.</summary>
    private static DoctorRow Private(UpOptions options)
    {
        const string check = "other ports";
        try
        {
            Ports.Free(4 + (2 * options.Workers), options.Names);
            return new DoctorRow(Health.Good, check, "enough are free on loopback");
        }
        catch (StartupException none)
        {
            return new DoctorRow(Health.Broken, check, none.Message, FixHints.PrivatePorts);
        }
    }
}
