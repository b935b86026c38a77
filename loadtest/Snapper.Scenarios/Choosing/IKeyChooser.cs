using Snapper.Benchmarks.Statistics;

namespace Snapper.Scenarios.Choosing;

/// <summary>Chooses which of the keys 0..n-1 a transaction touches. One thread at a time.</summary>
public interface IKeyChooser
{
    /// <summary>How many keys there are, at least 1.</summary>
    int Count { get; }

    /// <summary>For reports.</summary>
    string Describe();

    /// <summary>Draws a key.</summary>
    int Draw(ref FastRandom random);
}

/// <summary>Draws several different keys at once.</summary>
public static class DistinctKeys
{
    private const int DrawsMax = 200;

    /// <summary>
    /// Fills <paramref name="keys"/> with different keys, in random order: were the hot ones more often first, they would pay more than they are paid, and run out of money.
    /// </summary>
    /// <exception cref="ArgumentException">There are fewer keys than that.</exception>
    public static void Draw(IKeyChooser chooser, ref FastRandom random, Span<int> keys)
    {
        if (keys.Length > chooser.Count)
        {
            throw new ArgumentException($"A transaction touches {keys.Length} keys; there are only {chooser.Count}.", nameof(keys));
        }

        for (var i = 0; i < keys.Length; i++)
        {
            var drawn = chooser.Draw(ref random);
            for (var draws = 1; keys[..i].Contains(drawn); draws++)
            {
                // A distribution may have all its weight on fewer keys than are wanted.
                drawn = draws < DrawsMax ? chooser.Draw(ref random) : (drawn + 1) % chooser.Count;
            }

            keys[i] = drawn;
        }

        var first = random.Next(keys.Length);
        (keys[0], keys[first]) = (keys[first], keys[0]);
    }
}
