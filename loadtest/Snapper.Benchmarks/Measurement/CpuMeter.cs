namespace Snapper.Benchmarks.Measurement;

/// <summary>A process whose CPU time counts.</summary>
/// <param name="Role">What the tables call it.</param>
/// <param name="ProcessId">Its id.</param>
/// <param name="MayEnd">True for what serves no requests, such as a tool that a launcher ran: its end is no reason to distrust the run; then it counts nothing.</param>
public readonly record struct MeasuredProcess(string Role, int ProcessId, bool MayEnd = false);

/// <summary>CPU time of a group of processes and of this one (the load generator) between two moments.</summary>
public sealed class CpuMeter
{
    /// <summary>What this process is called.</summary>
    public const string Generator = "load generator";

    private readonly IReadOnlyList<MeasuredProcess> processes;
    private readonly long[] atStart;
    private readonly TimeSpan ownAtStart;

    private CpuMeter(IReadOnlyList<MeasuredProcess> processes)
    {
        this.processes = processes;
        atStart = new long[processes.Count];
        for (var i = 0; i < atStart.Length; i++)
        {
            atStart[i] = Read(processes[i]) ?? 0;
        }

        ownAtStart = Environment.CpuUsage.TotalTime;
    }

    /// <summary>Starts measuring.</summary>
    /// <exception cref="InvalidOperationException">One of the processes has ended.</exception>
    public static CpuMeter Start(IReadOnlyList<MeasuredProcess> processes) => new(processes);

    /// <summary>CPU microseconds by role since the start; processes of the same role are added up, this process comes last.</summary>
    /// <param name="ownRole">What this process is called: in process it is the system as well.</param>
    /// <exception cref="InvalidOperationException">One of the processes has ended: the measurement is worth nothing.</exception>
    public IReadOnlyList<CpuShare> Stop(string ownRole = Generator)
    {
        var own = Environment.CpuUsage.TotalTime - ownAtStart;
        var shares = new List<CpuShare>();
        for (var i = 0; i < atStart.Length; i++)
        {
            var used = Read(processes[i]) is { } now ? now - atStart[i] : 0;
            var role = processes[i].Role;
            var known = shares.FindIndex(share => share.Role == role);
            if (known < 0)
            {
                shares.Add(new CpuShare(role, used));
            }
            else
            {
                shares[known] = new CpuShare(role, shares[known].Microseconds + used);
            }
        }

        shares.Add(new CpuShare(ownRole, own.TotalMicroseconds));
        return shares;
    }

    private static long? Read(MeasuredProcess process) =>
        process.MayEnd ? ProcStat.TryRead(process.ProcessId)?.CpuMicroseconds : ProcStat.Read(process.ProcessId).CpuMicroseconds;
}

/// <summary>CPU time that one role used.</summary>
public readonly record struct CpuShare(string Role, double Microseconds);
