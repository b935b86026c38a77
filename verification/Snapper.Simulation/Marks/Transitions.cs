namespace Snapper.Simulation.Marks;

/// <summary>Counts transitions. The verification build compiles this into <c>Snapper.Protocol</c>, because the marks
/// in the product's copies call it; no other build has marks.</summary>
internal static class Transitions
{
    [ThreadStatic]
    private static long[]? t_counts;

    [ThreadStatic]
    private static long[]? t_ofSeveral;

    /// <summary>The transition is taken.</summary>
    public static void Note(Transition transition)
    {
        if (t_counts is { } counts)
        {
            counts[(int)transition]++;
        }
    }

    /// <summary>A step that only several workers take is taken.</summary>
    public static void Note(ClusterTransition transition)
    {
        if (t_ofSeveral is { } counts)
        {
            counts[(int)transition]++;
        }
    }

    /// <summary>As <see cref="Note(Transition)"/>, where a condition decides between two.</summary>
    public static void Note(bool first, Transition one, Transition other) => Note(first ? one : other);

    /// <summary>As <see cref="Note(ClusterTransition)"/>, where a condition decides between two.</summary>
    public static void Note(bool first, ClusterTransition one, ClusterTransition other) => Note(first ? one : other);

    /// <summary>Counts on this thread go there, by the number of the transition; null: nowhere.</summary>
    public static void CountInto(long[]? counts, long[]? ofSeveral = null) =>
        (t_counts, t_ofSeveral) = (counts, ofSeveral);
}
