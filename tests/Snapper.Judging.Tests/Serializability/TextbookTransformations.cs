using Snapper.Judging.Histories;

namespace Snapper.Judging.Tests.Serializability;

/// <summary>Changes histories in ways whose effect on the verdict is known.</summary>
internal static class TextbookTransformations
{
    /// <summary>
    /// Runs the same transactions one after the other by the time of their invocation, which real time always allows, and enters what they then read and which
    /// versions they then make. In-doubt ones do not take effect.
    /// </summary>
    public static List<ObservedTransaction> Repair(List<ObservedTransaction> transactions)
    {
        var lists = new Dictionary<string, List<long>>();
        var registers = new Dictionary<string, (long Version, long? Value)>();
        var repaired = new List<ObservedTransaction>();
        foreach (var transaction in transactions.OrderBy(transaction => transaction.Invoked))
        {
            if (transaction.ReadsCount)
            {
                repaired.Add(transaction with { Operations = [.. transaction.Operations.Where(static operation => !operation.IsWrite).Select(operation => Run(operation, lists, registers, []))] });
                continue;
            }

            if (transaction.Outcome != ObservedOutcome.Committed)
            {
                repaired.Add(transaction);
                continue;
            }

            var versions = transaction.Operations.Where(operation => operation.Kind == MicroOperationKind.Write).Select(operation => operation.Key).Distinct()
                .ToDictionary(key => key, key => registers.GetValueOrDefault(key).Version + 1);
            repaired.Add(transaction with { Operations = [.. transaction.Operations.Select(operation => Run(operation, lists, registers, versions))] });
        }

        return repaired;
    }

    /// <summary>Puts the history into the midst of a clean one on other keys, with its keys renamed and all transactions in another order.</summary>
    public static List<ObservedTransaction> Embed(List<ObservedTransaction> transactions, int seed)
    {
        var around = new SerialHistories(seed) { Keys = 5 }.Make(200);
        var (start, scale) = (around[around.Count / 2].Invoked, 40);
        var all = transactions.Select(transaction => transaction with
        {
            Invoked = start + (scale * transaction.Invoked),
            Completed = transaction.Completed is { } completed ? start + (scale * completed) : null,
            Operations = [.. transaction.Operations.Select(operation => Rename(operation, "textbook " + operation.Key))],
        }).Concat(around.Select(transaction => transaction with { Id = "around " + transaction.Id })).ToArray();
        new Random(seed).Shuffle(all);
        return [.. all];
    }

    private static MicroOperation Run(
        MicroOperation operation, Dictionary<string, List<long>> lists, Dictionary<string, (long Version, long? Value)> registers, Dictionary<string, long> versions)
    {
        var list = lists.TryGetValue(operation.Key, out var known) ? known : lists[operation.Key] = [];
        switch (operation.Kind)
        {
            case MicroOperationKind.Append:
                list.Add(operation.Value);
                return operation;
            case MicroOperationKind.ReadList:
                return MicroOperation.Read(operation.Key, [.. list]);
            case MicroOperationKind.Write:
                registers[operation.Key] = (versions[operation.Key], operation.HasValue ? operation.Value : null);
                return MicroOperation.Write(operation.Key, versions[operation.Key], operation.HasValue ? operation.Value : null);
            case MicroOperationKind.ReadRegister:
                var (version, value) = registers.GetValueOrDefault(operation.Key);
                return MicroOperation.ReadVersion(operation.Key, version, value);
            default:
                return operation;
        }
    }

    private static MicroOperation Rename(MicroOperation operation, string key)
    {
        long? value = operation.HasValue ? operation.Value : null;
        return operation.Kind switch
        {
            MicroOperationKind.Append => MicroOperation.Append(key, operation.Value),
            MicroOperationKind.ReadList => MicroOperation.Read(key, [.. operation.List!]),
            MicroOperationKind.Write => MicroOperation.Write(key, operation.Version, value),
            MicroOperationKind.ReadRegister => MicroOperation.ReadVersion(key, operation.Version, value),
            _ => MicroOperation.UnseenRead(key),
        };
    }
}
