using System.Runtime.InteropServices;

namespace Snapper.Testing.Histories;

/// <summary>
/// The transactions of a run as their clients observed them, kept in columns: about 100 bytes per transaction and 13 per operation,
/// whatever the length of the lists that were read.
/// </summary>
/// <remarks>
/// <see cref="Add"/> may be called from many threads at once. Reading and checking must wait until the last call has returned.
/// The order of the calls has no meaning.
/// </remarks>
public sealed class History
{
    /// <summary>The value column of a read whose result was not seen.</summary>
    internal const long Unseen = -1;

    private readonly Lock _adding = new();
    private readonly List<string> _ids = [];
    private readonly List<int> _processes = [];
    private readonly List<long> _invoked = [];
    private readonly List<long> _completed = [];
    private readonly List<byte> _flags = [];
    private readonly List<int> _attempts = [];
    private readonly List<int> _firstOperation = [0];
    private readonly List<int> _operationKeys = [];
    private readonly List<bool> _operationIsAppend = [];

    // An append's value; a read's length as a prefix of its key's trunk, Unseen, or -2 - index into _misfits.
    private readonly List<long> _operationValues = [];
    private readonly List<KeyTrunk> _keys = [];
    private readonly Dictionary<string, int> _keyIndex = [];
    private readonly List<long[]> _misfits = [];

    /// <summary>Transactions added so far.</summary>
    public int Count => _ids.Count;

    /// <summary>Micro-operations added so far.</summary>
    public int OperationCount => _operationKeys.Count;

    internal int KeyCount => _keys.Count;

    internal ReadOnlySpan<long> Invoked => CollectionsMarshal.AsSpan(_invoked);

    internal ReadOnlySpan<long> Completed => CollectionsMarshal.AsSpan(_completed);

    internal ReadOnlySpan<int> FirstOperation => CollectionsMarshal.AsSpan(_firstOperation);

    internal ReadOnlySpan<int> OperationKeys => CollectionsMarshal.AsSpan(_operationKeys);

    internal ReadOnlySpan<bool> OperationIsAppend => CollectionsMarshal.AsSpan(_operationIsAppend);

    internal ReadOnlySpan<long> OperationValues => CollectionsMarshal.AsSpan(_operationValues);

    /// <summary>The transaction at <paramref name="index"/>, in the order of adding, put together anew on each call.</summary>
    public ObservedTransaction this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(index);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(index, Count);
            var operations = new List<MicroOperation>();
            for (var operation = _firstOperation[index]; operation < _firstOperation[index + 1]; operation++)
            {
                var key = _keys[_operationKeys[operation]].Name;
                operations.Add(_operationIsAppend[operation] ? MicroOperation.Append(key, _operationValues[operation])
                    : _operationValues[operation] == Unseen ? MicroOperation.UnseenRead(key)
                    : MicroOperation.Read(key, ReadResult(operation).ToArray()));
            }

            return new ObservedTransaction
            {
                Id = _ids[index],
                Process = _processes[index],
                Invoked = _invoked[index],
                Completed = _completed[index] == long.MaxValue ? null : _completed[index],
                Outcome = Outcome(index),
                Mode = Mode(index),
                Attempts = _attempts[index],
                Parallel = IsParallel(index),
                Operations = operations,
            };
        }
    }

    /// <summary>Adds one transaction.</summary>
    /// <exception cref="InvalidHistoryException">
    /// It completed before it was invoked, or it is committed without a completion time; nothing was added.
    /// </exception>
    public void Add(ObservedTransaction transaction)
    {
        ArgumentNullException.ThrowIfNull(transaction);
        if (transaction.Completed < transaction.Invoked)
        {
            throw new InvalidHistoryException($"Transaction {transaction.Id} completed at {transaction.Completed}, before it was invoked at {transaction.Invoked}.");
        }

        if (transaction is { Outcome: ObservedOutcome.Committed, Completed: null })
        {
            throw new InvalidHistoryException($"Transaction {transaction.Id} is committed but has no completion time.");
        }

        lock (_adding)
        {
            _ids.Add(transaction.Id);
            _processes.Add(transaction.Process);
            _invoked.Add(transaction.Invoked);
            _completed.Add(transaction.Completed ?? long.MaxValue);
            _flags.Add((byte)((int)transaction.Outcome | (int)transaction.Mode << 2 | (transaction.Parallel ? 16 : 0)));
            _attempts.Add(transaction.Attempts);
            foreach (var operation in transaction.Operations)
            {
                AddOperation(operation, transaction.Outcome == ObservedOutcome.Committed);
            }

            _firstOperation.Add(_operationKeys.Count);
        }
    }

    internal string Id(int transaction) => _ids[transaction];

    internal int Process(int transaction) => _processes[transaction];

    internal ObservedOutcome Outcome(int transaction) => (ObservedOutcome)(_flags[transaction] & 3);

    internal ObservedMode Mode(int transaction) => (ObservedMode)(_flags[transaction] >> 2 & 3);

    internal bool IsParallel(int transaction) => (_flags[transaction] & 16) != 0;

    internal KeyTrunk Key(int key) => _keys[key];

    /// <summary>True when the read did not fit the other reads of its key.</summary>
    internal bool IsMisfit(int readOperation) => _operationValues[readOperation] <= -2;

    /// <summary>What a read returned; not to be asked of an unseen read or of an append.</summary>
    internal ReadOnlySpan<long> ReadResult(int readOperation)
    {
        var value = _operationValues[readOperation];
        return value <= -2 ? _misfits[(int)(-2 - value)] : _keys[_operationKeys[readOperation]].Values[..(int)value];
    }

    private void AddOperation(MicroOperation operation, bool committed)
    {
        if (!_keyIndex.TryGetValue(operation.Key, out var key))
        {
            key = _keys.Count;
            _keys.Add(new KeyTrunk(operation.Key));
            _keyIndex.Add(operation.Key, key);
        }

        var index = _operationKeys.Count;
        _operationKeys.Add(key);
        _operationIsAppend.Add(operation.IsAppend);
        _operationValues.Add(operation.IsAppend ? operation.Value : ReadValue(operation, key, index, committed));
    }

    private long ReadValue(MicroOperation operation, int key, int index, bool committed)
    {
        if (operation.List is null)
        {
            return Unseen;
        }

        // Only what committed transactions saw is a promise about the order of versions.
        var list = operation.List as long[] ?? [.. operation.List];
        if (committed && _keys[key].TryFit(list, index))
        {
            return list.Length;
        }

        _misfits.Add(list);
        return -2 - (_misfits.Count - 1);
    }
}
