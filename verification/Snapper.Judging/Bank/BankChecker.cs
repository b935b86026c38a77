using Snapper.Judging.Histories;

namespace Snapper.Judging.Bank;

/// <summary>
/// Checks that the money at the end is what the acknowledged transactions made of the money at the beginning: in total, in every account, and answer by answer.
/// </summary>
/// <remarks>
/// Each account's total must lie between a lowest and a highest value. They are equal unless a transaction of unknown outcome
/// touched the account (it counts or not) or a check was written on it (it costs 1 more when the account did not cover it, and the answer does not say so).
/// Cost: O(operations + accounts).
/// </remarks>
public sealed class BankChecker
{
    private readonly AccountBalance _initial;
    private readonly Dictionary<string, Range> _accounts = [];
    private readonly HashSet<string> _emptiedPerhaps = [];
    private readonly List<string> _problems = [];
    private Range _total;

    private BankChecker(AccountBalance initial) => _initial = initial;

    /// <summary>Judges a finished run.</summary>
    /// <param name="operations">Every transaction that was ever sent, also aborted and unknown ones, in any order.</param>
    /// <param name="initial">What each account held at the beginning.</param>
    /// <param name="final">What each account held at the end. Every account that an operation names must be there.</param>
    public static BankReport Check(IEnumerable<BankOperation> operations, AccountBalance initial, IReadOnlyDictionary<string, AccountBalance> final)
    {
        ArgumentNullException.ThrowIfNull(operations);
        ArgumentNullException.ThrowIfNull(final);
        var checker = new BankChecker(initial);
        foreach (var operation in operations)
        {
            checker.Apply(operation);
        }

        return checker.Compare(final);
    }

    private void Apply(BankOperation operation)
    {
        Account(operation.Account);
        foreach (var account in operation.To)
        {
            Account(account);
        }

        if (operation.Outcome == ObservedOutcome.Aborted)
        {
            return;
        }

        var certain = operation.Outcome == ObservedOutcome.Committed;
        if (certain)
        {
            CheckAnswer(operation);
        }

        switch (operation.Method)
        {
            case BankMethod.Balance:
                break;
            case BankMethod.DepositChecking:
                Change(operation.Account, operation.Amount, 0, certain);
                Grow(operation.Amount, 0, certain);
                break;
            case BankMethod.TransactSavings:
                Change(operation.Account, -operation.Amount, 0, certain);
                Grow(-operation.Amount, 0, certain);
                break;
            case BankMethod.WriteCheck:
                Change(operation.Account, -operation.Amount, 1, certain);
                Grow(-operation.Amount, 1, certain);
                break;
            case BankMethod.Amalgamate:
                Amalgamate(operation, certain);
                break;
            default:
                Change(operation.Account, -operation.Amount * operation.To.Count, 0, certain);
                foreach (var account in operation.To)
                {
                    Change(account, operation.Amount, 0, certain);
                }

                break;
        }
    }

    private void Amalgamate(BankOperation operation, bool certain)
    {
        if (certain && operation.Result is { } moved)
        {
            Change(operation.Account, -moved, 0, true);
            Change(operation.To[0], moved, 0, true);
            return;
        }

        // How much an unanswered one moved is unknown, so these two accounts can be judged only within the total.
        _emptiedPerhaps.Add(operation.Account);
        _emptiedPerhaps.Add(operation.To[0]);
    }

    private void CheckAnswer(BankOperation operation)
    {
        var mayBeNegative = operation.Method is BankMethod.Balance or BankMethod.WriteCheck or BankMethod.DepositChecking;
        if (operation.Result is null)
        {
            _problems.Add($"{operation.Id} ({operation.Method} on {operation.Account}) committed without a result.");
        }
        else if (operation.Result < 0 && !mayBeNegative)
        {
            _problems.Add($"{operation.Id} ({operation.Method} on {operation.Account}) committed and left {operation.Result}; it should have aborted.");
        }
    }

    private BankReport Compare(IReadOnlyDictionary<string, AccountBalance> final)
    {
        foreach (var (account, expected) in _accounts.OrderBy(pair => pair.Key, StringComparer.Ordinal))
        {
            if (!final.TryGetValue(account, out var balance))
            {
                _problems.Add($"The final balance of {account} was not given.");
            }
            else if (!_emptiedPerhaps.Contains(account) && !expected.Contains(balance.Total))
            {
                _problems.Add($"{account} holds {balance.Total} ({balance.Checking} and {balance.Savings}); its transactions explain {expected}.");
            }
        }

        var actual = final.Values.Sum(balance => balance.Total);
        var initial = _initial.Total * final.Count;
        var total = new Range(initial + _total.Low, initial + _total.High, initial + _total.Certain);
        if (!total.Contains(actual))
        {
            _problems.Add($"All accounts together hold {actual}; the transactions explain {total}.");
        }

        return new BankReport(_problems, total.Certain, actual);
    }

    private void Account(string account) => _accounts.TryAdd(account, new Range(_initial.Total, _initial.Total, _initial.Total));

    private void Change(string account, decimal amount, decimal penalty, bool certain) => _accounts[account] = _accounts[account].Plus(amount, penalty, certain);

    private void Grow(decimal amount, decimal penalty, bool certain) => _total = _total.Plus(amount, penalty, certain);

    /// <summary>What a sum can be, and what it is if nothing unknown took effect and no penalty was taken.</summary>
    private readonly record struct Range(decimal Low, decimal High, decimal Certain)
    {
        public Range Plus(decimal amount, decimal penalty, bool certain) => certain
            ? new(Low + amount - penalty, High + amount, Certain + amount)
            : new(Low + Math.Min(0, amount - penalty), High + Math.Max(0, amount), Certain);

        public bool Contains(decimal value) => Low <= value && value <= High;

        public override string ToString() => Low == High ? $"{Low}" : $"{Low} to {High}";
    }
}
