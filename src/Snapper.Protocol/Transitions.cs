using System.Runtime.CompilerServices;

namespace Snapper.Protocol;

/// <summary>
/// Counts transitions where they are taken, in programs that ask for it (the runtime setting <c>Snapper.CountTransitions</c>). In all others the
/// condition is a constant for the compiler at run time, and nothing of this is in the machine code: the product that is verified is the product.
/// </summary>
internal static class Transitions
{
    [ThreadStatic]
    private static long[]? t_counts;

    [ThreadStatic]
    private static long[]? t_ofSeveral;

    /// <summary>This program asks for counts.</summary>
    public static readonly bool AreCounted = AppContext.TryGetSwitch("Snapper.CountTransitions", out var on) && on;

    /// <summary>The transition is taken.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Note(Transition transition)
    {
        if (AreCounted)
        {
            Add(transition);
        }
    }

    /// <summary>As <see cref="Note(Transition)"/>, where a condition decides between two.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Note(bool first, Transition one, Transition other)
    {
        if (AreCounted)
        {
            Add(first ? one : other);
        }
    }

    /// <summary>A step that only several workers take is taken.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Note(ClusterTransition transition)
    {
        if (AreCounted)
        {
            Add(transition);
        }
    }

    /// <summary>As <see cref="Note(ClusterTransition)"/>, where a condition decides between two.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Note(bool first, ClusterTransition one, ClusterTransition other)
    {
        if (AreCounted)
        {
            Add(first ? one : other);
        }
    }

    /// <summary>Counts on this thread go there, by the number of the transition; null: nowhere.</summary>
    public static void CountInto(long[]? counts, long[]? ofSeveral = null) => (t_counts, t_ofSeveral) = (counts, ofSeveral);

    private static void Add(ClusterTransition transition)
    {
        if (t_ofSeveral is { } counts)
        {
            counts[(int)transition]++;
        }
    }

    private static void Add(Transition transition)
    {
        if (t_counts is { } counts)
        {
            counts[(int)transition]++;
        }
    }
}
