using System.Runtime.InteropServices;
using Snapper.Testing.Histories;

namespace Snapper.Testing.Serializability;

/// <summary>
/// The order of versions of every key, taken from the longest list that a committed transaction read there, and who wrote each version.
/// Finds on the way what lists alone show: duplicates, phantoms, reads of aborted appends, lists that do not fit.
/// </summary>
internal sealed class VersionOrder
{
    private readonly History _history;
    private readonly Narrator _narrator;
    private readonly AnomalyLog _anomalies;
    private readonly Dictionary<(int Key, long Value), int> _appends;
    private readonly int[] _firstVersion;
    private readonly int[] _appendOfVersion;

    public VersionOrder(History history, Narrator narrator, AnomalyLog anomalies)
    {
        _history = history;
        _narrator = narrator;
        _anomalies = anomalies;
        TransactionOf = new int[history.OperationCount];
        Position = new int[history.OperationCount];
        SeenElsewhere = new bool[history.OperationCount];
        Counts = new bool[history.Count];
        _appends = IndexAppends();
        _firstVersion = new int[history.KeyCount + 1];
        for (var key = 0; key < history.KeyCount; key++)
        {
            _firstVersion[key + 1] = _firstVersion[key] + history.Key(key).Length;
        }

        _appendOfVersion = new int[_firstVersion[^1]];
        for (var key = 0; key < history.KeyCount; key++)
        {
            FindWriters(key);
        }

        JudgeMisfits();
    }

    /// <summary>The transaction of each operation.</summary>
    public int[] TransactionOf { get; }

    /// <summary>Where each append stands in its key's order, from 1; 0 when no committed transaction has seen it there.</summary>
    public int[] Position { get; }

    /// <summary>Appends that only a list which fits nowhere has shown: they were not lost, but their place is not known.</summary>
    public bool[] SeenElsewhere { get; }

    /// <summary>Transactions that take part in the graph: acknowledged commits, and unknown ones that somebody has seen.</summary>
    public bool[] Counts { get; }

    /// <summary>The transaction that wrote version <paramref name="position"/> (from 1) of a key; -1 when none that counts did.</summary>
    public int Writer(int key, int position)
    {
        var append = _appendOfVersion[_firstVersion[key] + position - 1];
        return append >= 0 && Counts[TransactionOf[append]] ? TransactionOf[append] : -1;
    }

    private Dictionary<(int Key, long Value), int> IndexAppends()
    {
        var keys = _history.OperationKeys;
        var isAppend = _history.OperationIsAppend;
        var values = _history.OperationValues;
        var first = _history.FirstOperation;
        var appends = new Dictionary<(int Key, long Value), int>(keys.Length / 2);
        for (var transaction = 0; transaction < _history.Count; transaction++)
        {
            Counts[transaction] = _history.Outcome(transaction) == ObservedOutcome.Committed;
            for (var operation = first[transaction]; operation < first[transaction + 1]; operation++)
            {
                TransactionOf[operation] = transaction;
                if (!isAppend[operation])
                {
                    continue;
                }

                ref var earlier = ref CollectionsMarshal.GetValueRefOrAddDefault(appends, (keys[operation], values[operation]), out var exists);
                if (exists)
                {
                    throw new InvalidHistoryException(
                        $"{_history.Id(TransactionOf[earlier])} and {_history.Id(transaction)} both append {values[operation]} to {_history.Key(keys[operation]).Name}; the values of a key must differ.");
                }

                earlier = operation;
            }
        }

        return appends;
    }

    private void FindWriters(int key)
    {
        var trunk = _history.Key(key);
        var values = trunk.Values;
        for (var index = 0; index < values.Length; index++)
        {
            var append = Seen(key, values, index, trunk.LongestRead);
            _appendOfVersion[_firstVersion[key] + index] = append;
            if (append >= 0)
            {
                Position[append] = index + 1;
            }
        }
    }

    /// <summary>The append of an element of a list that a committed transaction read; -1 when it is a phantom or a repetition.</summary>
    private int Seen(int key, ReadOnlySpan<long> list, int index, int read)
    {
        if (!_appends.TryGetValue((key, list[index]), out var append))
        {
            if (_anomalies.Count(AnomalyKind.PhantomAppend))
            {
                _anomalies.Explain(
                    AnomalyKind.PhantomAppend,
                    $"{_narrator.ReadBy(read)}, but nobody appended {list[index]} to it.\n{_narrator.Describe(TransactionOf[read])}",
                    _history.Id(TransactionOf[read]));
            }

            return -1;
        }

        if (Position[append] != 0)
        {
            CountDuplicate(list[index], read, append);
            return -1;
        }

        var writer = TransactionOf[append];
        if (_history.Outcome(writer) == ObservedOutcome.Aborted)
        {
            if (_anomalies.Count(AnomalyKind.AbortedRead))
            {
                _anomalies.Explain(
                    AnomalyKind.AbortedRead,
                    $"{_narrator.ReadBy(read)} with {list[index]}, which {_history.Id(writer)} appended, and {_history.Id(writer)} was reported as aborted.\n" +
                    _narrator.Describe(TransactionOf[read], writer),
                    _history.Id(TransactionOf[read]),
                    _history.Id(writer));
            }
        }
        else
        {
            Counts[writer] = true;
        }

        return append;
    }

    private void CountDuplicate(long value, int read, int append)
    {
        if (_anomalies.Count(AnomalyKind.DuplicateAppend))
        {
            _anomalies.Explain(
                AnomalyKind.DuplicateAppend,
                $"{_narrator.ReadBy(read)} with {value} more than once; {_history.Id(TransactionOf[append])} appended it once.\n" +
                _narrator.Describe(TransactionOf[read], TransactionOf[append]),
                _history.Id(TransactionOf[read]),
                _history.Id(TransactionOf[append]));
        }
    }

    private void JudgeMisfits()
    {
        var isAppend = _history.OperationIsAppend;
        for (var operation = 0; operation < isAppend.Length; operation++)
        {
            if (isAppend[operation] || !_history.IsMisfit(operation) || _history.Outcome(TransactionOf[operation]) != ObservedOutcome.Committed)
            {
                continue;
            }

            var key = _history.OperationKeys[operation];
            var trunk = _history.Key(key);
            if (_anomalies.Count(AnomalyKind.IncompatibleOrder))
            {
                _anomalies.Explain(
                    AnomalyKind.IncompatibleOrder,
                    $"{_narrator.ReadBy(operation)}, but {_narrator.ReadBy(trunk.LongestRead)}; neither is the beginning of the other " +
                    $"(they agree in the first {_history.ReadResult(operation).CommonPrefixLength(trunk.Values)}).\n" +
                    _narrator.Describe(TransactionOf[operation], TransactionOf[trunk.LongestRead]),
                    _history.Id(TransactionOf[operation]),
                    _history.Id(TransactionOf[trunk.LongestRead]));
            }

            JudgeElements(operation, key);
        }
    }

    private void JudgeElements(int misfit, int key)
    {
        var list = _history.ReadResult(misfit);
        var seen = new HashSet<long>();
        for (var index = 0; index < list.Length; index++)
        {
            if (!seen.Add(list[index]) && _appends.TryGetValue((key, list[index]), out var repeated))
            {
                CountDuplicate(list[index], misfit, repeated);
                continue;
            }

            // An element of the trunk has been judged there; a second word about it would only repeat the first.
            if (_appends.TryGetValue((key, list[index]), out var append) && (Position[append] != 0 || SeenElsewhere[append]))
            {
                continue;
            }

            append = Seen(key, list, index, misfit);
            if (append >= 0)
            {
                SeenElsewhere[append] = true;
            }
        }
    }
}
