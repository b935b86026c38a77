namespace Snapper.Benchmarks.Statistics;

/// <summary>
/// Draws ranks 0..n-1 with probability proportional to 1 / (rank + 1)^exponent; exponent 0 is uniform. Exact for every exponent, 1 and above
/// included: Walker's alias table (Vose's construction) over the whole distribution, one table look-up per draw.
/// </summary>
public sealed class ZipfSampler
{
    private readonly double[] threshold;
    private readonly int[] alias;

    /// <param name="count">How many ranks, at least 1.</param>
    /// <param name="exponent">0 (uniform) and above.</param>
    public ZipfSampler(int count, double exponent)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(count, 1);
        ArgumentOutOfRangeException.ThrowIfNegative(exponent);
        Count = count;
        Exponent = exponent;
        threshold = new double[count];
        alias = new int[count];
        Build(Probabilities(count, exponent));
    }

    /// <summary>How many ranks there are.</summary>
    public int Count { get; }

    /// <summary>The skew.</summary>
    public double Exponent { get; }

    /// <summary>The exact distribution that is sampled.</summary>
    public static double[] Probabilities(int count, double exponent)
    {
        var probabilities = new double[count];
        var sum = 0.0;

        // Smallest first keeps the rounding error of the sum small.
        for (var i = count - 1; i >= 0; i--)
        {
            probabilities[i] = Math.Pow(i + 1, -exponent);
            sum += probabilities[i];
        }

        for (var i = 0; i < count; i++)
        {
            probabilities[i] /= sum;
        }

        return probabilities;
    }

    /// <summary>Draws a rank; 0 is the most frequent.</summary>
    public int Draw(ref FastRandom random)
    {
        var column = random.Next(threshold.Length);
        return random.NextDouble() < threshold[column] ? column : alias[column];
    }

    /// <summary>The probability of each rank as the finished table yields it; for tests.</summary>
    public double[] TableProbabilities()
    {
        var probabilities = new double[Count];
        for (var i = 0; i < Count; i++)
        {
            probabilities[i] += threshold[i] / Count;
            probabilities[alias[i]] += (1 - threshold[i]) / Count;
        }

        return probabilities;
    }

    private void Build(double[] probabilities)
    {
        var small = new Stack<int>();
        var large = new Stack<int>();
        for (var i = 0; i < Count; i++)
        {
            threshold[i] = probabilities[i] * Count;
            alias[i] = i;
            (threshold[i] < 1 ? small : large).Push(i);
        }

        while (small.Count > 0 && large.Count > 0)
        {
            var under = small.Pop();
            var over = large.Pop();
            alias[under] = over;
            threshold[over] = threshold[over] + threshold[under] - 1;
            (threshold[over] < 1 ? small : large).Push(over);
        }

        // What is left over is 1 up to rounding.
        foreach (var i in small)
        {
            threshold[i] = 1;
        }

        foreach (var i in large)
        {
            threshold[i] = 1;
        }
    }
}
