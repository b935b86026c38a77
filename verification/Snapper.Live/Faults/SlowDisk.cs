using System.Runtime.InteropServices;

namespace Snapper.Live.Faults;

/// <summary>
/// A process whose disk is slow: each of its flushes (fsync, fdatasync) takes longer by a given time. Done as a debugger does it, by holding the process at
/// the end of the system call; the kernel allows that for descendants. Not for a process that this one has started itself: the runtime waits for its own
/// children, and would take the stops for itself.
/// </summary>
internal sealed class SlowDisk
{
    private const int InfoBytes = 88;
    private const int TrapSignal = 5;
    private const int StopEvent = 128;

    private readonly int _pid;
    private readonly TimeSpan _delay;
    private readonly Thread _thread;
    private readonly TaskCompletionSource<int> _attached = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile bool _end;
    private int _flushes;

    private SlowDisk(int pid, TimeSpan delay)
    {
        _pid = pid;
        _delay = delay;

        // The kernel takes orders from the attaching thread only.
        _thread = new Thread(Hold) { IsBackground = true, Name = "slow disk" };
        _thread.Start();
    }

    /// <summary>Flushes that were made slow.</summary>
    public int Flushes => Volatile.Read(ref _flushes);

    /// <summary>Makes the flushes of a process slow.</summary>
    /// <returns>Null with a reason when this machine does not allow it.</returns>
    public static async Task<(SlowDisk? Disk, string? WhyNot)> Attach(int pid, TimeSpan delay)
    {
        if (SystemCalls.Flushes.Count == 0)
        {
            return (null, $"not known how, on {RuntimeInformation.ProcessArchitecture}");
        }

        var disk = new SlowDisk(pid, delay);
        var error = await disk._attached.Task;
        return error == 0 ? (disk, null) : (null, $"ptrace of redis-server is refused: {Marshal.GetPInvokeErrorMessage(error)}");
    }

    /// <summary>The disk is as fast as before.</summary>
    public Task End()
    {
        _end = true;
        return _ended.Task;
    }

    private unsafe void Hold()
    {
        var error = SystemCalls.Trace(SystemCalls.Seize, _pid, 0, (void*)SystemCalls.MarkSystemCalls) == 0
            && SystemCalls.Trace(SystemCalls.Interrupt, _pid, 0, null) == 0 ? 0 : Marshal.GetLastPInvokeError();
        _attached.SetResult(error);
        if (error == 0)
        {
            FollowUntilItEnds();
        }

        _ended.SetResult();
    }

    private unsafe void FollowUntilItEnds()
    {
        var isFlush = false;
        int status;
        while (true)
        {
            if (SystemCalls.Wait(_pid, &status, SystemCalls.WaitForThreads) != _pid)
            {
                if (Marshal.GetLastPInvokeError() == SystemCalls.Interrupted)
                {
                    continue;
                }

                return;
            }

            if ((status & 0xff) != 0x7f)
            {
                // It has ended, by itself or by a signal.
                return;
            }

            var signal = (status >> 8) & 0xff;
            nint deliver = 0;
            var go = SystemCalls.StopAtSystemCalls;
            if (signal == (TrapSignal | 0x80))
            {
                isFlush = AtSystemCall(isFlush);
            }
            else if (status >> 16 == StopEvent)
            {
                // Our own interruption, or a stop of the whole process, which lasts until somebody continues it.
                go = signal == TrapSignal ? go : SystemCalls.Listen;
            }
            else
            {
                deliver = signal;
            }

            if (_end)
            {
                SystemCalls.Trace(SystemCalls.Detach, _pid, 0, (void*)deliver);
                return;
            }

            SystemCalls.Trace(go, _pid, 0, (void*)deliver);
        }
    }

    /// <summary>Notes which call begins; holds the process when a flush ends.</summary>
    private unsafe bool AtSystemCall(bool isFlush)
    {
        const byte entry = 1;
        const byte exit = 2;
        const int numberAt = 24;
        var info = stackalloc byte[InfoBytes];
        SystemCalls.Trace(SystemCalls.SystemCallInfo, _pid, InfoBytes, info);
        if (info[0] == entry)
        {
            return SystemCalls.Flushes.Contains(*(long*)(info + numberAt));
        }

        if (info[0] == exit && isFlush && !_end)
        {
            Interlocked.Increment(ref _flushes);
            Thread.Sleep(_delay);
        }

        return false;
    }
}
