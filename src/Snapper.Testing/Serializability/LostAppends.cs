using Snapper.Testing.Histories;

namespace Snapper.Testing.Serializability;

/// <summary>
/// Finds acknowledged appends that a read missed although it was invoked after the acknowledgement, and that nobody saw at all. Lists only
/// grow, so it is enough to ask the latest read of each key.
/// </summary>
internal static class LostAppends
{
    /// <returns>For each operation whether it is a lost append.</returns>
    public static bool[] Find(History history, VersionOrder order, ReadChecks reads, Narrator narrator, AnomalyLog anomalies)
    {
        var latestRead = LatestReads(history, order, reads);
        var lost = new bool[history.OperationCount];
        for (var operation = 0; operation < lost.Length; operation++)
        {
            if (!history.OperationIsAppend[operation] || order.Position[operation] != 0 || order.SeenElsewhere[operation])
            {
                continue;
            }

            var writer = order.TransactionOf[operation];
            var read = latestRead[history.OperationKeys[operation]];
            if (history.Outcome(writer) != ObservedOutcome.Committed || read < 0
                || history.Invoked[order.TransactionOf[read]] <= history.Completed[writer])
            {
                continue;
            }

            lost[operation] = true;
            if (anomalies.Count(AnomalyKind.LostAppend))
            {
                var reader = order.TransactionOf[read];
                anomalies.Explain(
                    AnomalyKind.LostAppend,
                    $"{history.Id(writer)} appended {history.OperationValues[operation]} to {history.Key(history.OperationKeys[operation]).Name} and was acknowledged at {history.Completed[writer]}; " +
                    $"invoked later, at {history.Invoked[reader]}, {narrator.ReadBy(read)}, without it, and nobody ever saw it.\n{narrator.Describe(writer, reader)}",
                    history.Id(writer),
                    history.Id(reader));
            }
        }

        return lost;
    }

    private static int[] LatestReads(History history, VersionOrder order, ReadChecks reads)
    {
        var latest = new int[history.KeyCount];
        Array.Fill(latest, -1);
        for (var operation = 0; operation < reads.ExternalVersion.Length; operation++)
        {
            if (reads.ExternalVersion[operation] == ReadChecks.None)
            {
                continue;
            }

            ref var read = ref latest[history.OperationKeys[operation]];
            if (read < 0 || history.Invoked[order.TransactionOf[operation]] > history.Invoked[order.TransactionOf[read]])
            {
                read = operation;
            }
        }

        return latest;
    }
}
