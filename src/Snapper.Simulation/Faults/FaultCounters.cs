namespace Snapper.Simulation.Faults;

/// <summary>How often each fault really happened.</summary>
public sealed class FaultCounters
{
    private readonly long[] _counts = new long[Enum.GetValues<FaultKind>().Length];

    /// <summary>Occurrences of a fault.</summary>
    public long this[FaultKind kind] => _counts[(int)kind];

    /// <summary>Adds another run's.</summary>
    public void Add(FaultCounters other)
    {
        ArgumentNullException.ThrowIfNull(other);
        for (var i = 0; i < _counts.Length; i++)
        {
            _counts[i] += other._counts[i];
        }
    }

    internal void Note(FaultKind kind) => _counts[(int)kind]++;
}
