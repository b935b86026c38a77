using Snapper.Simulation.Faults;

namespace Snapper.Simulation.Storage;

/// <summary>What goes wrong in one call of the file log: the step of a kind at which it does, or (null) nothing.</summary>
/// <param name="Fault">What happens.</param>
/// <param name="At">At which step, from 1; of the kind that the fault strikes.</param>
internal readonly record struct DiskFate(FaultKind? Fault, int At);

/// <summary>What a process asks of the disk.</summary>
internal enum DiskStep
{
    /// <summary>Reads a file or a list of names.</summary>
    Read,

    /// <summary>Creates, renames or deletes.</summary>
    Name,

    /// <summary>Writes bytes, or cuts some off.</summary>
    Write,

    /// <summary>Waits until a file is on disk.</summary>
    Flush,

    /// <summary>Waits until the names of a folder are on disk.</summary>
    FlushFolder,

    /// <summary>Takes a lock.</summary>
    Lock,
}
