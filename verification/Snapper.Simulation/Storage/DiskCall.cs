using Snapper.Simulation.Faults;

namespace Snapper.Simulation.Storage;

/// <summary>One call of a process' file log: done at once, or step by step with virtual time between the steps.</summary>
/// <param name="begin">Does the work and keeps what came of it.</param>
/// <param name="fate">What goes wrong in it.</param>
internal sealed class DiskCall(Action<DiskCall> begin, DiskFate fate)
{
    private int _steps;

    public DiskFate Fate { get; } = fate;

    /// <summary>The thread on which it stands still between steps; null: it is done at once.</summary>
    public Fiber? Fiber { get; set; }

    /// <summary>How long the step under way takes, in ticks.</summary>
    public long Pause { get; set; }

    /// <summary>It ended its process, or the whole machine.</summary>
    public FaultKind? Crashed { get; set; }

    /// <summary>What follows its end, on the simulator's thread.</summary>
    public Action? Ended { get; set; }

    public void Work() => begin(this);

    /// <summary>True: this step is the one that the fate strikes.</summary>
    public bool Strikes(DiskStep step, bool isAnyStep)
    {
        var counts = isAnyStep || Fate.Fault switch
        {
            FaultKind.DiskReadFails => step == DiskStep.Read,
            FaultKind.DiskWriteFails or FaultKind.DiskFull => step == DiskStep.Write,
            FaultKind.DiskFlushFails => step == DiskStep.Flush,
            FaultKind.DiskFolderFlushFails => step == DiskStep.FlushFolder,
            _ => false,
        };
        return counts && ++_steps == Fate.At;
    }
}

/// <summary>The process was killed while it worked: nothing that it does any more has an effect.</summary>
internal sealed class ProcessEndedException : Exception;
