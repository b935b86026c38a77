namespace Snapper.Simulation.Running;

/// <summary>How often each of some kinds of events really happened.</summary>
/// <typeparam name="TKind">Their enumeration, numbered from 0 without holes.</typeparam>
public sealed class Tally<TKind>
    where TKind : struct, Enum
{
    /// <summary>All kinds, in the order of their numbers.</summary>
    public static IReadOnlyList<TKind> Kinds { get; } = Enum.GetValues<TKind>();

    /// <summary>Occurrences of a kind.</summary>
    public long this[TKind kind] => Counts[System.Runtime.CompilerServices.Unsafe.BitCast<TKind, int>(kind)];

    /// <summary>By number.</summary>
    internal long[] Counts { get; } = new long[Kinds.Count];

    /// <summary>The kinds that never happened.</summary>
    public IEnumerable<TKind> Silent => Kinds.Where(kind => this[kind] == 0);

    /// <summary>Adds another run's.</summary>
    public void Add(Tally<TKind> other)
    {
        ArgumentNullException.ThrowIfNull(other);
        for (var i = 0; i < Counts.Length; i++)
        {
            Counts[i] += other.Counts[i];
        }
    }

    internal void Note(TKind kind) => Counts[System.Runtime.CompilerServices.Unsafe.BitCast<TKind, int>(kind)]++;
}
