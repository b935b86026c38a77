using System.Runtime.InteropServices;

namespace Snapper.Live.Faults;

/// <summary>What Linux lets a process do to its descendants: look at their system calls, and bound the length of their files. No program is needed for it.</summary>
internal static unsafe partial class SystemCalls
{
    public const int Interrupted = 4;
    public const int StopAtSystemCalls = 24;
    public const int Seize = 0x4206;
    public const int Interrupt = 0x4207;
    public const int Listen = 0x4208;
    public const int SystemCallInfo = 0x420e;
    public const int Detach = 17;

    /// <summary>Stops at system calls are marked by this bit, so that they are told from signals.</summary>
    public const int MarkSystemCalls = 1;

    public const int WaitForThreads = 0x40000000;
    private const int FileLength = 1;

    /// <summary>The numbers of fsync and fdatasync here; empty: not known for this processor.</summary>
    public static IReadOnlyList<long> Flushes { get; } = RuntimeInformation.ProcessArchitecture switch
    {
        Architecture.X64 => [74, 75],
        Architecture.Arm64 => [82, 83],
        _ => [],
    };

    [LibraryImport("libc", EntryPoint = "ptrace", SetLastError = true)]
    public static partial nint Trace(nint request, int pid, nint address, void* data);

    [LibraryImport("libc", EntryPoint = "waitpid", SetLastError = true)]
    public static partial int Wait(int pid, int* status, int options);

    /// <summary>Bounds the length of all files that a process writes to; a longer one gives an error there.</summary>
    /// <exception cref="InvalidOperationException">It is not allowed.</exception>
    public static void LimitFiles(int pid, ulong bytes)
    {
        // The hard limit stays, so that it can be lifted again.
        ulong* before = stackalloc ulong[2];
        if (SetLimit(pid, FileLength, null, before) == 0)
        {
            ulong* now = stackalloc ulong[2] { Math.Min(bytes, before[1]), before[1] };
            if (SetLimit(pid, FileLength, now, null) == 0)
            {
                return;
            }
        }

        throw new InvalidOperationException($"The files of process {pid} cannot be bounded: {Marshal.GetLastPInvokeErrorMessage()}");
    }

    [LibraryImport("libc", EntryPoint = "prlimit64", SetLastError = true)]
    private static partial int SetLimit(int pid, int resource, ulong* limit, ulong* before);
}
