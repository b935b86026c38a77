using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;

namespace Snapper.AspNetCore.Processes;

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

    /// <summary>The account whose rights this process has; 0: root.</summary>
    public static int EffectiveUser() => GetEffectiveUser();

    /// <summary>
    /// The account that a file or folder belongs to, by its number. Null: there is none, we may not look, or the system cannot say (it is not Linux).
    /// </summary>
    /// <param name="path">Absolute.</param>
    /// <param name="follow">Of what a link points to; otherwise of the link.</param>
    public static int? OwnerOf(string path, bool follow)
    {
        // The layout of statx is the kernel's and the same on every processor, which that of stat is not.
        const int currentFolder = -100, noFollow = 0x100, wantOwner = 0x8, size = 256, maskAt = 0, ownerAt = 20;
        if (!OperatingSystem.IsLinux()) return null;
        var facts = new byte[size];
        try
        {
            if (StatX(currentFolder, Encoding.UTF8.GetBytes(path + '\0'), follow ? 0 : noFollow, wantOwner, facts) != 0) return null;
        }
        catch (EntryPointNotFoundException)
        {
            return null;
        }

        return (BitConverter.ToInt32(facts, maskAt) & wantOwner) == 0 ? null : BitConverter.ToInt32(facts, ownerAt);
    }

    [DllImport("libc", EntryPoint = "statx", SetLastError = true)]
    private static extern int StatX(int folder, byte[] path, int flags, uint mask, byte[] facts);

    [DllImport("libc", EntryPoint = "geteuid")]
    private static extern int GetEffectiveUser();

    [DllImport("libc", EntryPoint = "umask")]
    private static extern int SetMask(int mask);

    [DllImport("libc", EntryPoint = "kill", SetLastError = true)]
    private static extern int SendSignal(int pid, int signal);

    [DllImport("libc", EntryPoint = "getppid")]
    private static extern int GetParent();
}
