using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.Load;

/// <summary>Chooses the accounts of the next transaction.</summary>
public interface IAccountChooser
{
    /// <summary>How many accounts a transaction has.</summary>
    int Width { get; }

    /// <summary>Fills <paramref name="accounts"/>; the first one is the root. Safe from several threads with a generator each.</summary>
    void Draw(ref FastRandom random, Span<int> accounts);
}

/// <summary>
/// Distinct accounts from a (skewed) distribution. The root is one of them at random: were the hot accounts more often payer than payee,
/// they would run out of money and the benchmark would measure refusals.
/// </summary>
public sealed class TransferChooser(ZipfSampler sampler, int width) : IAccountChooser
{
    /// <inheritdoc />
    public int Width { get; } = width <= sampler.Count ? width : throw new ArgumentException("There are fewer accounts than a transaction needs.", nameof(width));

    /// <inheritdoc />
    public void Draw(ref FastRandom random, Span<int> accounts)
    {
        for (var i = 0; i < accounts.Length; i++)
        {
            int drawn;
            do
            {
                drawn = sampler.Draw(ref random);
            }
            while (accounts[..i].Contains(drawn));
            accounts[i] = drawn;
        }

        var root = random.Next(accounts.Length);
        (accounts[0], accounts[root]) = (accounts[root], accounts[0]);
    }
}

/// <summary>Every account once, in order, shared by all connections; for loading and for touching.</summary>
public sealed class SequentialChooser : IAccountChooser
{
    private int next = -1;

    /// <inheritdoc />
    public int Width => 1;

    /// <inheritdoc />
    public void Draw(ref FastRandom random, Span<int> accounts)
    {
        for (var i = 0; i < accounts.Length; i++)
        {
            accounts[i] = Interlocked.Increment(ref next) % AccountIds.CountMax;
        }
    }
}
