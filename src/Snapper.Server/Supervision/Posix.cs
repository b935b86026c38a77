using System.Globalization;
using System.Runtime.InteropServices;

namespace Snapper.Server.Supervision;

/// <summary>The few system calls and files that .NET does not wrap.</summary>
internal static class Posix
{
    /// <summary>SIGTERM on every Unix.</summary>
    public const int Terminate = 15;

    /// <summary>SIGKILL on every Unix.</summary>
    public const int Kill = 9;

    /// <summary>Sends a signal; false when there is no such process or it is not ours.</summary>
    public static bool Send(int pid, int signal) => pid > 1 && SendSignal(pid, signal) == 0;

    /// <summary>The process that started this one; 1 (or a subreaper) once that one is gone.</summary>
    public static int ParentProcessId() => GetParent();

    /// <summary>
    /// When a process started, in clock ticks since boot; with the pid it names a process for good, while a pid alone is used again. 0: no such
    /// process, it is a zombie, or the system has no /proc.
    /// </summary>
    public static long StartTicks(int pid)
    {
        string stat;
        try
        {
            stat = File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"/proc/{pid}/stat"));
        }
        catch (IOException)
        {
            return 0;
        }
        catch (UnauthorizedAccessException)
        {
            return 0;
        }

        // The second field is the name in parentheses and may hold anything; what follows the last parenthesis is regular.
        var fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        return fields[0] is "Z" or "X" ? 0 : long.Parse(fields[19], CultureInfo.InvariantCulture);
    }

    /// <summary>Which rights files and folders do not get that this process makes, or its children.</summary>
    public static void SetFileModeMask(int mask) => _ = SetMask(mask);

    [DllImport("libc", EntryPoint = "umask")]
    private static extern int SetMask(int mask);

    [DllImport("libc", EntryPoint = "kill", SetLastError = true)]
    private static extern int SendSignal(int pid, int signal);

    [DllImport("libc", EntryPoint = "getppid")]
    private static extern int GetParent();
}
