using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;

namespace Snapper.Live.Harness;

/// <summary>Processes of this machine, by Linux's /proc, and signals to them.</summary>
internal static class ProcessTable
{
    public const int Kill = 9;
    public const int Terminate = 15;
    public const int Continue = 18;
    public const int Stop = 19;

    /// <summary>A process told apart from a later one with the same number by its start time.</summary>
    public readonly record struct Entry(int Pid, string Started, string Command)
    {
        public bool IsAlive => Read(Pid) is { } now && now.Started == Started;
    }

    /// <summary>
    /// All live processes whose environment holds <paramref name="marker"/>, or that work below <paramref name="folder"/>: whatever was started by the one
    /// that got both, orphans too. The folder finds redis-server, which writes its title over the place where the kernel looks for its environment.
    /// </summary>
    public static IReadOnlyList<Entry> StartedWith(string marker, string folder)
    {
        var found = new List<Entry>();
        foreach (var process in Directory.EnumerateDirectories("/proc"))
        {
            if (int.TryParse(Path.GetFileName(process), NumberStyles.None, CultureInfo.InvariantCulture, out var pid)
                && (TryReadText($"{process}/environ")?.Contains(marker, StringComparison.Ordinal) == true || WorksBelow(process, folder)) && Read(pid) is { } entry)
            {
                found.Add(entry);
            }
        }

        return found;
    }

    /// <summary>The process now; null when there is none, or only a zombie that its parent has not buried.</summary>
    public static Entry? Read(int pid)
    {
        // The name in parentheses may hold anything; the fields behind the last one are state (3rd) ... start time (22nd).
        var stat = TryReadText($"/proc/{pid}/stat");
        var fields = stat?[(stat.LastIndexOf(')') + 1)..].Split(' ', StringSplitOptions.RemoveEmptyEntries);
        if (fields is null || fields.Length < 20 || fields[0] is "Z" or "X")
        {
            return null;
        }

        return new Entry(pid, fields[19], (TryReadText($"/proc/{pid}/cmdline") ?? "").Replace('\0', ' ').Trim());
    }

    /// <summary>Sends a signal; a process that is gone already is no error.</summary>
    public static void Signal(int pid, int signal)
    {
        const int noSuchProcess = 3;
        if (pid <= 1)
        {
            throw new ArgumentOutOfRangeException(nameof(pid), pid, "Not one of ours.");
        }

        if (SendSignal(pid, signal) != 0 && Marshal.GetLastPInvokeError() is var error and not noSuchProcess)
        {
            throw new InvalidOperationException($"Signal {signal} to process {pid} failed: {Marshal.GetPInvokeErrorMessage(error)}");
        }
    }

    private static bool WorksBelow(string process, string folder)
    {
        try
        {
            return File.ResolveLinkTarget($"{process}/cwd", returnFinalTarget: false)?.FullName.StartsWith(folder + "/", StringComparison.Ordinal) == true;
        }
        catch (Exception gone) when (gone is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    private static string? TryReadText(string path)
    {
        try
        {
            return Encoding.UTF8.GetString(File.ReadAllBytes(path));
        }
        catch (Exception gone) when (gone is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    [DllImport("libc", EntryPoint = "kill", SetLastError = true)]
    private static extern int SendSignal(int pid, int signal);
}
