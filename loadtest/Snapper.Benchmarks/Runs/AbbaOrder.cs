namespace Snapper.Benchmarks.Runs;

/// <summary>
/// A-B-B-A: whatever drifts during the benchmark (heat, neighbours, a growing log) falls on both sides alike.
/// </summary>
public static class AbbaOrder
{
    /// <summary>Which side runs when: false for A, true for B; each side <paramref name="repetitions"/> times.</summary>
    public static IReadOnlyList<bool> Of(int repetitions) => [.. Of(2, repetitions).Select(static side => side == 1)];

    /// <summary>The same of any number of sides: forwards, backwards, and so on.</summary>
    public static IReadOnlyList<int> Of(int sides, int repetitions)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(repetitions, 1);
        var order = new int[sides * repetitions];
        for (var i = 0; i < order.Length; i++)
        {
            var (round, place) = Math.DivRem(i, sides);
            order[i] = round % 2 == 0 ? place : sides - 1 - place;
        }

        return order;
    }
}
