using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using Snapper.Server.Supervision;

namespace Snapper.Server.Cli.Doctor;

/// <summary>The machine itself.</summary>
internal static class MachineChecks
{
    private const long Gigabyte = 1L << 30;
    private const long LittleDisk = Gigabyte;
    private const long LittleMemory = 2 * Gigabyte;

    /// <summary>The .NET SDK. The server runs without it; building and testing do not.</summary>
    public static DoctorRow Sdk()
    {
        const string check = ".NET SDK";
        try
        {
            using var process = Process.Start(new ProcessStartInfo("dotnet", "--version") { RedirectStandardOutput = true, RedirectStandardError = true })!;
            var version = process.StandardOutput.ReadToEnd().Trim();
            process.WaitForExit();
            if (process.ExitCode == 0) return new DoctorRow(Health.Good, check, version);
        }
        catch (Win32Exception)
        {
            // There is no dotnet on PATH: the row below says so.
        }

        return new DoctorRow(Health.Limited, check, "none that fits global.json: the built server runs, but nothing can be built or tested", "install the .NET 10 SDK (https://dot.net)");
    }

    /// <summary>Data directory, free disk, memory.</summary>
    public static IEnumerable<DoctorRow> DiskAndMemory(string dataDirectory)
    {
        yield return Writable(dataDirectory);
        yield return Disk(dataDirectory);
        var memory = GC.GetGCMemoryInfo().TotalAvailableMemoryBytes;
        yield return memory >= LittleMemory
            ? new DoctorRow(Health.Good, "memory", Gigabytes(memory))
            : new DoctorRow(Health.Limited, "memory", $"{Gigabytes(memory)}: log and state live in Redis' memory", "2 GB or more");
    }

    private static DoctorRow Writable(string directory)
    {
        const string check = "data directory";
        var existed = Directory.Exists(directory);
        try
        {
            DataDirectory.Open(directory).Dispose();
            if (!existed) Directory.Delete(directory, recursive: true);
            return new DoctorRow(Health.Good, check, existed ? directory : $"{directory} (new)");
        }
        catch (StartupException problem)
        {
            return new DoctorRow(Health.Broken, check, problem.Message, "choose another with --data");
        }
    }

    private static DoctorRow Disk(string directory)
    {
        const string check = "disk space";
        var folder = new DirectoryInfo(directory);
        while (!folder.Exists && folder.Parent is not null) folder = folder.Parent;
        var free = new DriveInfo(folder.FullName).AvailableFreeSpace;
        return free >= LittleDisk
            ? new DoctorRow(Health.Good, check, $"{Gigabytes(free)} free")
            : new DoctorRow(Health.Limited, check, $"{Gigabytes(free)} free: the append-only file grows until it is rewritten", "free some, or choose another disk with --data");
    }

    private static string Gigabytes(long bytes) => string.Create(CultureInfo.InvariantCulture, $"{bytes / (double)Gigabyte:0.0} GB");
}
