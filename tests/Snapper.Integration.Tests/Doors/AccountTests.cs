using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Doors;

/// <summary>Every method of Account, as a PACT and as an ACT.</summary>
[Collection(OnDaprAndRedis.Name)]
[RequiresServers]
public sealed class AccountTests(DaprAndRedisSystem system) : SystemTests(system)
{
    private static readonly bool[] Modes = [true, false];

    [SystemFact]
    public Task An_untouched_account_holds_10000_in_each_balance() => All(Modes, async pact =>
    {
        var result = (await Commit(As(pact, Accounts.Balance(Name("a"))))).Result;

        Assert.Equal((10_000, 10_000, 20_000), (result.GetProperty("checking").GetDecimal(), result.GetProperty("savings").GetDecimal(), result.GetProperty("total").GetDecimal()));
    });

    [SystemFact]
    public Task Deposits_and_withdrawals_change_one_balance() => All(Modes, async pact =>
    {
        var a = Name("a");

        Assert.Equal(10_000.25m, (await Commit(As(pact, Accounts.Amount("DepositChecking", a, 0.25m)))).Result.GetDecimal());
        Assert.Equal(9_000, (await Commit(As(pact, Accounts.Amount("TransactSavings", a, 1_000)))).Result.GetDecimal());
        Assert.Equal((10_000.25m, 9_000m), await Balances(a));
    });

    [SystemFact]
    public Task A_check_costs_one_more_when_both_balances_do_not_cover_it() => All(Modes, async pact =>
    {
        var a = Name("a");

        Assert.Equal(-5_000, (await Commit(As(pact, Accounts.Amount("WriteCheck", a, 15_000)))).Result.GetDecimal());
        Assert.Equal(-10_002, (await Commit(As(pact, Accounts.Amount("WriteCheck", a, 5_001)))).Result.GetDecimal());
        Assert.Equal((-10_002m, 10_000m), await Balances(a));
    });

    [SystemFact]
    public Task Amalgamate_moves_everything() => All(Modes, async pact =>
    {
        var (a, b) = (Name("a"), Name("b"));

        Assert.Equal(20_000, (await Commit(As(pact, Accounts.Amalgamate(a, b), b))).Result.GetDecimal());
        Assert.Equal((0m, 0m), await Balances(a));
        Assert.Equal((30_000m, 10_000m), await Balances(b));
    });

    [SystemFact]
    public Task Payments_move_an_amount() => All(from pact in Modes from method in new[] { "SendPayment", "Transfer" } select (pact, method), async row =>
    {
        var (a, b) = (Name("a"), Name("b"));

        Assert.Equal(9_900, (await Commit(As(row.pact, Accounts.Transfer(a, b, 100, row.method), b))).Result.GetDecimal());
        Assert.Equal((9_900m, 10_000m), await Balances(a));
        Assert.Equal((10_100m, 10_000m), await Balances(b));
    });

    /// <summary>The root pays itself: the call back into it is let in, and counts.</summary>
    [SystemFact]
    public Task A_payment_to_oneself_changes_nothing() => All(Modes, async pact =>
    {
        var a = Name("a");

        Assert.Equal(10_000, (await Commit(As(pact, Accounts.Transfer(a, a, 100), a))).Result.GetDecimal());
        Assert.Equal((10_000m, 10_000m), await Balances(a));
    });

    /// <summary>Deposits issued in parallel, repeated receivers and the root itself honoured one by one.</summary>
    [SystemFact]
    public Task MultiTransfer_pays_each_named_account_as_often_as_it_is_named() => All(Modes, async pact =>
    {
        var (a, b, c) = (Name("a"), Name("b"), Name("c"));
        string[] to = [b, c, b, a];

        Assert.Equal(9_970, (await Commit(As(pact, Accounts.MultiTransfer(a, to, 10), to))).Result.GetDecimal());
        Assert.Equal((9_970m, 10_020m, 10_010m), (await Checking(a), await Checking(b), await Checking(c)));
    });

    /// <summary>Each abort of the contract leaves nothing behind.</summary>
    [SystemFact]
    public Task What_is_not_covered_or_makes_no_sense_aborts() => All(
        from pact in Modes
        from row in new (string Name, Func<string, string, Transaction> Make, bool Two)[]
        {
            ("negative deposit", (a, _) => Accounts.Amount("DepositChecking", a, -1), false),
            ("negative check", (a, _) => Accounts.Amount("WriteCheck", a, -1), false),
            ("negative savings", (a, _) => Accounts.Amount("TransactSavings", a, -1), false),
            ("savings below 0", (a, _) => Accounts.Amount("TransactSavings", a, 10_001), false),
            ("negative payment", (a, b) => Accounts.Transfer(a, b, -1), true),
            ("uncovered payment", (a, b) => Accounts.Transfer(a, b, 10_001, "SendPayment"), true),
            ("uncovered transfers", (a, b) => Accounts.MultiTransfer(a, [b, b], 5_001), true),
            ("amalgamate into itself", (a, _) => Accounts.Amalgamate(a, a), false),
        }
        select (pact, row),
        async test =>
        {
            var (a, b) = (Name("a"), Name("b"));

            await Abort(As(test.pact, test.row.Make(a, b), test.row.Two ? [b, b] : [a]), "application");

            Assert.Equal(((10_000m, 10_000m), (10_000m, 10_000m)), (await Balances(a), await Balances(b)));
        });

    private static Transaction As(bool pact, Transaction transaction, params string[] others) => pact ? transaction.Pact(others) : transaction.Act();

    private async Task<(decimal Checking, decimal Savings)> Balances(string account)
    {
        var result = (await Commit(Accounts.Balance(account).Act())).Result;
        return (result.GetProperty("checking").GetDecimal(), result.GetProperty("savings").GetDecimal());
    }
}
