using Snapper.Judging.Histories;
using Snapper.Judging.Serializability;

namespace Snapper.Judging.Tests.Serializability;

/// <summary>As <see cref="Corruption"/>, for registers.</summary>
internal sealed record RegisterCorruption(string Name, AnomalyKind[] Expected, Func<List<ObservedTransaction>, Random, bool> Plant)
{
    private static readonly AnomalyKind[] Cycles = [.. Enum.GetValues<AnomalyKind>().Where(kind => kind >= AnomalyKind.G0)];

    public static readonly RegisterCorruption[] All =
    [
        new("a read shows a value that was not written", [AnomalyKind.WrongValue], (history, random) =>
            ChangeRead(history, random, (_, read) => history.Exists(one => one.Outcome == ObservedOutcome.Committed && Writes(one, read.Key, read.Version!.Value)) ? MicroOperation.ReadVersion(read.Key, read.Version, read.Value + 1_000_000) : null)),
        new("a read shows a version that nobody made", [AnomalyKind.PhantomAppend], (history, random) =>
            ChangeRead(history, random, (_, read) => MicroOperation.ReadVersion(read.Key, 1_000_000, 1_000_000))),
        new("a read shows the first version again", Cycles, (history, random) =>
            ChangeRead(history, random, (transaction, read) => read.Version > 10 ? MicroOperation.ReadVersion(read.Key, 0) : null)),
        new("two transactions make the same version", [AnomalyKind.IncompatibleOrder], (history, random) =>
            ChangeWrite(history, random, write => write.Version > 10 ? OtherVersion(history, write) : null)),
        new("a late write has an early version", Cycles, (history, random) =>
            ChangeWrite(history, random, write => write.Version > 20 && !history.Exists(other => Writes(other, write.Key, 1)) ? 1 : null)),
        new("a transaction that was seen is reported as aborted", [AnomalyKind.AbortedRead], ReportAborted),
        new("a transaction does not see its own write", [AnomalyKind.Internal], ForgetOwnWrite),
        new("the last write of all is undone", [AnomalyKind.LostAppend], UndoLastWrite),
        new("an overwritten value is read", [AnomalyKind.IntermediateRead], ReadOverwritten),
        new("a write takes effect twice", [AnomalyKind.DuplicateAppend], ApplyTwice),
    ];

    public override string ToString() => Name;

    private static bool ReportAborted(List<ObservedTransaction> history, Random random)
    {
        var read = Reads(history, random).FirstOrDefault(read => read.Operation.Version > 0
            && history.Exists(one => one.Id != history[read.Transaction].Id && one.Outcome == ObservedOutcome.Committed && Writes(one, read.Operation.Key, read.Operation.Version!.Value)));
        if (read.Operation.Key is null)
        {
            return false;
        }

        var writer = history.FindIndex(one => one.Outcome == ObservedOutcome.Committed && Writes(one, read.Operation.Key, read.Operation.Version!.Value));
        history[writer] = history[writer] with { Outcome = ObservedOutcome.Aborted };
        return true;
    }

    private static bool ForgetOwnWrite(List<ObservedTransaction> history, Random random)
    {
        var write = AllOperations(history, random).FirstOrDefault(write => write.Operation.Kind == MicroOperationKind.Write && write.Operation.Version > 1);
        return write.Operation.Key is not null && Insert(history, write.Transaction, write.Index + 1, MicroOperation.ReadVersion(write.Operation.Key, 0));
    }

    private static bool UndoLastWrite(List<ObservedTransaction> history, Random random)
    {
        history.Add(Later(history, "undone", MicroOperation.Write("z", 7, 7)));
        history.Add(Later(history, "after", MicroOperation.ReadVersion("z", 0)));
        return true;
    }

    private static bool ReadOverwritten(List<ObservedTransaction> history, Random random)
    {
        var write = AllOperations(history, random).FirstOrDefault(write => write.Operation.Kind == MicroOperationKind.Write && write.Operation.Version > 1);
        if (write.Operation.Key is null)
        {
            return false;
        }

        Insert(history, write.Transaction, write.Index, MicroOperation.Write(write.Operation.Key, null, -5));
        history.Add(history[write.Transaction] with { Id = "reader", Completed = 1_000_000, Operations = [MicroOperation.ReadVersion(write.Operation.Key, write.Operation.Version, -5)] });
        return true;
    }

    private static bool ApplyTwice(List<ObservedTransaction> history, Random random)
    {
        history.Add(Later(history, "twice", MicroOperation.Write("z", null, 7)) with { Outcome = ObservedOutcome.Unknown });
        history.Add(Later(history, "first", MicroOperation.ReadVersion("z", 1, 7)));
        history.Add(Later(history, "second", MicroOperation.ReadVersion("z", 2, 7)));
        return true;
    }

    private static ObservedTransaction Later(List<ObservedTransaction> history, string id, MicroOperation operation)
    {
        var end = history.Max(transaction => transaction.Completed)!.Value;
        return new() { Id = id, Invoked = end + 1, Completed = end + 2, Outcome = ObservedOutcome.Committed, Operations = [operation] };
    }

    private static bool ChangeRead(List<ObservedTransaction> history, Random random, Func<ObservedTransaction, MicroOperation, MicroOperation?> change)
    {
        foreach (var (transaction, index, read) in Reads(history, random))
        {
            if (change(history[transaction], read) is { } changed)
            {
                return Replace(history, transaction, index, changed);
            }
        }

        return false;
    }

    private static bool ChangeWrite(List<ObservedTransaction> history, Random random, Func<MicroOperation, long?> change)
    {
        foreach (var (transaction, index, write) in AllOperations(history, random))
        {
            if (write.Kind == MicroOperationKind.Write && history[transaction].Outcome == ObservedOutcome.Committed && change(write) is { } version)
            {
                return Replace(history, transaction, index, MicroOperation.Write(write.Key, version, write.Value));
            }
        }

        return false;
    }

    private static long? OtherVersion(List<ObservedTransaction> history, MicroOperation write) =>
        history.Where(other => other.Outcome == ObservedOutcome.Committed).SelectMany(other => other.Operations)
            .FirstOrDefault(other => other.Kind == MicroOperationKind.Write && other.Key == write.Key && other.Version < write.Version).Version;

    private static bool Writes(ObservedTransaction transaction, string key, long version) =>
        transaction.Operations.Any(operation => operation.Kind == MicroOperationKind.Write && operation.Key == key && operation.Version == version);

    /// <summary>Committed reads of what others wrote.</summary>
    private static IEnumerable<(int Transaction, int Index, MicroOperation Operation)> Reads(List<ObservedTransaction> history, Random random) =>
        AllOperations(history, random).Where(read => read.Operation is { Kind: MicroOperationKind.ReadRegister, Version: not null }
            && history[read.Transaction].Operations.Count(other => other.Key == read.Operation.Key) == 1);

    private static List<(int Transaction, int Index, MicroOperation Operation)> AllOperations(List<ObservedTransaction> history, Random random)
    {
        var all = Enumerable.Range(0, history.Count).Where(index => history[index].Outcome == ObservedOutcome.Committed)
            .SelectMany(index => history[index].Operations.Select((operation, at) => (index, at, operation))).ToArray();
        random.Shuffle(all);
        return [.. all];
    }

    private static bool Replace(List<ObservedTransaction> history, int transaction, int index, MicroOperation operation)
    {
        var operations = history[transaction].Operations.ToArray();
        operations[index] = operation;
        history[transaction] = history[transaction] with { Operations = operations };
        return true;
    }

    private static bool Insert(List<ObservedTransaction> history, int transaction, int index, MicroOperation operation)
    {
        history[transaction] = history[transaction] with { Operations = [.. history[transaction].Operations.Take(index), operation, .. history[transaction].Operations.Skip(index)] };
        return true;
    }
}
