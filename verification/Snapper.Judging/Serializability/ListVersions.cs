using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

/// <summary>
/// The versions of lists: the longest list that a committed transaction read at a key is the order of its versions, each element one of them.
/// Finds on the way what lists alone show: duplicates, phantoms, reads of aborted appends, lists that fork.
/// </summary>
internal sealed class ListVersions
{
    private readonly History _history;
    private readonly VersionOrder _order;
    private readonly Narrator _narrator;
    private readonly AnomalyLog _anomalies;
    private readonly AppendIndex _appends;

    // Per key the branch that is its order; -1 for a key that nobody read.
    private readonly int[] _main;

    // How far a branch agrees with its key's order, for branches that are not the order themselves.
    private readonly Dictionary<(int Key, int Branch), int> _common = [];

    public ListVersions(History history, VersionOrder order, Narrator narrator, AnomalyLog anomalies)
    {
        _history = history;
        _order = order;
        _narrator = narrator;
        _anomalies = anomalies;
        _appends = new AppendIndex(history, order.TransactionOf);
        _main = new int[history.KeyCount];
        for (var key = 0; key < _main.Length; key++)
        {
            _main[key] = Longest(history.Key(key).Branches);
        }
    }

    public int Versions(int key) => _main[key] < 0 ? 0 : Main(key).CommittedLength;

    public int LongestRead(int key) => Main(key).LongestRead;

    public void FindWriters()
    {
        for (var key = 0; key < _main.Length; key++)
        {
            for (var index = 0; index < Versions(key); index++)
            {
                var append = Seen(key, Main(key).Committed[index], Main(key).LongestRead);
                if (append >= 0)
                {
                    _order.SetWriter(key, index + 1, append);
                }
            }
        }

        PlaceReads();
        for (var key = 0; key < _main.Length; key++)
        {
            for (var branch = 0; branch < _history.Key(key).Branches.Count; branch++)
            {
                if (branch != _main[key])
                {
                    JudgeElements(key, _history.Key(key).Branches[branch]);
                }
            }
        }
    }

    /// <summary>The longest, and among equals the one whose elements are the smallest, so that the order in which reads were recorded has no say.</summary>
    private static int Longest(IReadOnlyList<ObservedKey.Branch> branches)
    {
        var longest = -1;
        for (var index = 0; index < branches.Count; index++)
        {
            var one = branches[index];
            if (one.LongestRead >= 0 && (longest < 0 || one.CommittedLength > branches[longest].CommittedLength
                || (one.CommittedLength == branches[longest].CommittedLength && one.Committed.SequenceCompareTo(branches[longest].Committed) < 0)))
            {
                longest = index;
            }
        }

        return longest;
    }

    private ObservedKey.Branch Main(int key) => _history.Key(key).Branches[_main[key]];

    /// <summary>The append of an element of a list that a committed transaction read; -1 when it is a phantom or a repetition.</summary>
    private int Seen(int key, long value, int read)
    {
        var reader = _order.TransactionOf[read];
        var append = _appends.Find(key, value);
        if (append < 0)
        {
            if (_anomalies.Count(AnomalyKind.PhantomAppend))
            {
                _anomalies.Explain(
                    AnomalyKind.PhantomAppend, $"{_narrator.ReadBy(read)}, but nobody appended {value} to it.\n{_narrator.Describe(key, reader)}", _history.Id(reader));
            }

            return -1;
        }

        if (_order.Position[append] != 0)
        {
            CountDuplicate(value, read, append);
            return -1;
        }

        var writer = _order.TransactionOf[append];
        if (_history.Outcome(writer) != ObservedOutcome.Aborted)
        {
            _order.Counts[writer] = true;
        }
        else if (_anomalies.Count(AnomalyKind.AbortedRead))
        {
            _anomalies.Explain(
                AnomalyKind.AbortedRead,
                $"{_narrator.ReadBy(read)} with {value}, which {_history.Id(writer)} appended, and {_history.Id(writer)} was reported as aborted.\n" +
                _narrator.Describe(key, reader, writer),
                _history.Id(reader),
                _history.Id(writer));
        }

        return append;
    }

    private void CountDuplicate(long value, int read, int append)
    {
        if (_anomalies.Count(AnomalyKind.DuplicateAppend))
        {
            var (reader, writer) = (_order.TransactionOf[read], _order.TransactionOf[append]);
            _anomalies.Explain(
                AnomalyKind.DuplicateAppend,
                $"{_narrator.ReadBy(read)} with {value} more than once; {_history.Id(writer)} appended it once.\n" +
                _narrator.Describe(_history.OperationKeys[append], reader, writer),
                _history.Id(reader),
                _history.Id(writer));
        }
    }

    private void PlaceReads()
    {
        for (var operation = 0; operation < _order.Position.Length; operation++)
        {
            if (_history.OperationIsWrite[operation] || _history.IsRegister(operation))
            {
                continue;
            }

            var committed = _history.OperationValues[operation] != History.Unseen && _history.IsAnswer(_order.TransactionOf[operation]);
            _order.Position[operation] = committed && Fits(operation) ? _history.LengthOf(operation) : -1;
        }
    }

    private bool Fits(int read)
    {
        var key = _history.OperationKeys[read];
        if (_history.BranchOf(read) == _main[key])
        {
            return true;
        }

        var main = Main(key);
        var branch = _history.BranchOf(read);
        if (!_common.TryGetValue((key, branch), out var common))
        {
            _common[(key, branch)] = common = _history.Key(key).Branches[branch].Values.CommonPrefixLength(main.Committed);
        }

        if (_history.LengthOf(read) <= common)
        {
            return true;
        }

        if (_anomalies.Count(AnomalyKind.IncompatibleOrder))
        {
            var (one, other) = (_order.TransactionOf[read], _order.TransactionOf[main.LongestRead]);
            _anomalies.Explain(
                AnomalyKind.IncompatibleOrder,
                $"{_narrator.ReadBy(read, common)}, but {_narrator.ReadBy(main.LongestRead, common)}; neither is the beginning of the other (they agree in the first {common}).\n" +
                _narrator.Describe(key, one, other),
                _history.Id(one),
                _history.Id(other));
        }

        return false;
    }

    private void JudgeElements(int key, ObservedKey.Branch branch)
    {
        var list = branch.Committed;
        var seen = new HashSet<long>();
        foreach (var value in list)
        {
            var append = _appends.Find(key, value);
            if (!seen.Add(value) && append >= 0)
            {
                CountDuplicate(value, branch.LongestRead, append);
                continue;
            }

            // An element that has been judged in another list gets no second word: it would only repeat the first.
            if (append >= 0 && (_order.Position[append] != 0 || _order.SeenElsewhere[append]))
            {
                continue;
            }

            append = Seen(key, value, branch.LongestRead);
            if (append >= 0)
            {
                _order.SeenElsewhere[append] = true;
            }
        }
    }
}
