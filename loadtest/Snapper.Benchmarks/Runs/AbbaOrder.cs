namespace Snapper.Benchmarks.Runs;

/// <summary>
/// A-B-B-A: whatever drifts during the benchmark (heat, neighbours, a growing log) falls on both sides alike.
/// </summary>
public static class AbbaOrder
{
    /// <summary>Which side runs when: false for A, true for B; each side <paramref name="repetitions"/> times.</summary>
    public static IReadOnlyList<bool> Of(int repetitions)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(repetitions, 1);
        var order = new bool[repetitions * 2];
        for (var i = 0; i < order.Length; i++)
        {
            order[i] = (i & 3) is 1 or 2;
        }

        return order;
    }
}
