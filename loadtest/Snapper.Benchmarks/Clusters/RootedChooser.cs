using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.Clusters;

/// <summary>
/// Draws of another chooser whose first account is of one worker, as a client sees them that sends to the root's owner.
/// </summary>
/// <param name="accounts">The other chooser.</param>
/// <param name="owners">The worker of each account.</param>
/// <param name="worker">Number of the worker.</param>
public sealed class RootedChooser(IAccountChooser accounts, IReadOnlyList<int> owners, int worker) : IAccountChooser
{
    /// <inheritdoc />
    public int Width => accounts.Width;

    /// <inheritdoc />
    public void Draw(ref FastRandom random, Span<int> drawn)
    {
        do
        {
            accounts.Draw(ref random, drawn);
        }
        while (owners[drawn[0]] != worker);
    }
}
