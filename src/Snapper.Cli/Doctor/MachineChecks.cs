using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;

namespace Snapper.Cli.Doctor;

internal static class MachineChecks
{
    private const long Gigabyte = 1L << 30;
    private const long LittleDisk = Gigabyte;
    private const long LittleMemory = 2 * Gigabyte;
    private const string ClockFix = "let the machine keep its time by NTP ('timedatectl set-ntp true')";
    private static readonly TimeSpan ClocksApart = TimeSpan.FromSeconds(10);

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
        if (Directory.Exists(dataDirectory)) yield return Rights(dataDirectory);
        yield return Disk(dataDirectory);
        var memory = GC.GetGCMemoryInfo().TotalAvailableMemoryBytes;
        yield return memory >= LittleMemory
            ? new DoctorRow(Health.Good, "memory", Gigabytes(memory))
            : new DoctorRow(Health.Limited, "memory", $"{Gigabytes(memory)}: log and state live in Redis' memory", "2 GB or more");
    }

    /// <summary>The clock tells outcomes that may be forgotten from those that may not, and stamps what people read.</summary>
    public static DoctorRow Clock()
    {
        const string check = "clock";
        var now = DateTimeOffset.UtcNow;
        var built = File.GetLastWriteTimeUtc(typeof(MachineChecks).Assembly.Location);
        return now >= built
            ? new DoctorRow(Health.Good, check, now.ToString("yyyy-MM-dd HH:mm:ss'Z'", CultureInfo.InvariantCulture))
            : new DoctorRow(Health.Limited, check, $"{now:yyyy-MM-dd HH:mm:ss}Z is before this program was built", ClockFix);
    }

    /// <summary>What to say when a Redis has another time than we; empty: nothing.</summary>
    public static IEnumerable<string> ClockDiffers(DateTimeOffset? theirs)
    {
        if (theirs is null) yield break;
        var apart = (DateTimeOffset.UtcNow - theirs.Value).Duration();
        if (apart > ClocksApart) yield return $"its clock and ours are {apart.TotalSeconds:0} s apart: {ClockFix}";
    }

    /// <summary>Without it the parts of a killed 'up' stay until the next one ends them.</summary>
    public static DoctorRow Wrappers()
    {
        const string check = "setpriv";
        return ChildWrappers.Find(ExecutableFinder.System).Setpriv is { } path
            ? new DoctorRow(Health.Good, check, path)
            : new DoctorRow(Health.Limited, check, "none: if 'up' is killed with -9, Redis and Dapr stay until the next one ends them", "install util-linux");
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
            return new DoctorRow(Health.Broken, check, problem.Message, new[] { FixHints.OtherUp, FixHints.Owner, FixHints.Rights, FixHints.Planted }.FirstOrDefault(problem.Message.EndsWith) ?? FixHints.Data);
        }
    }

    /// <summary>What 'up' makes is its account's alone; what another account made is left as it is, and reported here.</summary>
    private static DoctorRow Rights(string directory)
    {
        const string check = "rights on data";
        if (DataDirectoryPermissions.Refusal(directory) is var (why, remedy)) return new DoctorRow(Health.Broken, check, why, remedy);
        if (DataDirectoryPermissions.OpenParent(directory) is { } parent) return new DoctorRow(Health.Limited, check, parent, FixHints.Parent);
        return DataDirectoryPermissions.Open(directory) is not { } open ? new DoctorRow(Health.Good, check, "of this account alone")
            : new DoctorRow(Health.Limited, check, open, DataDirectoryPermissions.IsOfEarlierVersion(directory) ? FixHints.EarlierRights : FixHints.Rights);
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
