using System.Collections.Concurrent;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Statistics;
using Snapper.Judging.ListAppend;

namespace Snapper.Benchmarks.HotLists;

/// <summary>
/// The lists of one run and what was appended to them, shared by all its loops: whether it is all there in the end.
/// Thread-safe.
/// </summary>
/// <param name="prefix">Begins the names of its lists; no other run's lists may begin with it.</param>
public sealed class ListRun(string prefix)
{
    private const int ProblemsMax = 5;
    private const int ReadTogether = 16;

    private readonly ListAppendKeys _keys = new(prefix, HotList.Lists, HotList.AppendsPerList);
    private readonly ConcurrentQueue<ListOperation> _committed = new();
    private readonly ConcurrentQueue<ListOperation> _inDoubt = new();

    /// <summary>The next transaction of a loop.</summary>
    public ListTransaction Draw(ref FastRandom random)
    {
        var operations = new ListOperation[1 + random.Next(HotList.OperationsMax)];
        for (var i = 0; i < operations.Length; i++)
        {
            var key = _keys.At(HotList.Draw(ref random));
            operations[i] = new ListOperation(key, random.Next(2) == 0 ? _keys.NextValue() : null);
        }

        var waits = random.NextDouble() < HotList.WaitingShare;
        return new ListTransaction(operations, waits ? 1 + random.Next(HotList.DelayMsMax) : 0);
    }

    /// <summary>Notes how it ended.</summary>
    public void Note(ListTransaction transaction, in TransactionEnd end)
    {
        if (!end.Committed && !end.InDoubt)
        {
            return;
        }

        var notes = end.Committed ? _committed : _inDoubt;
        foreach (var operation in transaction.Operations)
        {
            if (operation.Value is not null)
            {
                notes.Enqueue(operation);
            }
        }
    }

    /// <summary>
    /// Each list must hold every value that was committed, once, and nothing else but values whose transaction is in
    /// doubt.
    /// </summary>
    /// <param name="read">Reads a list.</param>
    /// <returns>What is wrong; null: nothing.</returns>
    public async Task<string?> Check(Func<string, Task<IReadOnlyList<long>>> read)
    {
        var committed = _committed.ToLookup(static one => one.Key, static one => one.Value!.Value);
        var inDoubt = _inDoubt.ToLookup(static one => one.Key, static one => one.Value!.Value);
        var problems = new List<string>();
        foreach (var some in _keys.All.Chunk(ReadTogether))
        {
            var lists = await Task.WhenAll(some.Select(read));
            var judged = some.Zip(lists, (key, list) => Judge(key, list, committed[key], inDoubt[key]));
            problems.AddRange(judged.OfType<string>());
        }

        return problems.Count == 0 ? null : string.Join("; ", problems.Take(ProblemsMax));
    }

    private static string? Judge(
        string key, IReadOnlyList<long> list, IEnumerable<long> committed, IEnumerable<long> inDoubt)
    {
        var found = list.ToHashSet();
        var lost = committed.Where(value => !found.Contains(value)).ToArray();
        var foreign = list.Except(committed).Except(inDoubt).ToArray();
        return lost.Length > 0 ? $"list {key} lacks {lost.Length} committed values, {lost[0]} among them"
            : foreign.Length > 0
                ? $"list {key} has {foreign.Length} values that were not committed, {foreign[0]} among them"
            : found.Count < list.Count ? $"list {key} has values twice"
            : null;
    }
}
