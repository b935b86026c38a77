using Snapper.Judging.Histories;

namespace Snapper.Judging.Tests.Serializability;

/// <summary>
/// Tries every serial order that real time allows, every choice of unknown transactions, every order of parallel operations. Says exactly whether a
/// history is strictly serializable, at a cost that only histories of a few transactions can pay; it shares no idea with the checker.
/// </summary>
internal sealed class ExhaustiveOracle
{
    private readonly List<ObservedTransaction> _transactions;
    private readonly bool[] _done;
    private readonly Dictionary<string, List<long>> _lists = [];
    private readonly Dictionary<string, Register> _registers = [];

    private ExhaustiveOracle(List<ObservedTransaction> transactions)
    {
        _transactions = transactions.FindAll(transaction => transaction.Outcome != ObservedOutcome.Aborted || transaction.ReadsCount);
        _done = new bool[_transactions.Count];
    }

    public static bool IsStrictlySerializable(List<ObservedTransaction> transactions) => new ExhaustiveOracle(transactions).Explains();

    private bool Explains()
    {
        if (_transactions.Where((transaction, index) => !_done[index] && IsAnswer(transaction)).Any() is false)
        {
            return true;
        }

        for (var index = 0; index < _transactions.Count; index++)
        {
            if (!_done[index] && MayBeNext(index))
            {
                _done[index] = true;
                if (RunsFrom(_transactions[index], []))
                {
                    return true;
                }

                _done[index] = false;
            }
        }

        return false;
    }

    private static bool IsAnswer(ObservedTransaction transaction) => transaction.Outcome == ObservedOutcome.Committed || transaction.ReadsCount;

    /// <summary>It ran, and is aborted: what it appended is gone.</summary>
    private bool ExplainsWithout(ObservedTransaction transaction)
    {
        var before = _lists.ToDictionary(list => list.Key, list => list.Value.ToArray());
        foreach (var own in transaction.Operations.Where(operation => operation.IsAppend))
        {
            _lists[own.Key].Remove(own.Value);
        }

        if (Explains())
        {
            return true;
        }

        foreach (var (key, list) in before)
        {
            _lists[key].Clear();
            _lists[key].AddRange(list);
        }

        return false;
    }

    private bool MayBeNext(int index)
    {
        for (var other = 0; other < _transactions.Count; other++)
        {
            if (!_done[other] && IsAnswer(_transactions[other]) && _transactions[other].Completed < _transactions[index].Invoked)
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Runs the operations that are left, in program order or in any, and then the other transactions; takes everything back when that leads nowhere.</summary>
    private bool RunsFrom(ObservedTransaction transaction, List<int> ran)
    {
        if (ran.Count == transaction.Operations.Count)
        {
            return transaction.ReadsCount ? ExplainsWithout(transaction) : Explains();
        }

        for (var index = 0; index < transaction.Operations.Count; index++)
        {
            if (ran.Contains(index) || (!transaction.Parallel && index != ran.Count))
            {
                continue;
            }

            var operation = transaction.Operations[index];
            var list = _lists.TryGetValue(operation.Key, out var known) ? known : _lists[operation.Key] = [];
            var register = _registers.GetValueOrDefault(operation.Key, new Register(0, 0, null));
            if (!Allows(transaction, operation, list, register))
            {
                continue;
            }

            ran.Add(index);
            _registers[operation.Key] = After(transaction, operation, register);
            if (operation.IsAppend)
            {
                list.Add(operation.Value);
            }

            if (RunsFrom(transaction, ran))
            {
                return true;
            }

            ran.RemoveAt(ran.Count - 1);
            _registers[operation.Key] = register;
            if (operation.IsAppend)
            {
                list.RemoveAt(list.Count - 1);
            }
        }

        return false;
    }

    private static bool Allows(ObservedTransaction transaction, MicroOperation operation, List<long> list, Register register)
    {
        var judged = IsAnswer(transaction);
        return operation.Kind switch
        {
            MicroOperationKind.ReadList => !judged || list.SequenceEqual(operation.List!),

            // Versions rise; one transaction may make one version for all its writes.
            MicroOperationKind.Write => operation.Version is null || operation.Version > register.Highest || (operation.Version == register.Version && register.Writer == transaction.Id),
            MicroOperationKind.ReadRegister => !judged
                || ((operation.Version is not { } version || version == register.Version || (register.Version is null && version > register.Highest))
                    && (!operation.HasValue || register.Value is null || operation.Value == register.Value)),
            _ => true,
        };
    }

    private static Register After(ObservedTransaction transaction, MicroOperation operation, Register register) => operation.Kind switch
    {
        MicroOperationKind.Write => new Register(operation.Version, Math.Max(register.Highest, operation.Version ?? 0), operation.HasValue ? operation.Value : null, transaction.Id),

        // The first to read a version that its writer did not learn gives it its number.
        MicroOperationKind.ReadRegister when transaction.Outcome == ObservedOutcome.Committed && register.Version is null && operation.Version is { } version =>
            register with { Version = version, Highest = version },
        _ => register,
    };

    private sealed record Register(long? Version, long Highest, long? Value, string? Writer = null);
}
