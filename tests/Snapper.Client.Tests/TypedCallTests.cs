using System.Text.Json;
using Snapper.Apps.SmallBank;
using Snapper.Apps.SmallBank.Contract;
using Snapper.Client.Calls;
using Snapper.Client.Messages;
using Snapper.Protocol.Identity;

namespace Snapper.Client.Tests;

public sealed class TypedCallTests : IAsyncLifetime
{
    private FakeWorker _worker = null!;
    private SnapperClient _snapper = null!;

    public async Task InitializeAsync()
    {
        _worker = await FakeWorker.Start();
        _worker.Execute = t => FakeWorker.Envelope(t, "\"outcome\":\"committed\",\"result\":9990.5");
        _snapper = _worker.Client();
    }

    public async Task DisposeAsync()
    {
        await _snapper.DisposeAsync();
        await _worker.DisposeAsync();
    }

    [Fact]
    public async Task A_pact_carries_method_input_and_access()
    {
        var left = await _snapper.Actor<IAccount>("alice").Pact(a => a.Transfer(new("bob", 10)), touches => touches.Actor<IAccount>("bob"));

        Assert.Equal(9990.5m, left);
        var sent = OnlyRequest();
        Assert.Equal("""{"type":"Account","id":"alice"}""", sent.GetProperty("actor").GetRawText());
        Assert.Equal("Transfer", sent.GetProperty("method").GetString());
        Assert.Equal("""{"to":"bob","amount":10}""", sent.GetProperty("input").GetRawText());
        Assert.Equal("pact", sent.GetProperty("mode").GetString());
        Assert.Equal("""{"Account":{"alice":1,"bob":1}}""", sent.GetProperty("access").GetRawText());
        Assert.Equal(20_000, sent.GetProperty("timeoutMs").GetInt32());
        Assert.False(sent.TryGetProperty("accessMode", out _));
    }

    [Fact]
    public async Task An_act_declares_nothing()
    {
        await _snapper.Actor<IAccount>("alice").Act(a => a.Transfer(new("bob", 10)));

        var sent = OnlyRequest();
        Assert.Equal("act", sent.GetProperty("mode").GetString());
        Assert.False(sent.TryGetProperty("access", out _));
    }

    [Fact]
    public async Task A_method_without_input_sends_none_and_its_result_is_read()
    {
        _worker.Execute = t => FakeWorker.Envelope(t, """ "outcome":"committed","result":{"checking":1,"savings":2,"total":3} """);

        Assert.Equal(new Balances(1, 2, 3), await _snapper.Actor<IAccount>("alice").Pact(a => a.Balance()));

        Assert.False(OnlyRequest().TryGetProperty("input", out _));
    }

    [Fact]
    public async Task A_call_whose_result_is_not_wanted_runs_too()
    {
        Func<IAccount, Task> call = a => a.DepositChecking(new(1));

        await _snapper.Actor<IAccount>("alice").Pact(call);
        await _snapper.Actor<IAccount>("alice").Act(call);

        Assert.Equal(2, _worker.Requests.Count);
    }

    [Fact]
    public async Task Touches_of_one_actor_add_up_and_the_root_counts_from_the_start()
    {
        await _snapper.Actor<IAccount>("alice").Pact(
            a => a.MultiTransfer(new(["bob", "alice", "bob"], 1)),
            touches => touches.Actor<IAccount>("bob").Actor<IAccount>("alice").Actor<IAccount>("bob").Actor("Order", "o1", 3));

        Assert.Equal("""{"Account":{"alice":2,"bob":2},"Order":{"o1":3}}""", OnlyRequest().GetProperty("access").GetRawText());
    }

    [Fact]
    public async Task The_roots_count_and_the_whole_set_can_be_given()
    {
        var transfer = new MultiTransferInput(["bob", "alice"], 1);
        await _snapper.Actor<IAccount>("alice").Pact(a => a.MultiTransfer(transfer), touches => touches.Root(5));
        await _snapper.Actor<IAccount>("alice").Pact(
            a => a.MultiTransfer(transfer), touches => touches.Exactly(AccountAccess.AccessFor("MultiTransfer", transfer, "alice")));

        Assert.Equal(
            ["""{"Account":{"alice":5}}""", """{"Account":{"alice":2,"bob":1}}"""],
            _worker.Requests.Select(r => r.Single().GetProperty("access").GetRawText()));
    }

    [Fact]
    public async Task Wrong_touches_are_refused_before_anything_is_sent()
    {
        var alice = _snapper.Actor<IAccount>("alice");

        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => alice.Pact(a => a.Balance(), t => t.Actor<IAccount>("bob", 0)));
        await Assert.ThrowsAsync<ArgumentException>(() => alice.Pact(a => a.Balance(), t => t.Actor<IAccount>("")));
        await Assert.ThrowsAsync<ArgumentException>(() => alice.Pact(
            a => a.Balance(), t => t.Exactly(new Dictionary<ActorKey, int> { [new ActorKey("Account", "bob")] = 1 })));
        Assert.Empty(_worker.Requests);
    }

    [Fact]
    public async Task A_lambda_that_is_not_one_call_is_refused()
    {
        var alice = _snapper.Actor<IAccount>("alice");

        await Refused(() => alice.Act(a => Task.FromResult(1m)));
        await Refused(() => alice.Act(async a => await a.DepositChecking(new(1)) + 1));
        await Refused(() => alice.Act(a =>
        {
            _ = a.DepositChecking(new(1));
            return a.DepositChecking(new(2));
        }));
        Assert.Empty(_worker.Requests);
        Assert.Equal(9990.5m, await alice.Act(a => a.DepositChecking(new(1))));

        static async Task Refused(Func<Task> call) =>
            Assert.Contains("one call", (await Assert.ThrowsAsync<InvalidOperationException>(call)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_call_inside_the_lambda_of_a_call_does_not_disturb_it()
    {
        Task<decimal>? inner = null;

        await _snapper.Actor<IAccount>("alice").Act(a =>
        {
            inner = _snapper.Actor<IAccount>("bob").Act(b => b.DepositChecking(new(2)));
            return a.DepositChecking(new(1));
        });
        await inner!;

        Assert.Equal(
            ["alice 1", "bob 2"],
            _worker.Requests.SelectMany(r => r).Select(t => $"{t.GetProperty("actor").GetProperty("id").GetString()} {t.GetProperty("input").GetProperty("amount")}").Order());
    }

    [Fact]
    public async Task A_call_may_have_its_own_id_timeout_and_access_mode()
    {
        var options = new CallOptions { Id = "order-4711", Timeout = TimeSpan.FromMilliseconds(1500), AccessMode = AccessMode.Audit };

        await _snapper.Actor<IAccount>("alice").Pact(a => a.DepositChecking(new(1)), options: options);

        var sent = OnlyRequest();
        Assert.Equal("order-4711", sent.GetProperty("id").GetString());
        Assert.Equal(1500, sent.GetProperty("timeoutMs").GetInt32());
        Assert.Equal("audit", sent.GetProperty("accessMode").GetString());
    }

    [Fact]
    public async Task A_result_of_another_shape_says_so()
    {
        _worker.Execute = t => FakeWorker.Envelope(t, """ "outcome":"committed","result":"text" """);

        await Assert.ThrowsAsync<JsonException>(() => _snapper.Actor<IAccount>("alice").Act(a => a.DepositChecking(new(1))));
    }

    [Fact]
    public async Task A_result_that_was_not_kept_for_a_repetition_says_so_and_is_no_default()
    {
        _worker.Execute = t => FakeWorker.Envelope(t, """ "outcome":"committed","resultDropped":true """);

        var options = new CallOptions { Id = "order-4711" };
        var dropped = await Assert.ThrowsAsync<ResultDroppedException>(
            () => _snapper.Actor<IAccount>("alice").Act(a => a.DepositChecking(new(1)), options));
        Assert.Equal("order-4711", dropped.TransactionId);

        Func<IAccount, Task> call = a => a.DepositChecking(new(1));
        await _snapper.Actor<IAccount>("alice").Act(call); // it committed, and its result is not wanted
    }

    private JsonElement OnlyRequest() => Assert.Single(Assert.Single(_worker.Requests));
}
