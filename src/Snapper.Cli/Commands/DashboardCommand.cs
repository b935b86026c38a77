using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Snapper.Server.Commands;

namespace Snapper.Cli.Commands;

/// <summary>
/// The dashboard alone, of workers that run already: of an application that hosts its own actors, too.
/// </summary>
internal static class DashboardCommand
{
    private static readonly Option<int> s_port =
        Options.Whole("--port", "PORT", "listens on 127.0.0.1", 8080, 1, 65535);

    private static readonly Option<string?> s_workers = Options.Text(
        "--workers", "URL[,URL...]",
        "a worker's own HTTP API; the others are found through it "
            + "(default: SNAPPER_DASHBOARD_WORKERS, else http://127.0.0.1:5101)");

    /// <summary><c>dashboard</c>; it stays until a signal.</summary>
    public static readonly Command Command = CommandLines.Command(
        "dashboard", "shows workers that run already, until Ctrl-C", Run, s_workers, s_port);

    private static async Task<int> Run(ParseResult line, TextWriter output, TextWriter errors)
    {
        var program = DashboardProgram.Find()
            ?? throw new StartupException(
                "the dashboard is not here: 'dotnet build dashboard/Snapper.Dashboard -c Release' makes it");
        var start = new ProcessStartInfo(ChildCommands.Host) { UseShellExecute = false };
        start.ArgumentList.Add(program);
        start.ArgumentList.Add("--port");
        start.ArgumentList.Add(line.GetValue(s_port).ToString(CultureInfo.InvariantCulture));
        if (line.GetValue(s_workers) is { } workers)
        {
            start.ArgumentList.Add("--workers");
            start.ArgumentList.Add(workers);
        }

        start.ArgumentList.Add("--watch-parent"); // it must not outlive a command that is killed
        start.ArgumentList.Add(Environment.ProcessId.ToString(CultureInfo.InvariantCulture));
        using var signals = new StopSignals();
        using var dashboard = Process.Start(start)!;
        await using var stopping = signals.Stop.Register(() => Stop(dashboard));
        await dashboard.WaitForExitAsync();
        return dashboard.ExitCode;
    }

    private static void Stop(Process dashboard)
    {
        if (OperatingSystem.IsWindows())
        {
            dashboard.Kill();
        }
        else
        {
            Posix.Send(dashboard.Id, Posix.Terminate);
        }
    }
}
