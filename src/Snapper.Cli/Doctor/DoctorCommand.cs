using System.CommandLine;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;

namespace Snapper.Cli.Doctor;

/// <summary>Looks at the machine and says what <c>up</c> would find. Starts and changes nothing that lasts.</summary>
internal static class DoctorCommand
{
    /// <summary><c>doctor</c>; it fails exactly when <c>up</c> with the same options would not start.</summary>
    public static readonly Command Command = CommandLines.Command(
        "doctor", "checks this machine: SDK, Redis, Dapr, ports, disk, memory", Run, UpOptions.All);

    private static async Task<int> Run(ParseResult line, TextWriter output, TextWriter errors)
    {
        var options = UpOptions.From(line);
        var rows = new List<DoctorRow>();
        rows.Add(MachineChecks.Sdk());
        if (!options.Embedded) rows.AddRange(await ServerChecks.All(options, ExecutableFinder.System));
        rows.AddRange(PortChecks.All(options));
        rows.AddRange(MachineChecks.DiskAndMemory(options.DataDirectory));
        rows.AddRange(RunChecks.All(options.DataDirectory, options.Workers));
        rows.AddRange(await LogChecks.All(options, ExecutableFinder.System));
        rows.Add(SettingChecks.Settings(options.Hosted, Environment.GetEnvironmentVariable(MailboxSeal.Variable)));
        rows.Add(MachineChecks.Wrappers());
        rows.Add(MachineChecks.Clock());
        DoctorTable.Write(output, rows);
        return rows.Any(r => r.Health == Health.Broken) ? ExitCode.Failure : ExitCode.Success;
    }
}
