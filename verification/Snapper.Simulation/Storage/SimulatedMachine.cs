using Snapper.Simulation.Core;
using Snapper.Simulation.Faults;

namespace Snapper.Simulation.Storage;

/// <summary>The machine on which the workers run: its disk, how long that takes, and what goes wrong with it.</summary>
internal sealed class SimulatedMachine(World world)
{
    /// <summary>Where the file log is.</summary>
    public const string LogFolder = "/data/workers/w1";

    /// <summary>What a worker remembers outside of its log.</summary>
    public const string MemoryFile = "/data/remembered/w1.json";

    private readonly Queue<FaultKind> _planned = new();

    public SeededChance Chance { get; } = SeededChance.For(world.Scenario.Seed, ChanceOf.Machine);

    public SimulatedDisk Disk => field ??= new SimulatedDisk(Chance, world.Faults);

    /// <summary>Share of calls that are carried out step by step though nothing asks for it, in per cent.</summary>
    public int SteppedPercent => world.Scenario.SteppedPercent;

    /// <summary>The disk does nothing but fail.</summary>
    public bool IsDown => !world.IsHealed && world.Now < world.Storage.DownUntil;

    /// <summary>No write has room.</summary>
    public bool IsFull => !world.IsHealed && world.Now < world.Storage.FullUntil;

    /// <summary>A planned fault has not happened yet.</summary>
    public bool HasPlans => _planned.Count > 0;

    /// <summary>From now on each call is in for a fault, until one was long enough for it to happen.</summary>
    public void Plan(FaultKind kind) => _planned.Enqueue(kind);

    /// <summary>A fault has happened.</summary>
    public void Struck(FaultKind kind)
    {
        if (_planned.TryPeek(out var next) && next == kind)
        {
            _planned.Dequeue();
        }
    }

    /// <summary>What goes wrong in a call.</summary>
    public DiskFate Draw()
    {
        if (world.IsHealed)
        {
            return default;
        }

        if (_planned.TryPeek(out var planned))
        {
            return new DiskFate(planned, planned is FaultKind.MachineCrash or FaultKind.CrashInDiskCall or FaultKind.DiskStall ? StepOfACrash() : 1);
        }

        if (!Chance.PerMille(world.Scenario.StorageFaultPerMille))
        {
            return default;
        }

        return Chance.Next(9) switch
        {
            0 => new DiskFate(FaultKind.CrashInDiskCall, StepOfACrash()),
            1 => new DiskFate(FaultKind.MachineCrash, StepOfACrash()),
            2 => new DiskFate(FaultKind.DiskFull, Chance.Between(1, 2)),
            3 => new DiskFate(FaultKind.DiskWriteFails, Chance.Between(1, 2)),
            4 => new DiskFate(FaultKind.DiskFolderFlushFails, 1),
            5 => new DiskFate(FaultKind.DiskReadFails, Chance.Between(1, 3)),
            6 => new DiskFate(FaultKind.DiskStall, Chance.Between(1, 6)),
            _ => new DiskFate(FaultKind.DiskFlushFails, Chance.Between(1, 2)),
        };
    }

    // An append has four steps, an opening about twenty.
    private int StepOfACrash() => Chance.Percent(60) ? Chance.Between(3, 6) : Chance.Between(1, 24);

    /// <summary>How long a step takes when others may do something meanwhile.</summary>
    public long StepTime(DiskStep step) => step is DiskStep.Flush or DiskStep.FlushFolder
        ? Chance.Between(500, 5 * TimeSpan.TicksPerMillisecond)
        : Chance.Between(0, TimeSpan.TicksPerMillisecond / 2);

    /// <summary>How long a call took that was carried out at once.</summary>
    public long CallTime() => Chance.Between(500, 2 * TimeSpan.TicksPerMillisecond);
}
