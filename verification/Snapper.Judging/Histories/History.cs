using System.Runtime.InteropServices;

namespace Snapper.Judging.Histories;

/// <summary>
/// The transactions of a run as their clients observed them, kept in columns: about 104 bytes per transaction and 13 per operation
/// (37 for registers), whatever the length of the lists that were read.
/// </summary>
/// <remarks>
/// <see cref="Add(ObservedTransaction)"/> may be called from many threads at once. Reading and checking must wait until the last call has returned.
/// The order of the calls has no meaning. At most 250 million operations.
/// </remarks>
public sealed class History
{
    /// <summary>The value column of a read whose result was not seen.</summary>
    internal const long Unseen = -1;

    private const int MostOperations = 250_000_000;

    private readonly Lock _adding = new();
    private readonly List<string> _ids = [];
    private readonly List<int> _lines = [];
    private readonly List<int> _processes = [];
    private readonly List<long> _invoked = [];
    private readonly List<long> _completed = [];
    private readonly List<byte> _flags = [];
    private readonly List<int> _attempts = [];
    private readonly List<int> _firstOperation = [0];
    private readonly List<int> _operationKeys = [];
    private readonly List<bool> _operationIsWrite = [];

    // An append's value; a list read's branch (upper half) and length (lower half); an index into _registers; or Unseen.
    private readonly List<long> _operationValues = [];
    private readonly List<RegisterAccess> _registers = [];
    private readonly List<ObservedKey> _keys = [];
    private readonly Dictionary<string, int> _keyIndex = [];
    private readonly List<int> _decidedNow = [];

    /// <summary>Transactions added so far.</summary>
    public int Count => _ids.Count;

    /// <summary>Micro-operations added so far.</summary>
    public int OperationCount => _operationKeys.Count;

    internal int KeyCount => _keys.Count;

    internal bool HasRegisters => _registers.Count > 0;

    internal ReadOnlySpan<long> Invoked => CollectionsMarshal.AsSpan(_invoked);

    internal ReadOnlySpan<long> Completed => CollectionsMarshal.AsSpan(_completed);

    internal ReadOnlySpan<int> FirstOperation => CollectionsMarshal.AsSpan(_firstOperation);

    internal ReadOnlySpan<int> OperationKeys => CollectionsMarshal.AsSpan(_operationKeys);

    internal ReadOnlySpan<bool> OperationIsWrite => CollectionsMarshal.AsSpan(_operationIsWrite);

    internal ReadOnlySpan<long> OperationValues => CollectionsMarshal.AsSpan(_operationValues);

    /// <summary>The transaction at <paramref name="index"/>, in the order of adding, put together anew on each call.</summary>
    public ObservedTransaction this[int index]
    {
        get
        {
            ArgumentOutOfRangeException.ThrowIfNegative(index);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(index, Count);
            var operations = new MicroOperation[_firstOperation[index + 1] - _firstOperation[index]];
            for (var operation = 0; operation < operations.Length; operation++)
            {
                operations[operation] = Operation(_firstOperation[index] + operation);
                if ((_flags[index] & 48) == 32 && operations[operation].Kind == MicroOperationKind.ReadList)
                {
                    operations[operation] = WithOwn(operations, operation);
                }
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
                ReadsCount = (_flags[index] & 96) != 0,
                Operations = operations,
            };
        }
    }

    /// <summary>Adds one transaction. Nothing of it is kept by reference but its id and its keys' names, so lists and operations may be reused.</summary>
    /// <exception cref="InvalidHistoryException">
    /// It completed before it was invoked or at the largest number there is, is committed without a completion time, or uses a list as a register or the reverse; nothing was added.
    /// </exception>
    public void Add(ObservedTransaction transaction) => Add(transaction, line: 0);

    /// <param name="transaction">The transaction.</param>
    /// <param name="line">Where it stands in a file, for messages; 0: in none.</param>
    /// <inheritdoc cref="Add(ObservedTransaction)" path="/exception"/>
    internal void Add(ObservedTransaction transaction, long line)
    {
        ArgumentNullException.ThrowIfNull(transaction);
        if (transaction.Completed < transaction.Invoked)
        {
            throw new InvalidHistoryException($"Transaction {transaction.Id} completed at {transaction.Completed}, before it was invoked at {transaction.Invoked}.");
        }

        if (transaction.Completed == long.MaxValue)
        {
            // The columns say "never" with it.
            throw new InvalidHistoryException($"Transaction {transaction.Id} completed at {long.MaxValue}; times are below that.");
        }

        if (transaction is { Outcome: ObservedOutcome.Committed, Completed: null })
        {
            throw new InvalidHistoryException($"Transaction {transaction.Id} is committed but has no completion time.");
        }

        if (transaction.ReadsCount && transaction is not { Outcome: ObservedOutcome.Aborted, Completed: not null })
        {
            throw new InvalidHistoryException(
                $"The reads of transaction {transaction.Id} count, and it is {(transaction.Completed is null ? "not completed" : "not aborted")}; that is said of aborts that were answered.");
        }

        lock (_adding)
        {
            var operations = transaction.Operations;
            if (_operationKeys.Count > MostOperations - operations.Count)
            {
                throw new InvalidHistoryException($"A history holds at most {MostOperations} operations; {transaction.Id} would be beyond that.");
            }

            FindKeys(transaction);
            _ids.Add(transaction.Id);
            _lines.Add((int)Math.Min(line, int.MaxValue));
            _processes.Add(transaction.Process);
            _invoked.Add(transaction.Invoked);
            _completed.Add(transaction.Completed ?? long.MaxValue);
            _flags.Add((byte)((int)transaction.Outcome | (int)transaction.Mode << 2 | (transaction.Parallel ? 16 : 0) | (!transaction.ReadsCount ? 0 : SeesItsOwn(transaction) ? 32 : 64)));
            _attempts.Add(transaction.Attempts);
            var isAnswer = (_flags[^1] & 32) != 0 || transaction.Outcome == ObservedOutcome.Committed;
            for (var index = 0; index < operations.Count; index++)
            {
                var operation = (_flags[^1] & 32) == 0 ? operations[index] : WithoutOwn(operations, index, transaction.Parallel)!.Value;
                _operationIsWrite.Add(operation.IsWrite);
                _operationValues.Add(ValueColumn(operation, _operationValues.Count, isAnswer));
            }

            _firstOperation.Add(_operationKeys.Count);
        }
    }

    /// <summary>Forgets all transactions and keeps the memory, for the next of many small histories.</summary>
    public void Clear()
    {
        lock (_adding)
        {
            _ids.Clear();
            _lines.Clear();
            _processes.Clear();
            _invoked.Clear();
            _completed.Clear();
            _flags.Clear();
            _attempts.Clear();
            _firstOperation.Clear();
            _firstOperation.Add(0);
            _operationKeys.Clear();
            _operationIsWrite.Clear();
            _operationValues.Clear();
            _registers.Clear();
            _keys.Clear();
            _keyIndex.Clear();
        }
    }

    internal string Id(int transaction) => _ids[transaction];

    /// <summary>The id, and the line of the file where it stands if it came from one.</summary>
    internal string Place(int transaction) => _lines[transaction] > 0 ? $"{_ids[transaction]} (line {_lines[transaction]})" : _ids[transaction];

    internal ObservedOutcome Outcome(int transaction) => (ObservedOutcome)(_flags[transaction] & 3);

    internal ObservedMode Mode(int transaction) => (ObservedMode)(_flags[transaction] >> 2 & 3);

    /// <summary>It was acknowledged, or its abort is an answer that rests on what it read: its reads are judged.</summary>
    internal bool IsAnswer(int transaction) => (_flags[transaction] & 32) != 0 || Outcome(transaction) == ObservedOutcome.Committed;

    /// <summary>Of an aborted one whose reads count: a list that it read did not end with what it had appended before.</summary>
    internal bool MissedItsOwn(int transaction) => (_flags[transaction] & 64) != 0;

    internal bool IsParallel(int transaction) => (_flags[transaction] & 16) != 0;

    internal ObservedKey Key(int key) => _keys[key];

    internal bool IsRegister(int operation) => _keys[_operationKeys[operation]].Sort == KeySort.Register;

    /// <summary>The branch of its key that a read returned a prefix of; not to be asked of an unseen read or of anything but a read of a list.</summary>
    internal int BranchOf(int readOperation) => (int)(_operationValues[readOperation] >> 32);

    /// <summary>How long the list was that a read returned; to be asked as <see cref="BranchOf"/>.</summary>
    internal int LengthOf(int readOperation) => (int)_operationValues[readOperation];

    /// <summary>What a read of a list returned; to be asked as <see cref="BranchOf"/>.</summary>
    internal ReadOnlySpan<long> ReadResult(int readOperation) =>
        _keys[_operationKeys[readOperation]].Branches[BranchOf(readOperation)].Values[..LengthOf(readOperation)];

    /// <summary>What a register's operation said; not to be asked of an unseen read or of a list.</summary>
    internal RegisterAccess Register(int operation) => _registers[(int)_operationValues[operation]];

    internal MicroOperation Operation(int operation)
    {
        var key = _keys[_operationKeys[operation]].Name;
        var value = _operationValues[operation];
        if (IsRegister(operation) && (_operationIsWrite[operation] || value != Unseen))
        {
            var (version, written) = (Register(operation).Version, Register(operation).Value);
            return _operationIsWrite[operation] ? MicroOperation.Write(key, version, written) : MicroOperation.ReadVersion(key, version, written);
        }

        return _operationIsWrite[operation] ? MicroOperation.Append(key, value)
            : value == Unseen ? MicroOperation.UnseenRead(key)
            : MicroOperation.Read(key, ReadResult(operation).ToArray());
    }

    private static bool SeesItsOwn(ObservedTransaction transaction)
    {
        for (var index = 0; index < transaction.Operations.Count; index++)
        {
            if (WithoutOwn(transaction.Operations, index, transaction.Parallel) is null)
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>What a read of an aborted transaction saw of others: its own appends and writes never happened.</summary>
    /// <param name="operations">Of the transaction.</param>
    /// <param name="index">The read, or anything else.</param>
    /// <param name="parallel">Issued at once: of its own appends any may be there, in any order.</param>
    /// <returns>Null: the list does not end with the appends that the transaction made before.</returns>
    private static MicroOperation? WithoutOwn(IReadOnlyList<MicroOperation> operations, int index, bool parallel)
    {
        var read = operations[index];
        if (read.Kind is not (MicroOperationKind.ReadList or MicroOperationKind.ReadRegister))
        {
            return read;
        }

        var length = read.Kind == MicroOperationKind.ReadList ? read.Length : 0;
        for (var other = (parallel ? operations.Count : index) - 1; other >= 0; other--)
        {
            var own = operations[other];
            if (!own.IsWrite || own.Key != read.Key)
            {
                continue;
            }

            if (read.Kind == MicroOperationKind.ReadRegister)
            {
                return MicroOperation.UnseenRead(read.Key);
            }

            if (length > 0 && read.Elements[length - 1] == own.Value)
            {
                length--;
                other = parallel ? operations.Count : other;
            }
            else if (!parallel)
            {
                return null;
            }
        }

        return read.Kind == MicroOperationKind.ReadList && length < read.Length ? MicroOperation.ReadPrefix(read.Key, read.Elements, length) : read;
    }

    /// <summary>Undoes <see cref="WithoutOwn"/>.</summary>
    private static MicroOperation WithOwn(MicroOperation[] operations, int index)
    {
        var list = new List<long>(operations[index].List!);
        for (var other = 0; other < index; other++)
        {
            if (operations[other].IsAppend && operations[other].Key == operations[index].Key)
            {
                list.Add(operations[other].Value);
            }
        }

        return MicroOperation.Read(operations[index].Key, [.. list]);
    }

    /// <summary>Enters the keys of all operations, or of none when one does not fit its key.</summary>
    private void FindKeys(ObservedTransaction transaction)
    {
        var first = _operationKeys.Count;
        _decidedNow.Clear();
        for (var index = 0; index < transaction.Operations.Count; index++)
        {
            var operation = transaction.Operations[index];
            if (!_keyIndex.TryGetValue(operation.Key, out var key))
            {
                key = _keys.Count;
                _keys.Add(new ObservedKey(operation.Key));
                _keyIndex.Add(operation.Key, key);
            }

            var sort = operation.Kind switch
            {
                MicroOperationKind.UnseenRead => _keys[key].Sort,
                MicroOperationKind.Append or MicroOperationKind.ReadList => KeySort.List,
                _ => KeySort.Register,
            };
            var known = _keys[key].Sort;
            if (known != KeySort.Undecided && known != sort)
            {
                CollectionsMarshal.SetCount(_operationKeys, first);
                _decidedNow.ForEach(decided => _keys[decided].Sort = KeySort.Undecided);
                throw new InvalidHistoryException(
                    $"Transaction {transaction.Id} uses {operation.Key} as a {Word(sort)} ({operation.Kind}); before, it was a {Word(known)}. A key is one or the other.");
            }

            if (known == KeySort.Undecided && sort != known)
            {
                _keys[key].Sort = sort;
                _decidedNow.Add(key);
            }

            _operationKeys.Add(key);
        }

        static string Word(KeySort sort) => sort == KeySort.List ? "list" : "register";
    }

    private long ValueColumn(MicroOperation operation, int index, bool committed)
    {
        switch (operation.Kind)
        {
            case MicroOperationKind.Append:
                return operation.Value;
            case MicroOperationKind.ReadList:
                return (long)_keys[_operationKeys[index]].Place(operation.Elements, operation.Length, index, committed) << 32 | (uint)operation.Length;
            case MicroOperationKind.UnseenRead:
                return Unseen;
            default:
                _registers.Add(new RegisterAccess(operation.Version, operation.HasValue ? operation.Value : null));
                return _registers.Count - 1;
        }
    }
}

/// <summary>The version and the value that an operation on a register told.</summary>
internal readonly record struct RegisterAccess(long? Version, long? Value);
