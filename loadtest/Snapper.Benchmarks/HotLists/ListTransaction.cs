namespace Snapper.Benchmarks.HotLists;

/// <summary>One operation on a list.</summary>
/// <param name="Key">Which list.</param>
/// <param name="Value">What to append; null: the list is read.</param>
public readonly record struct ListOperation(string Key, long? Value);

/// <summary>What one transaction does.</summary>
/// <param name="Operations">In the order in which they were drawn; at least one.</param>
/// <param name="DelayMs">How long it waits before the first one.</param>
public sealed record ListTransaction(IReadOnlyList<ListOperation> Operations, int DelayMs)
{
    /// <summary>The numbers of the operations in their own order.</summary>
    public IEnumerable<int> AsDrawn() => Enumerable.Range(0, Operations.Count);

    /// <summary>By list, in the same order for all transactions.</summary>
    public IEnumerable<int> ByList() => ListsInOrder();

    /// <summary>By list, and on each list the appends first.</summary>
    public IEnumerable<int> ByListAppendsFirst() => ListsInOrder().ThenBy(number => Operations[number].Value is null);

    private IOrderedEnumerable<int> ListsInOrder() =>
        AsDrawn().OrderBy(number => Operations[number].Key, StringComparer.Ordinal);
}
