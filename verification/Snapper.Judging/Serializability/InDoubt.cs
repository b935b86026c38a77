using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

/// <summary>What the history tells about a transaction whose outcome its client does not know.</summary>
public enum InDoubtOutcome
{
    /// <summary>Somebody saw one of its writes: it happened.</summary>
    Happened,

    /// <summary>Reads of its keys that came after its invocation show none of its writes: up to then it had not happened.</summary>
    NotSeen,

    /// <summary>It wrote nothing, or nobody read its keys afterwards.</summary>
    Undecided,
}

/// <summary>Deduces the outcomes of in-doubt transactions.</summary>
internal static class InDoubt
{
    /// <returns>The id and the outcome of each, in the order of adding.</returns>
    public static List<(string Id, InDoubtOutcome Outcome)> Deduce(History history, VersionOrder order, ReadChecks reads)
    {
        var outcomes = new List<(string Id, InDoubtOutcome Outcome)>();
        long[]? lastRead = null;
        for (var transaction = 0; transaction < history.Count; transaction++)
        {
            if (history.Outcome(transaction) == ObservedOutcome.Unknown)
            {
                lastRead ??= LastReads(history, order, reads);
                outcomes.Add((history.Id(transaction), Deduce(history, order, lastRead, transaction)));
            }
        }

        return outcomes;
    }

    private static InDoubtOutcome Deduce(History history, VersionOrder order, long[] lastRead, int transaction)
    {
        if (order.Counts[transaction])
        {
            return InDoubtOutcome.Happened;
        }

        for (var operation = history.FirstOperation[transaction]; operation < history.FirstOperation[transaction + 1]; operation++)
        {
            // What a register held before may be overwritten, so its later versions tell nothing.
            if (history.OperationIsWrite[operation] && !history.IsRegister(operation) && lastRead[history.OperationKeys[operation]] > history.Invoked[transaction])
            {
                return InDoubtOutcome.NotSeen;
            }
        }

        return InDoubtOutcome.Undecided;
    }

    private static long[] LastReads(History history, VersionOrder order, ReadChecks reads)
    {
        var last = new long[history.KeyCount];
        Array.Fill(last, long.MinValue);
        for (var read = 0; read < reads.ExternalVersion.Length; read++)
        {
            if (reads.ExternalVersion[read] != ReadChecks.None)
            {
                ref var invoked = ref last[history.OperationKeys[read]];
                invoked = Math.Max(invoked, history.Invoked[order.TransactionOf[read]]);
            }
        }

        return last;
    }
}
