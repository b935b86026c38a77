using Snapper.Testing.Histories;

namespace Snapper.Testing.Tests.Serializability;

/// <summary>
/// Tries every serial order that real time allows, every choice of unknown transactions, every order of parallel operations. Says exactly whether a
/// history is strictly serializable, at a cost that only histories of a few transactions can pay; it shares no idea with the checker.
/// </summary>
internal sealed class ExhaustiveOracle
{
    private readonly List<ObservedTransaction> _transactions;
    private readonly bool[] _done;
    private readonly Dictionary<string, List<long>> _lists = [];

    private ExhaustiveOracle(List<ObservedTransaction> transactions)
    {
        _transactions = transactions.FindAll(transaction => transaction.Outcome != ObservedOutcome.Aborted);
        _done = new bool[_transactions.Count];
    }

    public static bool IsStrictlySerializable(List<ObservedTransaction> transactions) => new ExhaustiveOracle(transactions).Explains();

    private bool Explains()
    {
        if (_transactions.Where((transaction, index) => !_done[index] && transaction.Outcome == ObservedOutcome.Committed).Any() is false)
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

    private bool MayBeNext(int index)
    {
        for (var other = 0; other < _transactions.Count; other++)
        {
            if (!_done[other] && _transactions[other].Outcome == ObservedOutcome.Committed && _transactions[other].Completed < _transactions[index].Invoked)
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
            return Explains();
        }

        for (var index = 0; index < transaction.Operations.Count; index++)
        {
            if (ran.Contains(index) || (!transaction.Parallel && index != ran.Count))
            {
                continue;
            }

            var operation = transaction.Operations[index];
            var list = _lists.TryGetValue(operation.Key, out var known) ? known : _lists[operation.Key] = [];
            var judged = transaction.Outcome == ObservedOutcome.Committed && operation.List is not null;
            if (!operation.IsAppend && judged && !list.SequenceEqual(operation.List!))
            {
                continue;
            }

            ran.Add(index);
            if (operation.IsAppend)
            {
                list.Add(operation.Value);
            }

            if (RunsFrom(transaction, ran))
            {
                return true;
            }

            ran.RemoveAt(ran.Count - 1);
            if (operation.IsAppend)
            {
                list.RemoveAt(list.Count - 1);
            }
        }

        return false;
    }
}
