using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Snapper.Load.Running;

/// <summary>
/// Sleeps until a moment of <see cref="Stopwatch"/>, to some tens of microseconds, without keeping a core busy. On Linux by the kernel's absolute sleep on the same clock; elsewhere by
/// milliseconds of sleep and a spin over the last one.
/// </summary>
internal static unsafe partial class PreciseSleep
{
    private const int ClockMonotonic = 1;
    private const int AbsoluteTime = 1;
    private const int SetTimerSlack = 29;
    private const int CallingThread = 0;
    private const int RoundRobin = 2;
    private const int NotToThreadsMadeByIt = 0x40000000;
    private const int LeastPriority = 1;
    private const ulong ShortSlice = 100_000;
    private const long Billion = 1_000_000_000;

    // The wake-up itself takes longer than this; spinning for less than it costs nothing that anybody else could use.
    private static readonly long s_spin = Stopwatch.Frequency / 50_000;

    private static readonly bool s_isLinux = OperatingSystem.IsLinux() && Stopwatch.Frequency == Billion;

    /// <summary>
    /// Prepares the calling thread: the kernel shall wake it on the nanosecond, and at once also where more threads want to run than there are cores. That takes the least real-time priority, if we
    /// may have it; whoever may not asks for a short slice, which brings an earlier turn.
    /// </summary>
    /// <returns>What was granted, for the report.</returns>
    public static string Prepare()
    {
        if (!s_isLinux)
        {
            return "sleep and spin";
        }

        var slack = Prctl(SetTimerSlack, 1, 0, 0, 0) == 0 ? ", no timer slack" : "";
        var priority = LeastPriority;
        if (SetScheduler(CallingThread, RoundRobin | NotToThreadsMadeByIt, &priority) == 0)
        {
            return $"absolute kernel sleep{slack}, real-time priority";
        }

        var attributes = new SchedulingAttributes { Size = (uint)sizeof(SchedulingAttributes), SliceNanoseconds = ShortSlice };
        var slice = SetAttributes is { } number && SystemCall(number, CallingThread, &attributes, 0) == 0 ? ", short slice" : "";
        return $"absolute kernel sleep{slack}{slice}, ordinary priority";
    }

    /// <summary>Returns at that moment, or at once when it has passed.</summary>
    /// <param name="timestamp">In ticks of <see cref="Stopwatch"/>.</param>
    public static void Until(long timestamp)
    {
        var left = timestamp - Stopwatch.GetTimestamp();
        if (left > s_spin)
        {
            if (s_isLinux)
            {
                var until = timestamp - s_spin;
                var time = new Timespec(until / Billion, until % Billion);
                while (ClockNanosleep(ClockMonotonic, AbsoluteTime, &time, null) != 0 && Stopwatch.GetTimestamp() < until)
                {
                    // A signal woke us; the moment is absolute, so that going on is enough.
                }
            }
            else if (left > Stopwatch.Frequency / 500)
            {
                Thread.Sleep((int)((left * 1000 / Stopwatch.Frequency) - 1));
            }
        }

        while (Stopwatch.GetTimestamp() < timestamp)
        {
            Thread.SpinWait(10);
        }
    }

    [LibraryImport("libc", EntryPoint = "clock_nanosleep")]
    private static partial int ClockNanosleep(int clock, int flags, Timespec* request, Timespec* remaining);

    [LibraryImport("libc", EntryPoint = "prctl")]
    private static partial int Prctl(int option, nuint first, nuint second, nuint third, nuint fourth);

    [LibraryImport("libc", EntryPoint = "sched_setscheduler")]
    private static partial int SetScheduler(int thread, int policy, int* priority);

    [LibraryImport("libc", EntryPoint = "syscall")]
    private static partial nint SystemCall(nint number, nint thread, SchedulingAttributes* attributes, nint flags);

    /// <summary>Number of the system call sched_setattr, which libc has no name for; null: not known for this processor.</summary>
    private static nint? SetAttributes => RuntimeInformation.ProcessArchitecture switch
    {
        Architecture.X64 => 314,
        Architecture.Arm64 => 274,
        _ => null,
    };

    [StructLayout(LayoutKind.Sequential)]
    private struct SchedulingAttributes
    {
        public uint Size;
        public uint Policy;
        public ulong Flags;
        public int Nice;
        public uint Priority;
        public ulong SliceNanoseconds;
        public ulong Deadline;
        public ulong Period;
    }

    [StructLayout(LayoutKind.Sequential)]
    private readonly struct Timespec(long seconds, long nanoseconds)
    {
        public readonly nint Seconds = (nint)seconds;
        public readonly nint Nanoseconds = (nint)nanoseconds;
    }
}
