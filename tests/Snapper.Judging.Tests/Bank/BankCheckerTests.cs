using Snapper.Judging.Bank;
using Snapper.Judging.Histories;
using Xunit;

namespace Snapper.Judging.Tests.Bank;

public sealed class BankCheckerTests
{
    private static readonly AccountBalance Initial = new(100, 100);

    [Fact]
    public void Money_that_every_method_explains_passes()
    {
        var report = BankChecker.Check(
            [
                Operation(BankMethod.DepositChecking, "a", 10, 110),
                Operation(BankMethod.TransactSavings, "a", 5, 95),
                Operation(BankMethod.Transfer, "a", 20, 90, "b"),
                Operation(BankMethod.MultiTransfer, "b", 10, 90, "a", "c", "c"),
                Operation(BankMethod.WriteCheck, "c", 500, -381),
                Operation(BankMethod.Amalgamate, "a", 0, 195, "c"),
                Operation(BankMethod.SendPayment, "b", 5, null, "c") with { Outcome = ObservedOutcome.Aborted },
                Operation(BankMethod.Balance, "b", 0, 190),
            ],
            Initial,
            Final(("a", 0, 0), ("b", 90, 100), ("c", -381 + 195, 100)));

        Assert.True(report.Passed, report.ToString());
        Assert.Equal(600 + 10 - 5 - 500, report.ExpectedTotal);
        Assert.Equal(report.ExpectedTotal - 1, report.ActualTotal);
    }

    [Fact]
    public void A_transfer_that_arrived_nowhere_is_found()
    {
        var report = BankChecker.Check([Operation(BankMethod.Transfer, "a", 20, 80, "b")], Initial, Final(("a", 80, 100), ("b", 100, 100)));

        Assert.Contains(report.Problems, problem => problem.Contains("b holds 200", StringComparison.Ordinal));
        Assert.Contains(report.Problems, problem => problem.Contains("All accounts together hold 380", StringComparison.Ordinal));
    }

    [Fact]
    public void A_transfer_that_was_wholly_lost_is_found_although_the_sum_is_right()
    {
        var report = BankChecker.Check([Operation(BankMethod.Transfer, "a", 20, 80, "b")], Initial, Final(("a", 100, 100), ("b", 100, 100)));

        Assert.Equal(report.ExpectedTotal, report.ActualTotal);
        Assert.Equal(2, report.Problems.Count);
    }

    [Fact]
    public void An_aborted_transfer_that_took_effect_is_found()
    {
        var report = BankChecker.Check(
            [Operation(BankMethod.Transfer, "a", 20, null, "b") with { Outcome = ObservedOutcome.Aborted }], Initial, Final(("a", 80, 100), ("b", 120, 100)));

        Assert.False(report.Passed);
    }

    [Theory]
    [InlineData(100, 100, true)]
    [InlineData(80, 120, true)]
    [InlineData(80, 100, false)]
    [InlineData(100, 120, false)]
    [InlineData(60, 140, false)]
    public void A_transfer_of_unknown_outcome_is_there_whole_or_not_at_all(int a, int b, bool passes)
    {
        var report = BankChecker.Check(
            [Operation(BankMethod.Transfer, "a", 20, null, "b") with { Outcome = ObservedOutcome.Unknown }], Initial, Final(("a", a, 100), ("b", b, 100)));

        Assert.Equal(passes, report.Passed);
    }

    [Fact]
    public void A_deposit_applied_twice_is_found()
    {
        var report = BankChecker.Check([Operation(BankMethod.DepositChecking, "a", 20, 120)], Initial, Final(("a", 140, 100)));

        Assert.False(report.Passed);
    }

    [Fact]
    public void A_payment_that_overdrew_the_account_is_found()
    {
        var report = BankChecker.Check([Operation(BankMethod.SendPayment, "a", 120, -20, "b")], Initial, Final(("a", -20, 100), ("b", 220, 100)));

        Assert.Contains("should have aborted", Assert.Single(report.Problems), StringComparison.Ordinal);
    }

    [Fact]
    public void An_account_without_a_final_balance_is_named()
    {
        var report = BankChecker.Check([Operation(BankMethod.Balance, "a", 0, 200)], Initial, Final(("b", 100, 100)));

        Assert.Equal(["The final balance of a was not given."], report.Problems);
    }

    private static BankOperation Operation(BankMethod method, string account, decimal amount, decimal? result, params string[] to) =>
        new() { Id = $"{method}-{account}", Method = method, Account = account, To = to, Amount = amount, Result = result, Outcome = ObservedOutcome.Committed };

    private static Dictionary<string, AccountBalance> Final(params (string Account, decimal Checking, decimal Savings)[] balances) =>
        balances.ToDictionary(balance => balance.Account, balance => new AccountBalance(balance.Checking, balance.Savings));
}
