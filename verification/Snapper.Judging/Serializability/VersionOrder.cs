using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

/// <summary>
/// The order of versions of every key, who wrote each, and where each write and read stands in it. <see cref="ListVersions"/> and
/// <see cref="RegisterVersions"/> fill it in; everything behind works with positions and does not ask what a key is.
/// </summary>
/// <remarks>A position is a version's place in its key's order, from 1; 0 is the key before its first version.</remarks>
internal sealed class VersionOrder
{
    private readonly History _history;
    private readonly ListVersions _lists;
    private readonly int[] _firstVersion;
    private readonly int[] _writeOfVersion;
    private readonly int[] _writtenBefore;
    private readonly int[] _writtenBehind;

    public VersionOrder(History history, Narrator narrator, AnomalyLog anomalies)
    {
        _history = history;
        TransactionOf = new int[history.OperationCount];
        PreviousOnKey = new int[history.OperationCount];
        NextOnKey = new int[history.OperationCount];
        Position = new int[history.OperationCount];
        SeenElsewhere = new bool[history.OperationCount];
        Counts = new bool[history.Count];
        LinkOperations(history);
        _lists = new ListVersions(history, this, narrator, anomalies);
        var registers = history.HasRegisters ? new RegisterVersions(history, this, narrator, anomalies) : null;
        _firstVersion = new int[history.KeyCount + 1];
        for (var key = 0; key < history.KeyCount; key++)
        {
            _firstVersion[key + 1] = _firstVersion[key] + (history.Key(key).Sort == KeySort.Register ? registers!.Versions(key) : _lists.Versions(key));
        }

        _writeOfVersion = new int[_firstVersion[^1]];
        Array.Fill(_writeOfVersion, -1);
        _lists.FindWriters();
        registers?.FindWriters();
        (_writtenBefore, _writtenBehind) = Neighbours(history.KeyCount);
    }

    /// <summary>The transaction of each operation.</summary>
    public int[] TransactionOf { get; }

    /// <summary>The operation of the same transaction on the same key before this one; -1 when there is none.</summary>
    public int[] PreviousOnKey { get; }

    /// <summary>The operation of the same transaction on the same key behind this one; -1 when there is none.</summary>
    public int[] NextOnKey { get; }

    /// <summary>For a write the position of its version, 0 when nothing tells it. For a committed read of a list or of a version that fits the order: what it saw, and -1 for other reads.</summary>
    public int[] Position { get; }

    /// <summary>Writes that only a list which fits nowhere has shown, or whose version another one claims: they were not lost, but their place is not known.</summary>
    public bool[] SeenElsewhere { get; }

    /// <summary>Transactions that take part in the graph: acknowledged commits, aborts that rest on what was read, and unknown ones that somebody has seen.</summary>
    public bool[] Counts { get; }

    /// <summary>How many versions a key has.</summary>
    public int Versions(int key) => _firstVersion[key + 1] - _firstVersion[key];

    /// <summary>The write that made the version at <paramref name="position"/> (from 1) of a key; -1 when none that is known did. Its transaction may be one that does not count.</summary>
    public int WriteOf(int key, int position) => _writeOfVersion[_firstVersion[key] + position - 1];

    /// <summary>The transaction that made the version; -1 when none that counts did.</summary>
    public int Writer(int key, int position)
    {
        var write = WriteOf(key, position);
        return write >= 0 && IsWriter(TransactionOf[write]) ? TransactionOf[write] : -1;
    }

    /// <summary>What it wrote happened.</summary>
    public bool IsWriter(int transaction) => Counts[transaction] && _history.Outcome(transaction) != ObservedOutcome.Aborted;

    /// <summary>The last position at or before the given one (from 0) whose writer counts; 0 when there is none.</summary>
    public int WrittenAtOrBefore(int key, int position) => position == 0 ? 0 : _writtenBefore[_firstVersion[key] + position - 1];

    /// <summary>The first position behind the given one (from 0) whose writer counts; 0 when there is none.</summary>
    public int WrittenBehind(int key, int position) => position == Versions(key) ? 0 : _writtenBehind[_firstVersion[key] + position];

    /// <summary>The committed read that shows the whole order of a list that somebody read.</summary>
    public int ReadOfWholeOrder(int key) => _lists.LongestRead(key);

    /// <summary>Enters the writer of a version.</summary>
    public void SetWriter(int key, int position, int write)
    {
        _writeOfVersion[_firstVersion[key] + position - 1] = write;
        Position[write] = position;
    }

    private void LinkOperations(History history)
    {
        var keys = history.OperationKeys;
        var last = new int[history.KeyCount];
        Array.Fill(last, -1);
        for (var transaction = 0; transaction < history.Count; transaction++)
        {
            Counts[transaction] = history.IsAnswer(transaction);
            var (first, end) = (history.FirstOperation[transaction], history.FirstOperation[transaction + 1]);
            for (var operation = first; operation < end; operation++)
            {
                ref var previous = ref last[keys[operation]];
                TransactionOf[operation] = transaction;
                NextOnKey[operation] = -1;
                PreviousOnKey[operation] = previous >= first ? previous : -1;
                if (previous >= first)
                {
                    NextOnKey[previous] = operation;
                }

                previous = operation;
            }
        }
    }

    /// <summary>Looked up once, so that a long stretch of versions without a writer costs its length once and not at every read.</summary>
    private (int[] Before, int[] Behind) Neighbours(int keys)
    {
        var before = new int[_writeOfVersion.Length];
        var behind = new int[_writeOfVersion.Length];
        for (var key = 0; key < keys; key++)
        {
            var (first, last) = (0, 0);
            for (var position = 1; position <= Versions(key); position++)
            {
                before[_firstVersion[key] + position - 1] = first = Writer(key, position) >= 0 ? position : first;
            }

            for (var position = Versions(key); position > 0; position--)
            {
                behind[_firstVersion[key] + position - 1] = last = Writer(key, position) >= 0 ? position : last;
            }
        }

        return (before, behind);
    }
}
