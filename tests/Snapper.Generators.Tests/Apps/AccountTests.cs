using System.Text.Json;
using Snapper.Actors;
using Snapper.Apps.SmallBank;
using Snapper.Apps.SmallBank.Contract;
using Snapper.Protocol.Identity;

namespace Snapper.Generators.Tests.Apps;

public sealed class AccountTests
{
    private readonly SingleTransaction _bank = new(SnapperAppsSmallBankActors.All);

    [Fact]
    public void The_type_is_hosted_under_the_name_of_the_contract()
    {
        var account = Assert.Single(SnapperAppsSmallBankActors.All);

        Assert.Equal("Account", account.Type);
        Assert.True(account.StateIsImmutable);
        Assert.True(account.StateReadsAsWritten); // nothing on the hot path is read back
        Assert.DoesNotContain(account.Methods, m => m.MayAbort);
        Assert.Equal(["Balance"], account.Methods.Where(m => m.ReadOnly).Select(m => m.Name));
        Assert.Equal(["MultiTransfer"], account.Methods.Where(m => !m.InputIsImmutable).Select(m => m.Name));
        Assert.Equal(
            ["Amalgamate", "Balance", "DepositChecking", "MultiTransfer", "SendPayment", "TransactSavings", "Transfer", "WriteCheck"],
            account.Methods.Select(m => m.Name).Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task An_untouched_account_holds_10000_in_each()
    {
        Assert.Equal(new Balances(10_000, 10_000, 20_000), await Balance("alice"));
    }

    [Fact]
    public async Task The_host_may_set_another_initial_balance()
    {
        var bank = new SingleTransaction(SnapperAppsSmallBankActors.All, new OneService(new SmallBankOptions { InitialBalance = 7.5m }));

        Assert.Equal(
            new Balances(7.5m, 7.5m, 15), await bank.Run<Nothing, Balances>(Key("alice"), "Balance", default));
    }

    [Fact]
    public async Task Deposits_savings_and_checks_change_one_balance()
    {
        Assert.Equal(10_010.5m, await Run("alice", "DepositChecking", new AmountInput(10.5m)));
        Assert.Equal(9_999m, await Run("alice", "TransactSavings", new AmountInput(1)));
        Assert.Equal(10_000m, await Run("alice", "WriteCheck", new AmountInput(10.5m)));
        Assert.Equal(new Balances(10_000, 9_999, 19_999), await Balance("alice"));
    }

    [Fact]
    public async Task Savings_do_not_go_below_zero()
    {
        Assert.Equal(0, await Run("alice", "TransactSavings", new AmountInput(10_000)));

        Assert.Contains("insufficient funds", await Abort("alice", "TransactSavings", new AmountInput(0.01m)), StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_uncovered_check_takes_one_more()
    {
        Assert.Equal(-10_000, await Run("covered", "WriteCheck", new AmountInput(20_000)));
        Assert.Equal(-10_001.01m, await Run("uncovered", "WriteCheck", new AmountInput(20_000.01m)));
    }

    [Fact]
    public async Task Amalgamate_moves_everything_to_checking()
    {
        Assert.Equal(20_000, await Run("alice", "Amalgamate", new AmalgamateInput("bob")));

        Assert.Equal(new Balances(0, 0, 0), await Balance("alice"));
        Assert.Equal(new Balances(30_000, 10_000, 40_000), await Balance("bob"));
    }

    [Fact]
    public async Task Amalgamate_refuses_itself_and_debts()
    {
        Assert.Contains("into itself", await Abort("alice", "Amalgamate", new AmalgamateInput("alice")), StringComparison.Ordinal);

        await Run("alice", "WriteCheck", new AmountInput(20_000.5m));
        Assert.Contains("owes 1.5", await Abort("alice", "Amalgamate", new AmalgamateInput("bob")), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("SendPayment")]
    [InlineData("Transfer")]
    public async Task A_payment_moves_money(string method)
    {
        Assert.Equal(9_990, await Run("alice", method, new PaymentInput("bob", 10)));

        Assert.Equal(10_010, (await Balance("bob")).Checking);
    }

    [Fact]
    public async Task A_payment_to_oneself_leaves_the_balance()
    {
        Assert.Equal(10_000, await Run("alice", "SendPayment", new PaymentInput("alice", 10)));
        Assert.Equal(10_000, (await Balance("alice")).Checking);
    }

    [Fact]
    public async Task A_payment_that_checking_does_not_cover_aborts()
    {
        var reason = await Abort("alice", "SendPayment", new PaymentInput("bob", 10_000.01m));

        Assert.Equal("insufficient funds: checking of account 'alice' is 10000, 10000.01 is needed", reason);
        Assert.Equal(10_000, (await Balance("bob")).Checking);
    }

    [Fact]
    public async Task A_multi_transfer_honours_every_id_one_by_one()
    {
        Assert.Equal(9_970, await Run("alice", "MultiTransfer", new MultiTransferInput(["bob", "alice", "bob", "carol"], 10)));

        Assert.Equal(9_970, (await Balance("alice")).Checking);
        Assert.Equal(10_020, (await Balance("bob")).Checking);
        Assert.Equal(10_010, (await Balance("carol")).Checking);
    }

    [Fact]
    public async Task A_multi_transfer_that_is_not_covered_calls_nobody()
    {
        await Abort("alice", "MultiTransfer", new MultiTransferInput(["bob", "carol"], 5_000.01m));

        Assert.Equal([Key("alice")], _bank.Calls.Keys);
    }

    [Theory]
    [InlineData("DepositChecking")]
    [InlineData("TransactSavings")]
    [InlineData("WriteCheck")]
    public async Task A_negative_amount_aborts(string method) =>
        Assert.Equal("amount must not be negative, got -1", await Abort("alice", method, new AmountInput(-1)));

    [Fact]
    public async Task A_negative_payment_aborts()
    {
        Assert.Contains("negative", await Abort("alice", "Transfer", new PaymentInput("bob", -1)), StringComparison.Ordinal);
        Assert.Contains("negative", await Abort("alice", "MultiTransfer", new MultiTransferInput(["bob"], -1)), StringComparison.Ordinal);
        Assert.Equal(10_000, (await Balance("bob")).Checking);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    public async Task A_missing_receiver_aborts(string? to)
    {
        Assert.Contains("'to'", await Abort("alice", "Transfer", new PaymentInput(to!, 1)), StringComparison.Ordinal);
        Assert.Contains("'to'", await Abort("alice", "Amalgamate", new AmalgamateInput(to!)), StringComparison.Ordinal);
        Assert.Contains("'to'", await Abort("alice", "MultiTransfer", new MultiTransferInput(["bob", to!], 1)), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_null_input_aborts()
    {
        Assert.Contains("needs an input", await Abort<AmountInput>("alice", "DepositChecking", null!), StringComparison.Ordinal);
        Assert.Contains("'to' must be a list", await Abort("alice", "MultiTransfer", new MultiTransferInput(null!, 1)), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Overflow_and_rounding_abort_instead_of_making_or_losing_money()
    {
        Assert.Contains("too large", await Abort("alice", "DepositChecking", new AmountInput(decimal.MaxValue)), StringComparison.Ordinal);
        Assert.Contains("too large", await Abort("alice", "WriteCheck", new AmountInput(decimal.MaxValue)), StringComparison.Ordinal);
        Assert.Contains("too large", await Abort("alice", "MultiTransfer", new MultiTransferInput(["bob", "carol"], decimal.MaxValue)), StringComparison.Ordinal);
        const decimal tooFine = 0.0000000000000000000000000004m;
        Assert.Contains("too fine", await Abort("alice", "Transfer", new PaymentInput("bob", tooFine)), StringComparison.Ordinal);
        Assert.Equal(new Balances(10_000, 10_000, 20_000), await Balance("alice"));
    }

    [Fact]
    public async Task Zero_with_decimal_places_is_no_rounding() =>
        Assert.Equal(10_000, await Run("alice", "MultiTransfer", new MultiTransferInput(["bob", "bob"], 0.00m)));

    [Fact]
    public async Task Declared_access_is_exactly_what_each_method_calls()
    {
        await Check("Balance", null, () => Balance("alice"));
        foreach (var method in new[] { "DepositChecking", "TransactSavings", "WriteCheck" })
        {
            await CheckRun(method, new AmountInput(1));
        }

        foreach (var to in new[] { "bob", "alice" })
        {
            await CheckRun("SendPayment", new PaymentInput(to, 1));
            await CheckRun("Transfer", new PaymentInput(to, 1));
        }

        await CheckRun("MultiTransfer", new MultiTransferInput([], 1));
        await CheckRun("MultiTransfer", new MultiTransferInput(["bob", "alice", "bob", "carol", "alice"], 1));
        await Check("Amalgamate", new AmalgamateInput("alice"), () => Abort("alice", "Amalgamate", new AmalgamateInput("alice")));
        await CheckRun("Amalgamate", new AmalgamateInput("bob"));

        async Task CheckRun<TInput>(string method, TInput input) => await Check(method, input, () => Run("alice", method, input));
        async Task Check(string method, object? input, Func<Task> run)
        {
            await run();
            Assert.Equal(_bank.Calls, AccountAccess.AccessFor(method, input, "alice"));
        }
    }

    [Fact]
    public void An_access_set_of_an_unknown_method_is_refused() =>
        Assert.Throws<ArgumentException>(() => AccountAccess.AccessFor("Transfer", new AmountInput(1), "alice"));

    [Fact]
    public void Inputs_are_read_from_camel_case_and_missing_members_are_refused()
    {
        var web = JsonSerializerOptions.Web;

        var transfer = JsonSerializer.Deserialize<MultiTransferInput>("""{"TO":["bob"],"amount":1.5,"memo":"ignored"}""", web)!;
        Assert.Equal((1.5m, "bob"), (transfer.Amount, transfer.To.Single()));
        var missing = Assert.Throws<JsonException>(() => JsonSerializer.Deserialize<PaymentInput>("""{"to":"bob"}""", web));
        Assert.Contains("amount", missing.Message, StringComparison.Ordinal);
        Assert.Equal("""{"checking":1,"savings":2,"total":3}""", JsonSerializer.Serialize(new Balances(1, 2, 3), web));
    }

    private static ActorKey Key(string id) => new("Account", id);

    private Task<Balances> Balance(string id) => _bank.Run<Nothing, Balances>(Key(id), "Balance", default);

    private Task<decimal> Run<TInput>(string id, string method, TInput input) => _bank.Run<TInput, decimal>(Key(id), method, input);

    private async Task<string> Abort<TInput>(string id, string method, TInput input) =>
        (await Assert.ThrowsAsync<TransactionAbortException>(() => Run(id, method, input))).Message;

    private sealed class OneService(object service) : IServiceProvider
    {
        public object? GetService(Type serviceType) => serviceType.IsInstanceOfType(service) ? service : null;
    }
}
