using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

/// <summary>
/// Finds acknowledged writes that a read missed although it was invoked after the acknowledgement, and that nobody saw at all; and in-doubt transactions of
/// which one append was seen and another is missing from a later read. Versions only grow, so it is enough to ask the latest read of each key.
/// </summary>
internal static class LostAppends
{
    /// <returns>For each operation whether it is a lost write.</returns>
    public static bool[] Find(History history, VersionOrder order, ReadChecks reads, Narrator narrator, AnomalyLog anomalies)
    {
        var latestRead = LatestReads(history, order, reads);
        var newestRead = NewestVersionsRead(history, reads);
        var seen = TornTransactions.FirstSeen(history, order, reads);
        var lost = new bool[history.OperationCount];
        for (var operation = 0; operation < lost.Length; operation++)
        {
            var key = history.OperationKeys[operation];
            if (!history.OperationIsWrite[operation] || latestRead[key] < 0 || !NobodySaw(operation, key))
            {
                continue;
            }

            var writer = order.TransactionOf[operation];
            var reader = order.TransactionOf[latestRead[key]];
            var witness = seen.GetValueOrDefault(writer, -1);
            var committed = history.Outcome(writer) == ObservedOutcome.Committed;
            var known = committed ? history.Completed[writer] : witness >= 0 ? history.Completed[order.TransactionOf[witness]] : long.MaxValue;
            if (history.Invoked[reader] <= known)
            {
                continue;
            }

            lost[operation] = true;
            if (committed && anomalies.Count(AnomalyKind.LostAppend))
            {
                anomalies.Explain(
                    AnomalyKind.LostAppend,
                    $"{Deed(operation)} and was acknowledged at {known}; {Missing(latestRead[key])}.\n{narrator.Describe(key, writer, reader)}",
                    history.Id(writer),
                    history.Id(reader));
            }
            else if (!committed && anomalies.Count(AnomalyKind.TornTransaction))
            {
                var first = order.TransactionOf[witness];
                anomalies.Explain(
                    AnomalyKind.TornTransaction,
                    $"{history.Id(writer)}, in doubt, did happen: {narrator.ReadBy(witness)} and was acknowledged at {known}. {Deed(operation)} as well; {Missing(latestRead[key])}.\n" +
                    narrator.Describe([key, history.OperationKeys[witness]], first == reader ? [writer, reader] : [writer, first, reader]),
                    first == reader ? [history.Id(writer), history.Id(reader)] : [history.Id(writer), history.Id(first), history.Id(reader)]);
            }
        }

        return lost;

        // A register's write is lost when it is the last version and no read shows it: then the key stands where it stood before.
        bool NobodySaw(int write, int key) => history.IsRegister(write)
            ? order.Position[write] > newestRead[key] && order.Position[write] == order.Versions(key) && order.Writer(key, order.Position[write]) == order.TransactionOf[write]
            : order.Position[write] == 0 && !order.SeenElsewhere[write];

        string Deed(int write) => $"{history.Id(order.TransactionOf[write])} {(history.IsRegister(write) ? "wrote" : "appended")} {narrator.Written(write)} to {history.Key(history.OperationKeys[write]).Name}";

        string Missing(int read) => $"invoked later, at {history.Invoked[order.TransactionOf[read]]}, {narrator.ReadBy(read)}, without it, and nobody ever saw it";
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

    private static int[] NewestVersionsRead(History history, ReadChecks reads)
    {
        var newest = new int[history.KeyCount];
        for (var operation = 0; operation < reads.ExternalVersion.Length; operation++)
        {
            ref var version = ref newest[history.OperationKeys[operation]];
            version = Math.Max(version, reads.ExternalVersion[operation]);
        }

        return newest;
    }
}
