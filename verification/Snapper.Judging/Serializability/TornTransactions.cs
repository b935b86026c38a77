using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

/// <summary>In-doubt transactions that somebody saw although not all of their appends were seen: from when on it was known that they happened.</summary>
internal static class TornTransactions
{
    /// <returns>For each such transaction the read of it whose transaction completed first.</returns>
    public static Dictionary<int, int> FirstSeen(History history, VersionOrder order, ReadChecks reads)
    {
        // Per key the positions of their writes.
        var places = new Dictionary<int, List<(int Position, int Writer, int Witness)>>();
        for (var transaction = 0; transaction < history.Count; transaction++)
        {
            if (history.Outcome(transaction) == ObservedOutcome.Unknown && order.Counts[transaction] && HasUnseen(history, order, transaction))
            {
                for (var operation = history.FirstOperation[transaction]; operation < history.FirstOperation[transaction + 1]; operation++)
                {
                    if (history.OperationIsWrite[operation] && order.Position[operation] > 0)
                    {
                        var key = history.OperationKeys[operation];
                        (places.TryGetValue(key, out var known) ? known : places[key] = []).Add((order.Position[operation], transaction, -1));
                    }
                }
            }
        }

        var first = new Dictionary<int, int>();
        if (places.Count > 0)
        {
            foreach (var known in places.Values)
            {
                known.Sort();
            }

            Witness(history, order, reads, places);
            foreach (var (_, known) in places.OrderBy(place => place.Key))
            {
                Collect(history, order, known, first);
            }
        }

        return first;
    }

    private static bool HasUnseen(History history, VersionOrder order, int transaction)
    {
        for (var operation = history.FirstOperation[transaction]; operation < history.FirstOperation[transaction + 1]; operation++)
        {
            if (history.OperationIsWrite[operation] && !history.IsRegister(operation) && order.Position[operation] == 0 && !order.SeenElsewhere[operation])
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Enters every read at the last place that it saw; it saw those before as well.</summary>
    private static void Witness(History history, VersionOrder order, ReadChecks reads, Dictionary<int, List<(int Position, int Writer, int Witness)>> places)
    {
        for (var read = 0; read < reads.ExternalVersion.Length; read++)
        {
            if (reads.ExternalVersion[read] <= 0 || !places.TryGetValue(history.OperationKeys[read], out var known))
            {
                continue;
            }

            var place = known.BinarySearch((reads.ExternalVersion[read], int.MaxValue, int.MaxValue));
            place = (place < 0 ? ~place : place) - 1;
            if (place >= 0)
            {
                known[place] = known[place] with { Witness = Earlier(history, order, known[place].Witness, read) };
            }
        }
    }

    private static void Collect(History history, VersionOrder order, List<(int Position, int Writer, int Witness)> known, Dictionary<int, int> first)
    {
        var witness = -1;
        for (var place = known.Count - 1; place >= 0; place--)
        {
            witness = Earlier(history, order, witness, known[place].Witness);
            if (witness >= 0)
            {
                first[known[place].Writer] = Earlier(history, order, first.GetValueOrDefault(known[place].Writer, -1), witness);
            }
        }
    }

    private static int Earlier(History history, VersionOrder order, int one, int other) =>
        one < 0 ? other
        : other < 0 || history.Completed[order.TransactionOf[one]] <= history.Completed[order.TransactionOf[other]] ? one
        : other;
}
