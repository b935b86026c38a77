using Snapper.Testing.Histories;

namespace Snapper.Testing.Serializability;

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

    public ReadChecks(History history, VersionOrder order, Narrator narrator, AnomalyLog anomalies)
    {
        _history = history;
        _order = order;
        _narrator = narrator;
        _anomalies = anomalies;
        ExternalVersion = new int[history.OperationCount];
        Array.Fill(ExternalVersion, None);
        for (var transaction = 0; transaction < history.Count; transaction++)
        {
            if (history.Outcome(transaction) == ObservedOutcome.Committed)
            {
                Check(transaction);
            }

            if (order.Counts[transaction] && !history.IsParallel(transaction))
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
        var first = _history.FirstOperation[transaction];
        var end = _history.FirstOperation[transaction + 1];
        for (var operation = first; operation < end; operation++)
        {
            if (_history.OperationIsAppend[operation] || _history.OperationValues[operation] == History.Unseen)
            {
                continue;
            }

            Reads++;
            var external = _history.IsParallel(transaction) ? WithoutOwnTail(operation, first, end) : WithoutOwnAppends(operation, first);
            if (_history.IsMisfit(operation))
            {
                continue;
            }

            CheckOwnPositions(operation, first, end, external);
            CheckRepeatable(operation, first, external);
            ExternalVersion[operation] = external;
            CheckIntermediate(operation, external);
        }
    }

    /// <summary>Appends of one transaction to one key must stand in the order in which it made them, none left out before one that was seen.</summary>
    private void CheckAppendOrder(int transaction)
    {
        var end = _history.FirstOperation[transaction + 1];
        for (var operation = _history.FirstOperation[transaction]; operation < end; operation++)
        {
            for (var later = operation + 1; later < end && _history.OperationIsAppend[operation] && !_order.SeenElsewhere[operation]; later++)
            {
                if (IsAppendTo(later, operation) && _order.Position[later] is var position and > 0
                    && (_order.Position[operation] == 0 || _order.Position[operation] > position))
                {
                    ReportAppendOrder(transaction, operation, later);
                    return;
                }
            }
        }
    }

    /// <summary>The list must end with exactly the appends that the transaction made to the key before, in their order.</summary>
    private int WithoutOwnAppends(int read, int first)
    {
        var list = _history.ReadResult(read);
        var external = list.Length;
        for (var earlier = read - 1; earlier >= first; earlier--)
        {
            if (!IsAppendTo(earlier, read))
            {
                continue;
            }

            var value = _history.OperationValues[earlier];
            if (external == 0 || list[external - 1] != value)
            {
                Report(read, $"although it had appended {value} before, which should stand {(external == list.Length ? "at the end" : "before its later appends")}");
                return external;
            }

            external--;
        }

        return external;
    }

    /// <summary>Issued at once, so the read may have seen any of the transaction's own appends, but only at the end of the list.</summary>
    private int WithoutOwnTail(int read, int first, int end)
    {
        var list = _history.ReadResult(read);
        var external = list.Length;
        while (external > 0 && OwnAppend(read, first, end, list[external - 1]))
        {
            external--;
        }

        return external;
    }

    private bool OwnAppend(int read, int first, int end, long value)
    {
        for (var operation = first; operation < end; operation++)
        {
            if (IsAppendTo(operation, read) && _history.OperationValues[operation] == value)
            {
                return true;
            }
        }

        return false;
    }

    private void CheckOwnPositions(int read, int first, int end, int external)
    {
        for (var operation = first; operation < end; operation++)
        {
            if (IsAppendTo(operation, read) && _order.Position[operation] is var position and > 0 && position <= external)
            {
                var when = operation < read || _history.IsParallel(_order.TransactionOf[read]) ? "but in the wrong place" : "although it appended that only later";
                Report(read, $"which contains its own {_history.OperationValues[operation]}, {when}");
                return;
            }
        }
    }

    private void CheckRepeatable(int read, int first, int external)
    {
        for (var earlier = read - 1; earlier >= first; earlier--)
        {
            if (!_history.OperationIsAppend[earlier] && _history.OperationKeys[earlier] == _history.OperationKeys[read]
                && ExternalVersion[earlier] is var before and not None && before != external)
            {
                Report(read, $"although it had read {Narrator.List(_history.ReadResult(earlier))} before, and its own appends do not make the difference");
                return;
            }
        }
    }

    private void CheckIntermediate(int read, int external)
    {
        var key = _history.OperationKeys[read];
        var writer = external == 0 ? -1 : _order.Writer(key, external);
        if (writer < 0 || writer == _order.TransactionOf[read])
        {
            return;
        }

        for (var operation = _history.FirstOperation[writer]; operation < _history.FirstOperation[writer + 1]; operation++)
        {
            var later = IsAppendTo(operation, read) && !_order.SeenElsewhere[operation] && (_order.Position[operation] == 0 || _order.Position[operation] > external);
            if (later)
            {
                if (_anomalies.Count(AnomalyKind.IntermediateRead))
                {
                    var reader = _order.TransactionOf[read];
                    _anomalies.Explain(
                        AnomalyKind.IntermediateRead,
                        $"{_narrator.ReadBy(read)}: with one append of {_history.Id(writer)}, without its {_history.OperationValues[operation]}.\n{_narrator.Describe(reader, writer)}",
                        _history.Id(reader),
                        _history.Id(writer));
                }

                return;
            }
        }
    }

    private bool IsAppendTo(int operation, int other) =>
        _history.OperationIsAppend[operation] && _history.OperationKeys[operation] == _history.OperationKeys[other];

    private void ReportAppendOrder(int transaction, int append, int later)
    {
        if (!_anomalies.Count(AnomalyKind.Internal))
        {
            return;
        }

        var trunk = _history.Key(_history.OperationKeys[append]);
        var reader = _order.TransactionOf[trunk.LongestRead];
        _anomalies.Explain(
            AnomalyKind.Internal,
            $"{_history.Id(transaction)} appended {_history.OperationValues[append]} to {trunk.Name} before {_history.OperationValues[later]}, " +
            $"but {_narrator.ReadBy(trunk.LongestRead)}.\n{_narrator.Describe(transaction, reader)}",
            _history.Id(transaction),
            _history.Id(reader));
    }

    private void Report(int read, string why)
    {
        if (_anomalies.Count(AnomalyKind.Internal))
        {
            var reader = _order.TransactionOf[read];
            _anomalies.Explain(AnomalyKind.Internal, $"{_narrator.ReadBy(read)}, {why}.\n{_narrator.Describe(reader)}", _history.Id(reader));
        }
    }
}
