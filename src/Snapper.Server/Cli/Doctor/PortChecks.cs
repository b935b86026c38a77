using Snapper.Server.Supervision;

namespace Snapper.Server.Cli.Doctor;

/// <summary>The ports that callers know.</summary>
internal static class PortChecks
{
    /// <summary>One row per port.</summary>
    public static IEnumerable<DoctorRow> All(UpOptions options, int dashboard)
    {
        yield return Port(options.WorkerPort(1), "worker w1", Health.Broken, "--base-port");
        yield return Port(options.SidecarPortOf(1), "sidecar of w1", Health.Broken, "--sidecar-port");

        // Without its port there is no dashboard; the system starts all the same.
        yield return Port(dashboard, "dashboard", Health.Limited, "--dashboard-port");
    }

    private static DoctorRow Port(int port, string use, Health whenTaken, string option)
    {
        var check = $"port {port} ({use})";
        if (Ports.IsFree(port)) return new DoctorRow(Health.Good, check, "free");
        var holder = Ports.Holder(port) ?? "a process that cannot be seen from here";
        return new DoctorRow(whenTaken, check, $"taken by {holder}", $"stop it, or choose another port with {option}");
    }
}
