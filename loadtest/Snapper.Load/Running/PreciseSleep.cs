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
    private const int FirstInLine = -20;
    private const ulong NotToThreadsMadeByIt = 1;
    private const ulong ShortSlice = 100_000;
    private const long Billion = 1_000_000_000;

    // The wake-up itself takes longer than this; spinning for less than it costs nothing that anybody else could use.
    private static readonly long s_spin = Stopwatch.Frequency / 50_000;

    private static readonly bool s_isLinux = OperatingSystem.IsLinux() && Stopwatch.Frequency == Billion;

    /// <summary>
    /// Prepares the calling thread: the kernel shall wake it on the nanosecond, and at once also where more threads want to run than there are cores. That takes the highest of ordinary priorities,
    /// if we may have it, and a short slice, which brings an earlier turn.
    /// </summary>
    /// <remarks>
    /// Not a real-time priority: inside of sending it waits for locks of the runtime, spinning and offering its core to whoever holds one. A real-time thread offers it to nobody of ordinary
    /// priority: it kept the holder from its core for up to 7 ms.
    /// </remarks>
    /// <returns>What was granted, for the report.</returns>
    public static string Prepare()
    {
        if (!s_isLinux)
        {
            return "sleep and spin";
        }

        var slack = Prctl(SetTimerSlack, 1, 0, 0, 0) == 0 ? ", no timer slack" : "";
        return Ask(FirstInLine) ? $"absolute kernel sleep{slack}, highest ordinary priority" : $"absolute kernel sleep{slack}{(Ask(0) ? ", short slice" : "")}, ordinary priority";
    }

    private static bool Ask(int nice)
    {
        var attributes = new SchedulingAttributes { Size = (uint)sizeof(SchedulingAttributes), Flags = NotToThreadsMadeByIt, Nice = nice, SliceNanoseconds = ShortSlice };
        return SetAttributes is { } number && SystemCall(number, CallingThread, &attributes, 0) == 0;
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
