using Snapper.Judging.Histories;
using Snapper.Judging.Serializability;

namespace Snapper.Judging.Tests.Serializability;

/// <summary>
/// One way for a system to break its promise, planted into a correct history so that no serial order can explain the result, whatever else happened.
/// </summary>
internal sealed record Corruption(string Name, AnomalyKind[] Expected, Func<List<ObservedTransaction>, Random, bool> Plant)
{
    private static readonly AnomalyKind[] Cycles = [.. Enum.GetValues<AnomalyKind>().Where(kind => kind >= AnomalyKind.G0)];

    public static readonly Corruption[] All =
    [
        new("two reads of a key swap their results", Cycles, SwapReads),
        new("a read misses the newest elements", [.. Cycles, AnomalyKind.IntermediateRead], StaleRead),
        new("an acknowledged append is dropped", [AnomalyKind.LostAppend], DropAppend),
        new("an append is applied twice", [AnomalyKind.DuplicateAppend], ApplyTwice),
        new("one read shows an element twice", [AnomalyKind.DuplicateAppend], RepeatInOneRead),
        new("one read misses an element in the middle", [AnomalyKind.IncompatibleOrder], HoleInOneRead),
        new("one read shows an element that nobody appended", [AnomalyKind.PhantomAppend], Phantom),
        new("a transaction that was seen is reported as aborted", [AnomalyKind.AbortedRead], ReportAborted),
        new("a transaction does not see its own append", [AnomalyKind.Internal], ForgetOwnAppend),
        new("two versions change places against real time", Cycles, SwapVersions),
        new("one append of a transaction is applied, another is not", [AnomalyKind.LostAppend], Tear),
        new("an in-doubt transaction that was seen is missing at one key", [AnomalyKind.TornTransaction], TearInDoubt),
        new("a read stops between two appends of one transaction", [AnomalyKind.IntermediateRead], StopBetweenAppends),
        new("one read has two elements in the other order", [AnomalyKind.IncompatibleOrder], SwapInOneRead),
    ];

    public override string ToString() => Name;

    private static bool SwapReads(List<ObservedTransaction> history, Random random)
    {
        // The later read has an element that was appended wholly between the two.
        var (early, late) = PickPair(history, random, (one, two) =>
            one.Length < two.Length && history[one.Transaction].Completed < history[two.Transaction].Invoked
            && two.List[one.Length..].Any(value => Writer(history, one.Key, value) is { Outcome: ObservedOutcome.Committed } writer
                && writer.Invoked > history[one.Transaction].Completed && writer.Completed < history[two.Transaction].Invoked));
        if (early is null || late is null)
        {
            return false;
        }

        Replace(history, early, late.List);
        Replace(history, late, early.List);
        return true;
    }

    private static bool StaleRead(List<ObservedTransaction> history, Random random)
    {
        // Others saw the missing element, so it is a stale read and not a lost append.
        var (stale, _) = PickPair(history, random, (one, two) => one.Transaction != two.Transaction && two.Length >= one.Length && one.Length > 0 && WrittenBefore(history, one));
        return stale is not null && Replace(history, stale, stale.List[..^1]);
    }

    private static bool DropAppend(List<ObservedTransaction> history, Random random)
    {
        var read = Pick(history, random, read => read.Length > 1 && Final(history[read.Transaction]));
        if (read is null)
        {
            return false;
        }

        var committed = read.List.Where(value => Writer(history, read.Key, value) is { Outcome: ObservedOutcome.Committed } writer && !ReadsOf(writer).Contains(read.Key)).ToArray();
        return committed.Length > 0 && RewriteReads(history, read.Key, Choose(committed, random), (list, value) => [.. list.Where(other => other != value)]);
    }

    private static bool ApplyTwice(List<ObservedTransaction> history, Random random)
    {
        var read = Pick(history, random, read => read.Length > 0 && Final(history[read.Transaction]));
        return read is not null && Replace(history, read, [.. read.List, Choose(read.List, random)]);
    }

    private static bool RepeatInOneRead(List<ObservedTransaction> history, Random random)
    {
        var read = Pick(history, random, read => read.Length > 1);
        return read is not null && Replace(history, read, [read.List[0], .. read.List]);
    }

    private static bool HoleInOneRead(List<ObservedTransaction> history, Random random)
    {
        var read = Pick(history, random, read => read.Length > 2);
        return read is not null && Replace(history, read, [read.List[0], .. read.List[2..]]);
    }

    private static bool Phantom(List<ObservedTransaction> history, Random random)
    {
        var read = Pick(history, random, _ => true);
        return read is not null && Replace(history, read, [.. read.List, 1_000_000_000]);
    }

    private static bool ReportAborted(List<ObservedTransaction> history, Random random)
    {
        var read = Pick(history, random, read => read.Length > 0 && Final(history[read.Transaction]));
        if (read is null)
        {
            return false;
        }

        var writer = Writer(history, read.Key, Choose(read.List, random))!;
        history[history.IndexOf(writer)] = writer with { Outcome = ObservedOutcome.Aborted };
        return true;
    }

    private static bool ForgetOwnAppend(List<ObservedTransaction> history, Random random)
    {
        var read = Pick(history, random, read => !history[read.Transaction].Parallel
            && history[read.Transaction].Operations.Take(read.Operation).Any(earlier => earlier.IsAppend && earlier.Key == read.Key));
        return read is not null && Replace(history, read, read.List[..^1]);
    }

    private static bool SwapVersions(List<ObservedTransaction> history, Random _)
    {
        // Two neighbours by transactions of which one ended before the other began, and nobody read between them.
        foreach (var read in AllReads(history).Where(read => Final(history[read.Transaction])).ToArray())
        {
            for (var index = 0; index < read.Length - 1; index++)
            {
                var at = index;
                if (CanSwap(history, read, at))
                {
                    return RewriteReads(history, read.Key, read.List[at + 1], (list, _) => [.. list[..at], list[at + 1], list[at], .. list[(at + 2)..]]);
                }
            }
        }

        return false;
    }

    private static bool CanSwap(List<ObservedTransaction> history, ReadRef read, int index)
    {
        var (before, after) = (Writer(history, read.Key, read.List[index])!, Writer(history, read.Key, read.List[index + 1])!);
        return before.Outcome == ObservedOutcome.Committed && before.Completed < after.Invoked && AppendsOnce(before) && AppendsOnce(after)
            && !ReadsOf(before).Contains(read.Key) && !ReadsOf(after).Contains(read.Key)
            && !AllReads(history).Any(other => other.Key == read.Key && other.Length == index + 1);

        bool AppendsOnce(ObservedTransaction transaction) => transaction.Operations.Count(operation => operation.IsAppend && operation.Key == read.Key) == 1;
    }

    private static bool Tear(List<ObservedTransaction> history, Random random)
    {
        var read = Pick(history, random, read => read.Length > 1 && Final(history[read.Transaction]));
        var torn = read?.List.FirstOrDefault(value => Writer(history, read.Key, value) is { Outcome: ObservedOutcome.Committed } writer
            && writer.Operations.Any(other => other.IsAppend && other.Key != read.Key) && !ReadsOf(writer).Contains(read.Key)) ?? 0;
        return torn != 0 && RewriteReads(history, read!.Key, torn, (list, value) => [.. list.Where(other => other != value)]);
    }

    private static bool TearInDoubt(List<ObservedTransaction> history, Random random)
    {
        var read = Pick(history, random, read => read.Length > 1 && Final(history[read.Transaction]) && Torn(read) != 0);
        if (read is null)
        {
            return false;
        }

        // The final reads overlap, so one more has to come after all that have seen the rest.
        var torn = Torn(read);
        var end = history.Max(transaction => transaction.Completed)!.Value;
        RewriteReads(history, read.Key, torn, (list, value) => [.. list.Where(other => other != value)]);
        history.Add(new ObservedTransaction
        {
            Id = "last", Invoked = end + 1, Completed = end + 2, Outcome = ObservedOutcome.Committed,
            Operations = [MicroOperation.Read(read.Key, [.. read.List.Where(other => other != torn)])],
        });
        return true;

        // Its only append to this key, and another key shows that it happened.
        long Torn(ReadRef read) => read.List.FirstOrDefault(value => Writer(history, read.Key, value) is { Outcome: ObservedOutcome.Unknown } writer
            && writer.Operations.Count(other => other.IsAppend && other.Key == read.Key) == 1
            && writer.Operations.Any(other => other.IsAppend && other.Key != read.Key));
    }

    private static bool StopBetweenAppends(List<ObservedTransaction> history, Random random)
    {
        var read = Pick(history, random, read => Final(history[read.Transaction]) && Between(read) > 0);
        if (read is null)
        {
            return false;
        }

        // A reader of its own, so that the rest of the history stays as it is.
        var list = read.List[..Between(read)];
        var writer = Writer(history, read.Key, list[^1])!;
        history.Add(new ObservedTransaction
        {
            Id = "between", Invoked = writer.Invoked, Completed = long.MaxValue - 1, Outcome = ObservedOutcome.Committed, Operations = [MicroOperation.Read(read.Key, list)],
        });
        return true;

        int Between(ReadRef read) => Enumerable.Range(1, Math.Max(0, read.Length - 1)).FirstOrDefault(length =>
            Writer(history, read.Key, read.List[length - 1]) is { } writer && ReferenceEquals(writer, Writer(history, read.Key, read.List[length])));
    }

    private static bool SwapInOneRead(List<ObservedTransaction> history, Random random)
    {
        var read = Pick(history, random, read => read.Length > 2);
        return read is not null && Replace(history, read, [read.List[1], read.List[0], .. read.List[2..]]);
    }

    private static bool Final(ObservedTransaction transaction) => transaction.Id.StartsWith("final-", StringComparison.Ordinal);

    private static bool WrittenBefore(List<ObservedTransaction> history, ReadRef read) =>
        Writer(history, read.Key, read.List[^1]) is { Outcome: ObservedOutcome.Committed } writer && writer.Completed < history[read.Transaction].Invoked;

    private static HashSet<string> ReadsOf(ObservedTransaction transaction) => [.. transaction.Operations.Where(operation => !operation.IsAppend).Select(operation => operation.Key)];

    private static ObservedTransaction? Writer(List<ObservedTransaction> history, string key, long value) =>
        history.Find(transaction => transaction.Operations.Any(operation => operation.IsAppend && operation.Key == key && operation.Value == value));

    private static IEnumerable<ReadRef> AllReads(List<ObservedTransaction> history)
    {
        for (var transaction = 0; transaction < history.Count; transaction++)
        {
            for (var operation = 0; operation < history[transaction].Operations.Count; operation++)
            {
                if (history[transaction].Outcome == ObservedOutcome.Committed && history[transaction].Operations[operation] is { IsAppend: false, List: { } list } read)
                {
                    yield return new ReadRef(transaction, operation, read.Key, [.. list]);
                }
            }
        }
    }

    private static ReadRef? Pick(List<ObservedTransaction> history, Random random, Func<ReadRef, bool> good)
    {
        var reads = AllReads(history).ToArray();
        random.Shuffle(reads);
        return reads.FirstOrDefault(good);
    }

    private static (ReadRef? One, ReadRef? Two) PickPair(List<ObservedTransaction> history, Random random, Func<ReadRef, ReadRef, bool> good)
    {
        var reads = AllReads(history).ToArray();
        random.Shuffle(reads);
        foreach (var one in reads)
        {
            var two = reads.FirstOrDefault(two => two.Key == one.Key && two != one && good(one, two));
            if (two is not null)
            {
                return (one, two);
            }
        }

        return (null, null);
    }

    private static bool Replace(List<ObservedTransaction> history, ReadRef read, long[] list)
    {
        var operations = history[read.Transaction].Operations.ToArray();
        operations[read.Operation] = MicroOperation.Read(read.Key, list);
        history[read.Transaction] = history[read.Transaction] with { Operations = operations };
        return true;
    }

    private static bool RewriteReads(List<ObservedTransaction> history, string key, long value, Func<long[], long, long[]> with)
    {
        foreach (var read in AllReads(history).Where(read => read.Key == key && read.List.Contains(value)).ToArray())
        {
            Replace(history, read, with(read.List, value));
        }

        return true;
    }

    private static T Choose<T>(T[] from, Random random) => from[random.Next(from.Length)];

    private sealed record ReadRef(int Transaction, int Operation, string Key, long[] List)
    {
        public int Length => List.Length;
    }
}
