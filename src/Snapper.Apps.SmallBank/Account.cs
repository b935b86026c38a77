using System.Runtime.CompilerServices;
using Snapper.Actors;
using Snapper.Apps.SmallBank.Contract;
using static System.FormattableString;

namespace Snapper.Apps.SmallBank;

/// <summary>The actor type <c>Account</c>.</summary>
/// <remarks>
/// No method is marked [MayAbort]: each refuses before it has called anyone, and a root that fails then costs no other
/// else anything, marked or not. (The exception, a receiver's balance that overflows, is undone by the system.)
/// </remarks>
[TransactionalActor("Account")]
public sealed class Account(SmallBankOptions? options = null) : TransactionalActor<AccountState>, IAccount
{
    private readonly SmallBankOptions _options = options ?? SmallBankOptions.Default;

    /// <inheritdoc/>
    protected override AccountState InitialState() => _options.InitialState;

    /// <inheritdoc/>
    [ReadOnlyMethod]
    public async Task<Balances> Balance()
    {
        var mine = await State.Get();
        return new Balances(mine.Checking, mine.Savings, Money.Add(mine.Checking, mine.Savings));
    }

    /// <inheritdoc/>
    public async Task<decimal> DepositChecking(AmountInput input)
    {
        var amount = Positive(Given(input).Amount);
        var mine = await State.ForUpdate();
        var checking = Money.Add(mine.Checking, amount);
        State.Set(mine with { Checking = checking });
        return checking;
    }

    /// <inheritdoc/>
    public async Task<decimal> TransactSavings(AmountInput input)
    {
        var amount = Positive(Given(input).Amount);
        var mine = await State.ForUpdate();
        if (mine.Savings < amount)
        {
            throw Insufficient("savings", mine.Savings, amount);
        }

        var savings = Money.Subtract(mine.Savings, amount);
        State.Set(mine with { Savings = savings });
        return savings;
    }

    /// <inheritdoc/>
    public async Task<decimal> WriteCheck(AmountInput input)
    {
        var amount = Positive(Given(input).Amount);
        var mine = await State.ForUpdate();
        var covered = Money.Add(mine.Checking, mine.Savings) >= amount;
        var checking = Money.Subtract(mine.Checking, covered ? amount : Money.Add(amount, 1));
        State.Set(mine with { Checking = checking });
        return checking;
    }

    /// <inheritdoc/>
    public async Task<decimal> Amalgamate(AmalgamateInput input)
    {
        var to = Named(Given(input).To);
        if (to == Id)
        {
            throw Abort($"account '{Id}' cannot be amalgamated into itself");
        }

        var mine = await State.ForUpdate();
        var total = Money.Add(mine.Checking, mine.Savings);
        if (total < 0)
        {
            throw Abort(Invariant($"account '{Id}' owes {-total}: a debt cannot be moved to '{to}'"));
        }

        State.Set(new AccountState(0, 0));
        await Actor<IAccount>(to).DepositChecking(new AmountInput(total));
        return total;
    }

    /// <inheritdoc/>
    public async Task<decimal> SendPayment(PaymentInput input)
    {
        var to = Named(Given(input).To);
        var checking = await Withdraw(Positive(input.Amount), times: 1);
        await Actor<IAccount>(to).DepositChecking(new AmountInput(input.Amount));
        return to == Id ? (await State.Get()).Checking : checking;
    }

    /// <inheritdoc/>
    public async Task<decimal> MultiTransfer(MultiTransferInput input)
    {
        var to = Given(input).To ?? throw Abort("'to' must be a list of account ids");
        var toMyself = false;
        foreach (var id in to)
        {
            toMyself |= Named(id) == Id;
        }

        var checking = await Withdraw(Positive(input.Amount), to.Count);
        var deposit = new AmountInput(input.Amount);
        var deposits = new Task[to.Count];
        for (var i = 0; i < deposits.Length; i++)
        {
            deposits[i] = Actor<IAccount>(to[i]).DepositChecking(deposit);
        }

        await Task.WhenAll(deposits);
        return toMyself ? (await State.Get()).Checking : checking;
    }

    /// <inheritdoc/>
    public Task<decimal> Transfer(PaymentInput input) => SendPayment(input);

    private async ValueTask<decimal> Withdraw(decimal amount, int times)
    {
        var total = Money.Multiply(amount, times);
        var mine = await State.ForUpdate();
        if (mine.Checking < total)
        {
            throw Insufficient("checking", mine.Checking, total);
        }

        var checking = Money.Subtract(mine.Checking, total);
        State.Set(mine with { Checking = checking });
        return checking;
    }

    // A caller in another language may send null where the contract says otherwise.
    private static TInput Given<TInput>(TInput? input, [CallerMemberName] string method = "")
        where TInput : class => input ?? throw Abort($"'{method}' needs an input, got null");

    private static string Named(string? id) =>
        string.IsNullOrEmpty(id) ? throw Abort("'to' must name an account: the id is missing or empty") : id;

    private static decimal Positive(decimal amount) =>
        amount < 0 ? throw Abort(Invariant($"amount must not be negative, got {amount}")) : amount;

    private TransactionAbortException Insufficient(string balance, decimal available, decimal needed) =>
        Abort(Invariant($"insufficient funds: {balance} of account '{Id}' is {available}, {needed} is needed"));
}
