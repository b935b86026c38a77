using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

/// <summary>Adds the write-write, write-read and read-write edges.</summary>
internal sealed class DataDependencies
{
    private readonly History _history;
    private readonly VersionOrder _order;
    private readonly ReadChecks _reads;
    private readonly DependencyGraph.Builder _graph;
    private readonly bool[] _lost;
    private readonly int[] _lastWriter;

    // Per key, the transactions whose appends nobody has seen: they stand, in an unknown order, behind every version that was read.
    // Of a register only in-doubt ones, which stand anywhere behind version 0.
    private readonly int[] _firstUnseen;
    private readonly int[] _unseenWriters;

    // Helper nodes per unseen writer i of a key: _from[i] leads to writers i, i+1, ...; _upTo[i] to writers i, i-1, ... A reader that
    // is itself an unseen writer must reach all of them but itself.
    private readonly int[] _from;
    private readonly int[] _upTo;

    public DataDependencies(History history, VersionOrder order, ReadChecks reads, bool[] lost, DependencyGraph.Builder graph)
    {
        _history = history;
        _order = order;
        _reads = reads;
        _graph = graph;
        _lost = lost;
        _lastWriter = new int[history.KeyCount];
        (_firstUnseen, _unseenWriters) = UnseenWriters(lost);
        _from = new int[_unseenWriters.Length];
        _upTo = new int[_unseenWriters.Length];
    }

    public void Add()
    {
        for (var key = 0; key < _history.KeyCount; key++)
        {
            AddVersions(key);
            AddUnseen(key);
        }

        for (var operation = 0; operation < _reads.ExternalVersion.Length; operation++)
        {
            if (_reads.ExternalVersion[operation] != ReadChecks.None)
            {
                AddRead(operation);
            }
        }
    }

    private void AddVersions(int key)
    {
        var previous = -1;
        for (var position = 1; position <= _order.Versions(key); position++)
        {
            var writer = IsLost(key, position) ? -1 : _order.Writer(key, position);
            if (writer >= 0 && previous >= 0 && writer != previous)
            {
                _graph.Add(previous, writer, EdgeKind.WriteWrite, key);
            }

            previous = writer >= 0 ? writer : previous;
        }

        _lastWriter[key] = previous;
    }

    private bool IsRegister(int key) => _history.Key(key).Sort == KeySort.Register;

    /// <summary>A register's write that was reported as lost: its edges would only say the same once more.</summary>
    private bool IsLost(int key, int position) => _order.WriteOf(key, position) is var write and >= 0 && _lost[write];

    private void AddUnseen(int key)
    {
        var first = _firstUnseen[key];
        for (var index = first; index < _firstUnseen[key + 1]; index++)
        {
            var writer = _unseenWriters[index];
            if (_lastWriter[key] >= 0 && _lastWriter[key] != writer && !IsRegister(key))
            {
                _graph.Add(_lastWriter[key], writer, EdgeKind.WriteWrite, key);
            }

            _from[index] = _graph.AddHelper();
            _upTo[index] = _graph.AddHelper();
            _graph.Add(_from[index], writer, EdgeKind.Continue, key);
            _graph.Add(_upTo[index], writer, EdgeKind.Continue, key);
            if (index > first)
            {
                _graph.Add(_from[index - 1], _from[index], EdgeKind.Continue, key);
                _graph.Add(_upTo[index], _upTo[index - 1], EdgeKind.Continue, key);
            }
        }
    }

    private void AddRead(int read)
    {
        var key = _history.OperationKeys[read];
        var reader = _order.TransactionOf[read];
        var version = _reads.ExternalVersion[read];
        var behind = _order.WrittenBehind(key, version);
        if (_order.WrittenAtOrBefore(key, version) is var seen and > 0 && _order.Writer(key, seen) is var from && from != reader)
        {
            _graph.Add(from, reader, EdgeKind.WriteRead, key);
        }

        if (behind > 0 && !IsLost(key, behind))
        {
            // When the reader itself wrote the next version, its write-write edges say the rest.
            if (_order.Writer(key, behind) is var to && to != reader)
            {
                _graph.Add(reader, to, EdgeKind.ReadWrite, key);
            }

            if (!IsRegister(key))
            {
                return;
            }
        }

        // A register's write whose place is not known comes behind version 0, and that is all that is known.
        if (version == 0 || !IsRegister(key))
        {
            AddReadBeforeUnseen(reader, key);
        }
    }

    private void AddReadBeforeUnseen(int reader, int key)
    {
        var first = _firstUnseen[key];
        var end = _firstUnseen[key + 1];
        var own = Array.BinarySearch(_unseenWriters, first, end - first, reader);
        var behind = own >= 0 ? own + 1 : first;
        if (behind < end)
        {
            _graph.Add(reader, _from[behind], EdgeKind.ReadWrite, key);
        }

        if (own > first)
        {
            _graph.Add(reader, _upTo[own - 1], EdgeKind.ReadWrite, key);
        }
    }

    private (int[] First, int[] Writers) UnseenWriters(bool[] lost)
    {
        var first = new int[_history.KeyCount + 1];
        var last = new int[_history.KeyCount];
        Array.Fill(last, -1);
        for (var operation = 0; operation < lost.Length; operation++)
        {
            if (IsUnseen(operation, lost, last))
            {
                first[_history.OperationKeys[operation] + 1]++;
            }
        }

        for (var key = 0; key < _history.KeyCount; key++)
        {
            first[key + 1] += first[key];
        }

        var next = first[..^1];
        var writers = new int[first[^1]];
        Array.Fill(last, -1);
        for (var operation = 0; operation < lost.Length; operation++)
        {
            if (IsUnseen(operation, lost, last))
            {
                writers[next[_history.OperationKeys[operation]]++] = _order.TransactionOf[operation];
            }
        }

        return (first, writers);
    }

    /// <param name="operation">Asked about.</param>
    /// <param name="lost">Lost appends have been reported, and would only make the same cycle over and over.</param>
    /// <param name="last">Per key the transaction counted last; one that appends twice counts once.</param>
    private bool IsUnseen(int operation, bool[] lost, int[] last)
    {
        if (!_history.OperationIsWrite[operation] || _order.Position[operation] != 0 || _order.SeenElsewhere[operation] || lost[operation]
            || !_order.IsWriter(_order.TransactionOf[operation])
            || (_history.IsRegister(operation) && _history.Outcome(_order.TransactionOf[operation]) != ObservedOutcome.Unknown))
        {
            return false;
        }

        ref var lastWriter = ref last[_history.OperationKeys[operation]];
        if (lastWriter == _order.TransactionOf[operation])
        {
            return false;
        }

        lastWriter = _order.TransactionOf[operation];
        return true;
    }
}
