using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

/// <summary>Judges single reads of registers: against the writes of their own transaction, and against the value that the version's writer wrote.</summary>
internal sealed class RegisterReads(History history, VersionOrder order, ReadChecks report)
{
    /// <summary>The position of the version that a committed read saw of others; <see cref="ReadChecks.None"/> when it saw its own transaction's, or nothing that can be placed.</summary>
    public int ExternalVersion(int read)
    {
        var seen = history.Register(read);
        var own = OwnWriteBefore(read);
        if (history.IsParallel(order.TransactionOf[read]))
        {
            // Issued at once: it may have seen any own write, or none.
            return IsOwn(read) ? ReadChecks.None : External(read, seen);
        }

        if (own >= 0)
        {
            var written = history.Register(own);
            if (Differs(seen.Version, written.Version) || Differs(seen.Value, written.Value))
            {
                report.ReportInternal(read, $"although it had written {history.Operation(own).ToString()[6..]} before");
            }

            return ReadChecks.None;
        }

        if (IsOwn(read))
        {
            report.ReportInternal(read, "although it wrote that only later");
            return ReadChecks.None;
        }

        return External(read, seen);
    }

    private static bool Differs(long? one, long? other) => one is not null && other is not null && one != other;

    private int External(int read, RegisterAccess seen)
    {
        var position = order.Position[read];
        var write = position > 0 ? order.WriteOf(history.OperationKeys[read], position) : -1;
        if (write >= 0 && Differs(seen.Value, history.Register(write).Value))
        {
            if (EarlierWriteOf(write, seen.Value))
            {
                report.ReportIntermediate(read, write, $"that is what {history.Id(order.TransactionOf[write])} wrote first, and it overwrote it");
            }
            else
            {
                report.ReportWrongValue(read, write);
            }
        }

        return position < 0 ? ReadChecks.None : position;
    }

    private int OwnWriteBefore(int read)
    {
        var earlier = order.PreviousOnKey[read];
        while (earlier >= 0 && !history.OperationIsWrite[earlier])
        {
            earlier = order.PreviousOnKey[earlier];
        }

        return earlier;
    }

    private bool IsOwn(int read)
    {
        var position = order.Position[read];
        var write = position > 0 ? order.WriteOf(history.OperationKeys[read], position) : -1;
        return write >= 0 && order.TransactionOf[write] == order.TransactionOf[read];
    }

    private bool EarlierWriteOf(int write, long? value)
    {
        for (var earlier = order.PreviousOnKey[write]; earlier >= 0; earlier = order.PreviousOnKey[earlier])
        {
            if (history.OperationIsWrite[earlier] && history.Register(earlier).Value == value)
            {
                return true;
            }
        }

        return false;
    }
}
