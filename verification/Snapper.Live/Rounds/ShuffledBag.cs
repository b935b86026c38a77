namespace Snapper.Live.Rounds;

/// <summary>Every kind once in an order of the seed's, then all again in another.</summary>
/// <param name="kinds">At least one.</param>
/// <param name="random">Of the seed.</param>
internal sealed class ShuffledBag<TKind>(IEnumerable<TKind> kinds, Random random)
{
    private readonly Queue<TKind> _left = new();

    public TKind Next()
    {
        if (_left.Count == 0)
        {
            var order = kinds.ToArray();
            random.Shuffle(order);
            Array.ForEach(order, _left.Enqueue);
        }

        return _left.Dequeue();
    }
}
