using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

/// <summary>
/// The versions of registers: the numbers that committed transactions told, in rising order, are the order of a key's versions. Finds who made each, and on the way
/// versions that two made, that nobody made, or that an aborted transaction made.
/// </summary>
internal sealed class RegisterVersions
{
    private readonly History _history;
    private readonly VersionOrder _order;
    private readonly Narrator _narrator;
    private readonly AnomalyLog _anomalies;

    // The versions of key k, rising, at _first[k] up to _first[k + 1]; for each the read that shows it, or -1.
    private readonly int[] _first;
    private readonly long[] _numbers;
    private readonly int[] _readOf;

    public RegisterVersions(History history, VersionOrder order, Narrator narrator, AnomalyLog anomalies)
    {
        _history = history;
        _order = order;
        _narrator = narrator;
        _anomalies = anomalies;
        (_first, _numbers) = Collect();
        _readOf = new int[_numbers.Length];
        Array.Fill(_readOf, -1);
    }

    public int Versions(int key) => _first[key + 1] - _first[key];

    public void FindWriters()
    {
        PlaceReads();
        PlaceWrites(ObservedOutcome.Committed);
        PlaceWrites(ObservedOutcome.Unknown);
        PlaceWrites(ObservedOutcome.Aborted);
        MatchValues();
        for (var operation = 0; operation < _order.Position.Length; operation++)
        {
            if (_history.IsRegister(operation) && _history.OperationIsWrite[operation] && _order.Position[operation] > 0)
            {
                JudgeWriter(operation);
            }
        }
    }

    private bool Tells(int operation) =>
        _history.IsRegister(operation) && (_history.OperationIsWrite[operation] || _history.OperationValues[operation] != History.Unseen);

    private (int[] First, long[] Numbers) Collect()
    {
        var told = new List<(int Key, long Version)>();
        for (var operation = 0; operation < _history.OperationCount; operation++)
        {
            if (!Tells(operation) || !_history.IsAnswer(_order.TransactionOf[operation])
                || (_history.OperationIsWrite[operation] && _history.Outcome(_order.TransactionOf[operation]) != ObservedOutcome.Committed))
            {
                continue;
            }

            var key = _history.OperationKeys[operation];
            if (_history.Register(operation).Version is { } version)
            {
                told.Add((key, version));
            }
            else if (_history.OperationIsWrite[operation] && !WritesLater(operation))
            {
                throw new InvalidHistoryException(
                    $"{_history.Place(_order.TransactionOf[operation])} is committed, but its last write of {_history.Key(key).Name} tells no version; registers need it.");
            }
        }

        told.Sort();
        var first = new int[_history.KeyCount + 1];
        var numbers = new List<long>();
        for (var index = 0; index < told.Count; index++)
        {
            if (told[index].Version != 0 && (index == 0 || told[index] != told[index - 1]))
            {
                numbers.Add(told[index].Version);
                first[told[index].Key + 1]++;
            }
        }

        for (var key = 0; key < _history.KeyCount; key++)
        {
            first[key + 1] += first[key];
        }

        return (first, [.. numbers]);
    }

    private bool WritesLater(int write)
    {
        var later = _order.NextOnKey[write];
        while (later >= 0 && !_history.OperationIsWrite[later])
        {
            later = _order.NextOnKey[later];
        }

        return later >= 0 || (_history.IsParallel(_order.TransactionOf[write]) && WroteBefore(write));
    }

    private bool WroteBefore(int write)
    {
        var earlier = _order.PreviousOnKey[write];
        while (earlier >= 0 && !_history.OperationIsWrite[earlier])
        {
            earlier = _order.PreviousOnKey[earlier];
        }

        return earlier >= 0;
    }

    /// <summary>The position of a version, from 1, or 0 for version 0; -1 when no committed transaction told of it.</summary>
    private int Rank(int key, long version)
    {
        var rank = version == 0 ? 0 : Array.BinarySearch(_numbers, _first[key], Versions(key), version) - _first[key] + 1;
        return rank > 0 || version == 0 ? rank : -1;
    }

    private void PlaceReads()
    {
        for (var operation = 0; operation < _order.Position.Length; operation++)
        {
            if (!_history.IsRegister(operation) || _history.OperationIsWrite[operation])
            {
                continue;
            }

            _order.Position[operation] = -1;
            if (Tells(operation) && _history.IsAnswer(_order.TransactionOf[operation]) && _history.Register(operation).Version is { } version)
            {
                var key = _history.OperationKeys[operation];
                var position = _order.Position[operation] = Rank(key, version);
                if (position > 0 && (_readOf[_first[key] + position - 1] < 0 || _history.Register(_readOf[_first[key] + position - 1]).Value is null))
                {
                    _readOf[_first[key] + position - 1] = operation;
                }
            }
        }
    }

    /// <summary>Those who say which version they made. An unknown or aborted one is believed only about a version that was read and that no better witness claims.</summary>
    private void PlaceWrites(ObservedOutcome outcome)
    {
        for (var operation = 0; operation < _order.Position.Length; operation++)
        {
            var writer = _order.TransactionOf[operation];
            if (!_history.IsRegister(operation) || !_history.OperationIsWrite[operation] || _history.Outcome(writer) != outcome
                || _history.Register(operation).Version is not { } version)
            {
                continue;
            }

            var key = _history.OperationKeys[operation];
            var position = Rank(key, version);
            var other = position > 0 ? _order.WriteOf(key, position) : -1;
            if (other >= 0 && _order.TransactionOf[other] == writer)
            {
                // One version for all its writes: the last of them is what others see.
                _order.Position[other] = 0;
                other = -1;
            }

            if (position > 0 && other < 0)
            {
                _order.SetWriter(key, position, operation);
            }
            else if (outcome == ObservedOutcome.Committed)
            {
                // The order in which they were recorded has no say.
                var (first, second) = Earlier(other, operation) ? (other, operation) : (operation, other);
                _order.Position[second] = 0;
                _order.SetWriter(key, position, first);
                _order.SeenElsewhere[second] = true;
                ReportFork(key, version, first, second);
            }
        }
    }

    private bool Earlier(int one, int other)
    {
        var (first, second) = (_order.TransactionOf[one], _order.TransactionOf[other]);
        return _history.Completed[first] != _history.Completed[second]
            ? _history.Completed[first] < _history.Completed[second]
            : string.CompareOrdinal(_history.Id(first), _history.Id(second)) <= 0;
    }

    /// <summary>Versions that nobody claims: a write that did not learn its version may have made them, and its value tells.</summary>
    private void MatchValues()
    {
        var ofKey = new Dictionary<int, List<int>>();
        var ofValue = new Dictionary<(int Key, long? Value), List<int>>();
        for (var operation = 0; operation < _order.Position.Length; operation++)
        {
            if (_history.IsRegister(operation) && _history.OperationIsWrite[operation] && _history.Register(operation) is { Version: null } write)
            {
                var key = _history.OperationKeys[operation];
                (ofKey.TryGetValue(key, out var known) ? known : ofKey[key] = []).Add(operation);
                (ofValue.TryGetValue((key, write.Value), out var same) ? same : ofValue[(key, write.Value)] = []).Add(operation);
            }
        }

        for (var key = 0; key < _history.KeyCount; key++)
        {
            for (var position = 1; position <= Versions(key); position++)
            {
                if (_order.WriteOf(key, position) >= 0)
                {
                    continue;
                }

                var read = _readOf[_first[key] + position - 1];
                var value = _history.Register(read).Value;
                var likely = value is null ? ofKey.GetValueOrDefault(key) : ofValue.GetValueOrDefault((key, value));
                var possible = value is null ? null : ofValue.GetValueOrDefault((key, null));
                var candidates = (likely?.Count ?? 0) + (possible?.Count ?? 0);

                // With several candidates nothing can be told, and nothing is, unless all of them are reported as aborted.
                if (candidates <= 1 || (AllAborted(likely) && AllAborted(possible)))
                {
                    JudgeCandidate(key, position, read, candidates == 0 ? -1 : (likely ?? possible)![0]);
                }
            }
        }
    }

    private bool AllAborted(List<int>? writes) => writes is null || writes.TrueForAll(write => _history.Outcome(_order.TransactionOf[write]) == ObservedOutcome.Aborted);

    private void JudgeCandidate(int key, int position, int read, int write)
    {
        if (write < 0)
        {
            Report(AnomalyKind.PhantomAppend, read, read, $"{_narrator.ReadBy(read)}, but nobody wrote that.");
        }
        else if (_order.Position[write] != 0)
        {
            Report(AnomalyKind.DuplicateAppend, read, write, $"{_narrator.ReadBy(read)}, which only the write of {Id(write)} explains, and that one made another version already.");
        }
        else
        {
            _order.SetWriter(key, position, write);
        }
    }

    private void JudgeWriter(int write)
    {
        var writer = _order.TransactionOf[write];
        var outcome = _history.Outcome(writer);
        var read = _readOf[_first[_history.OperationKeys[write]] + _order.Position[write] - 1];
        if (outcome == ObservedOutcome.Unknown)
        {
            _order.Counts[writer] = true;
        }
        else if (outcome == ObservedOutcome.Aborted)
        {
            Report(AnomalyKind.AbortedRead, read, write, $"{_narrator.ReadBy(read)}, which {Id(write)} wrote, and {Id(write)} was reported as aborted.");
        }
    }

    private void ReportFork(int key, long version, int one, int other)
    {
        if (_anomalies.Count(AnomalyKind.IncompatibleOrder))
        {
            _anomalies.Explain(
                AnomalyKind.IncompatibleOrder,
                $"{Id(one)} and {Id(other)} both made version {version} of {_history.Key(key).Name}.\n{_narrator.Describe(key, _order.TransactionOf[one], _order.TransactionOf[other])}",
                Id(one),
                Id(other));
        }
    }

    private void Report(AnomalyKind kind, int read, int write, string why)
    {
        if (_anomalies.Count(kind))
        {
            int[] involved = _order.TransactionOf[read] == _order.TransactionOf[write] ? [_order.TransactionOf[read]] : [_order.TransactionOf[read], _order.TransactionOf[write]];
            _anomalies.Explain(kind, $"{why}\n{_narrator.Describe(_history.OperationKeys[read], involved)}", [.. involved.Select(_history.Id)]);
        }
    }

    private string Id(int operation) => _history.Id(_order.TransactionOf[operation]);
}
