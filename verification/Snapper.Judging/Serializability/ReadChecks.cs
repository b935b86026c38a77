using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

/// <summary>
/// Checks each committed transaction against itself and its reads against their writers, and finds for every read how much of the list was
/// there before the transaction's own appends: the version it read from others.
/// </summary>
internal sealed class ReadChecks
{
    /// <summary>The external version of an operation that is no usable read.</summary>
    public const int None = -1;

    private readonly History _history;
    private readonly VersionOrder _order;
    private readonly Narrator _narrator;
    private readonly AnomalyLog _anomalies;
    private readonly RegisterReads _registers;

    // The last transaction that was found to contradict itself; one word about each is enough.
    private int _contradicted = -1;

    public ReadChecks(History history, VersionOrder order, Narrator narrator, AnomalyLog anomalies)
    {
        _history = history;
        _order = order;
        _narrator = narrator;
        _anomalies = anomalies;
        _registers = new RegisterReads(history, order, this);
        ExternalVersion = new int[history.OperationCount];
        Array.Fill(ExternalVersion, None);
        for (var transaction = 0; transaction < history.Count; transaction++)
        {
            if (history.IsAnswer(transaction))
            {
                Check(transaction);
            }

            if (history.MissedItsOwn(transaction))
            {
                var read = history.FirstOperation[transaction];
                while (history.OperationIsWrite[read] || history.OperationValues[read] == History.Unseen)
                {
                    read++;
                }

                ReportInternal(read, "and a list that it read does not end with what it had itself appended before");
            }

            if (order.IsWriter(transaction) && !history.IsParallel(transaction) && transaction != _contradicted)
            {
                CheckAppendOrder(transaction);
            }
        }
    }

    /// <summary>For each operation: the position of the last version a committed read saw that is not its transaction's own, 0 for the empty list, or <see cref="None"/>.</summary>
    public int[] ExternalVersion { get; }

    /// <summary>Committed reads with a result.</summary>
    public int Reads { get; private set; }

    private void Check(int transaction)
    {
        var parallel = _history.IsParallel(transaction);
        for (var operation = _history.FirstOperation[transaction]; operation < _history.FirstOperation[transaction + 1]; operation++)
        {
            if (_history.OperationIsWrite[operation] || _history.OperationValues[operation] == History.Unseen)
            {
                continue;
            }

            Reads++;
            if (_history.IsRegister(operation))
            {
                ExternalVersion[operation] = _registers.ExternalVersion(operation);
            }
            else
            {
                var external = _history.Outcome(transaction) == ObservedOutcome.Aborted ? _history.LengthOf(operation) // without its own already
                    : parallel ? WithoutOwnTail(operation) : WithoutOwnAppends(operation);
                if (_order.Position[operation] < 0)
                {
                    continue;
                }

                CheckOwnPositions(operation, external);
                ExternalVersion[operation] = external;
            }

            if (ExternalVersion[operation] != None)
            {
                CheckRepeatable(operation);
                CheckIntermediate(operation);
            }
        }
    }

    /// <summary>Appends of one transaction to one key must stand in the order in which it made them, none left out before one that was seen.</summary>
    private void CheckAppendOrder(int transaction)
    {
        for (var operation = _history.FirstOperation[transaction]; operation < _history.FirstOperation[transaction + 1]; operation++)
        {
            if (!JudgedForOrder(operation))
            {
                continue;
            }

            var later = _order.NextOnKey[operation];
            while (later >= 0 && !JudgedForOrder(later))
            {
                later = _order.NextOnKey[later];
            }

            // Neighbours are enough: where all neighbours are in order, all are.
            if (later >= 0 && _order.Position[later] is var position and > 0 && (_order.Position[operation] == 0 || _order.Position[operation] > position))
            {
                ReportAppendOrder(transaction, operation, later);
                return;
            }
        }
    }

    /// <summary>A register's writes need not all make versions, so what is told of them is less.</summary>
    private bool JudgedForOrder(int operation) => _history.OperationIsWrite[operation] && !_order.SeenElsewhere[operation]
        && (!_history.IsRegister(operation) || _order.Position[operation] > 0);

    /// <summary>The list must end with exactly the appends that the transaction made to the key before, in their order.</summary>
    private int WithoutOwnAppends(int read)
    {
        var list = _history.ReadResult(read);
        var external = list.Length;
        for (var earlier = _order.PreviousOnKey[read]; earlier >= 0; earlier = _order.PreviousOnKey[earlier])
        {
            if (!_history.OperationIsWrite[earlier])
            {
                continue;
            }

            var value = _history.OperationValues[earlier];
            if (external == 0 || list[external - 1] != value)
            {
                ReportInternal(read, $"although it had appended {value} before, which should stand {(external == list.Length ? "at the end" : "before its later appends")}");
                return external;
            }

            external--;
        }

        return external;
    }

    /// <summary>Issued at once, so the read may have seen any of the transaction's own appends, but only at the end of the list.</summary>
    private int WithoutOwnTail(int read)
    {
        var list = _history.ReadResult(read);
        var external = list.Length;
        while (external > 0 && OwnAppend(read, list[external - 1]))
        {
            external--;
        }

        return external;
    }

    private bool OwnAppend(int read, long value)
    {
        for (var operation = FirstOnKey(read); operation >= 0; operation = _order.NextOnKey[operation])
        {
            if (_history.OperationIsWrite[operation] && _history.OperationValues[operation] == value)
            {
                return true;
            }
        }

        return false;
    }

    private int FirstOnKey(int operation)
    {
        while (_order.PreviousOnKey[operation] is var previous and >= 0)
        {
            operation = previous;
        }

        return operation;
    }

    private void CheckOwnPositions(int read, int external)
    {
        for (var operation = FirstOnKey(read); operation >= 0; operation = _order.NextOnKey[operation])
        {
            if (_history.OperationIsWrite[operation] && _order.Position[operation] is var position and > 0 && position <= external)
            {
                var when = operation < read || _history.IsParallel(_order.TransactionOf[read]) ? "but in the wrong place" : "although it appended that only later";
                ReportInternal(read, $"which contains its own {_history.OperationValues[operation]}, {when}");
                return;
            }
        }
    }

    private void CheckRepeatable(int read)
    {
        for (var earlier = _order.PreviousOnKey[read]; earlier >= 0; earlier = _order.PreviousOnKey[earlier])
        {
            if (_history.OperationIsWrite[earlier] || ExternalVersion[earlier] == None)
            {
                continue;
            }

            // That one has been compared with those before it.
            if (ExternalVersion[earlier] != ExternalVersion[read])
            {
                ReportInternal(read, $"although it had read {_narrator.Result(earlier)} before, and its own {(_history.IsRegister(read) ? "writes" : "appends")} do not make the difference");
            }

            return;
        }
    }

    private void CheckIntermediate(int read)
    {
        var external = ExternalVersion[read];
        var key = _history.OperationKeys[read];
        var seen = external == 0 ? -1 : _order.WriteOf(key, external);
        if (seen < 0 || !_order.IsWriter(_order.TransactionOf[seen]) || _order.TransactionOf[seen] == _order.TransactionOf[read])
        {
            return;
        }

        // A list misses any other append of the writer; a register's earlier writes are rightly gone.
        for (var operation = _history.IsRegister(read) ? _order.NextOnKey[seen] : FirstOnKey(seen); operation >= 0; operation = _order.NextOnKey[operation])
        {
            if (_history.OperationIsWrite[operation] && !_order.SeenElsewhere[operation] && (_order.Position[operation] == 0 || _order.Position[operation] > external))
            {
                ReportIntermediate(read, seen, $"with one {(_history.IsRegister(read) ? "write" : "append")} of {Id(seen)}, without its {_narrator.Written(operation)}");
                return;
            }
        }
    }

    private string Id(int operation) => _history.Id(_order.TransactionOf[operation]);

    /// <summary>G1b.</summary>
    public void ReportIntermediate(int read, int write, string why)
    {
        if (_anomalies.Count(AnomalyKind.IntermediateRead))
        {
            _anomalies.Explain(
                AnomalyKind.IntermediateRead,
                $"{_narrator.ReadBy(read)}: {why}.\n{_narrator.Describe(_history.OperationKeys[read], _order.TransactionOf[read], _order.TransactionOf[write])}",
                Id(read),
                Id(write));
        }
    }

    /// <summary>A register's version with another value than was written.</summary>
    public void ReportWrongValue(int read, int write)
    {
        if (_anomalies.Count(AnomalyKind.WrongValue))
        {
            _anomalies.Explain(
                AnomalyKind.WrongValue,
                $"{_narrator.ReadBy(read)}, but {Id(write)} wrote {_narrator.Result(write)} there.\n{_narrator.Describe(_history.OperationKeys[read], _order.TransactionOf[read], _order.TransactionOf[write])}",
                Id(read),
                Id(write));
        }
    }

    /// <summary>A transaction contradicts itself.</summary>
    public void ReportInternal(int read, string why)
    {
        if (_contradicted == _order.TransactionOf[read])
        {
            return;
        }

        _contradicted = _order.TransactionOf[read];
        if (_anomalies.Count(AnomalyKind.Internal))
        {
            _anomalies.Explain(
                AnomalyKind.Internal,
                $"{_narrator.ReadBy(read)}, {why}.\n{_narrator.Describe(_history.OperationKeys[read], _order.TransactionOf[read])}",
                Id(read));
        }
    }

    private void ReportAppendOrder(int transaction, int write, int later)
    {
        if (!_anomalies.Count(AnomalyKind.Internal))
        {
            return;
        }

        var key = _history.OperationKeys[write];
        var name = _history.Key(key).Name;
        if (_history.IsRegister(write))
        {
            _anomalies.Explain(
                AnomalyKind.Internal,
                $"{_history.Id(transaction)} made {_narrator.Written(write)} of {name} before {_narrator.Written(later)}.\n{_narrator.Describe(key, transaction)}",
                _history.Id(transaction));
            return;
        }

        var read = _order.ReadOfWholeOrder(key);
        var reader = _order.TransactionOf[read];
        _anomalies.Explain(
            AnomalyKind.Internal,
            $"{_history.Id(transaction)} appended {_narrator.Written(write)} to {name} before {_narrator.Written(later)}, " +
            $"but {_narrator.ReadBy(read)}.\n{_narrator.Describe(key, [.. new[] { transaction, reader }.Distinct()])}",
            [.. new[] { transaction, reader }.Distinct().Select(_history.Id)]);
    }
}
