using System.Text;
using Snapper.Apps.SmallBank.Contract;
using Snapper.Client.Messages;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Client.Tests;

public sealed class ClientTests : IAsyncLifetime
{
    private FakeWorker _worker = null!;

    public async Task InitializeAsync() => _worker = await FakeWorker.Start();

    public async Task DisposeAsync() => await _worker.DisposeAsync();

    [Fact]
    public async Task An_untyped_transaction_is_sent_as_it_is_and_every_outcome_is_a_reply()
    {
        await using var snapper = _worker.Client();
        var committed = await snapper.Submit(Request("""{ "to": "bob", "amount": 1.50 }"""));

        Assert.Equal(TransactionOutcome.Committed, committed.Outcome);
        Assert.Equal((TransactionMode.Pact, 9137L, 9120L, 1), (committed.Mode, committed.Transaction, committed.Batch, committed.Attempts));
        Assert.Equal("""{ "to": "bob", "amount": 1.50 }""", Encoding.UTF8.GetString(committed.Result.Span));
        Assert.Equal(1.5m, committed.ResultAs<PaymentInput>().Amount);

        _worker.Then(
            e => e.Each(t => FakeWorker.Aborted(t, "undeclared", "Account/carol", retryable: false)),
            e => e.Each(t => FakeWorker.Aborted(t, "somethingNew", "?", retryable: false)),
            e => e.Each(t => FakeWorker.Rejected(t, 422, "too many actors")));
        var aborted = await snapper.Submit(Request("1"));
        Assert.Equal((TransactionOutcome.Aborted, "undeclared", "Account/carol"), (aborted.Outcome, aborted.Abort!.ReasonName, aborted.Abort.Message));
        var unknown = await snapper.Submit(Request("1"));
        Assert.Equal(("somethingNew", Protocol.Messages.AbortReason.None), (unknown.Abort!.ReasonName, unknown.Abort.Reason));
        var rejected = await snapper.Submit(Request("1"));
        Assert.Equal((TransactionOutcome.Rejected, 422), (rejected.Outcome, rejected.Rejection!.Status));
        Assert.Throws<TransactionRejectedException>(() => rejected.ResultAs<int>());
    }

    [Fact]
    public async Task Every_abort_reason_that_callers_see_is_read()
    {
        await using var snapper = _worker.Client();
        foreach (var reason in Enum.GetValues<AbortReason>().Except([AbortReason.None, AbortReason.Undone]))
        {
            var name = reason.ToString().ToLowerInvariant();
            _worker.Then(e => e.Each(t => FakeWorker.Aborted(t, name, "why", retryable: false)));
            Assert.Equal(reason, (await snapper.Submit(Request("1"))).Abort!.Reason);
        }
    }

    [Theory]
    [InlineData("{")]
    [InlineData("1 2")]
    [InlineData("nonsense")]
    public async Task An_input_that_is_not_json_is_refused_before_it_spoils_a_batch(string input)
    {
        await using var snapper = _worker.Client();

        await Assert.ThrowsAsync<ArgumentException>(() => snapper.Submit(Request(input)));

        Assert.Empty(_worker.Requests);
        Assert.Equal(TransactionOutcome.Committed, (await snapper.Submit(Request("1"))).Outcome);
    }

    [Fact]
    public async Task Malformed_messages_are_refused()
    {
        await using var snapper = _worker.Client();
        var actor = new ActorKey("Account", "alice");

        await Assert.ThrowsAsync<ArgumentException>(() => snapper.Submit(new() { Actor = actor, Method = "Balance", Mode = TransactionMode.Pact }));
        await Assert.ThrowsAsync<ArgumentException>(() => snapper.Submit(new() { Actor = actor, Method = "", Mode = TransactionMode.Act }));
        await Assert.ThrowsAsync<ArgumentException>(() => snapper.Submit(new() { Actor = actor, Method = "Balance", Mode = TransactionMode.Act, Id = "" }));
        await Assert.ThrowsAsync<ArgumentException>(() => snapper.Submit(new() { Actor = actor, Method = "Balance", Mode = TransactionMode.Act, Id = new string('x', 129) }));
        await Assert.ThrowsAsync<ArgumentException>(() => snapper.Submit(new() { Actor = actor, Method = "Balance", Mode = TransactionMode.Act, Id = "line\nbreak" }));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => snapper.Submit(new() { Actor = actor, Method = "Balance", Mode = TransactionMode.Act, Timeout = TimeSpan.Zero }));
        Assert.Empty(_worker.Requests);
    }

    [Fact]
    public async Task Names_that_need_escaping_arrive_whole()
    {
        await using var snapper = _worker.Client();
        const string odd = "a/b %||\"'\\ \u00e9 \ud83d\ude00 \u0000";

        await snapper.Submit(new()
        {
            Actor = new ActorKey("Account", odd), Method = "Balance", Mode = TransactionMode.Pact, Access = [new ActorCalls("Account", odd, 2)],
        });

        var sent = Assert.Single(Assert.Single(_worker.Requests));
        Assert.Equal(odd, sent.GetProperty("actor").GetProperty("id").GetString());
        Assert.Equal(2, sent.GetProperty("access").GetProperty("Account").GetProperty(odd).GetInt32());
    }

    [Fact]
    public async Task What_became_of_a_transaction_can_be_asked()
    {
        await using var snapper = _worker.Client();
        await snapper.Submit(Request("1", "order 4711"));

        Assert.Equal(TransactionOutcome.Committed, (await snapper.Find("order 4711"))!.Outcome);
        Assert.Null(await snapper.Find("order 4712"));
        _worker.Executed["plain %?#"] = """{"id":"plain %?#","outcome":"running"}""";
        Assert.Equal(TransactionOutcome.Running, (await snapper.Find("plain %?#"))!.Outcome);
        _worker.OnAsk = (context, _) =>
        {
            context.Response.StatusCode = 500;
            return Task.CompletedTask;
        };
        await Assert.ThrowsAsync<HttpRequestException>(() => snapper.Find("x"));
    }

    [Fact]
    public async Task Through_a_sidecar_the_path_and_the_token_are_daprs_and_a_worker_never_sees_the_token()
    {
        var options = new SnapperClientOptions { Sidecar = _worker.Address, ApiToken = "secret" };
        await using var sidecar = new SnapperClient(options);
        await using var direct = new SnapperClient(new SnapperClientOptions { Worker = _worker.Address, ApiToken = "secret" });

        await sidecar.Submit(Request("1"));
        await sidecar.Find("x");
        await direct.Submit(Request("1"));

        Assert.Equal(
            [("/v1.0/invoke/snapper/method/v1/transactions", "secret"), ("/v1.0/invoke/snapper/method/v1/transactions/x", "secret"), ("/v1/transactions", null)],
            _worker.Calls);
    }

    [Fact]
    public void Options_out_of_their_range_are_named()
    {
        Refused(new() { MaxBatch = 0 }, "MaxBatch");
        Refused(new() { MaxBatch = 1001 }, "MaxBatch");
        Refused(new() { MaxConcurrentRequests = 0 }, "MaxConcurrentRequests");
        Refused(new() { Timeout = TimeSpan.FromMinutes(6) }, "Timeout");
        Refused(new() { AnswerGrace = TimeSpan.FromSeconds(-1) }, "AnswerGrace");
        Refused(new() { MinBackoff = TimeSpan.FromSeconds(2) }, "MaxBackoff");
        Refused(new() { Worker = new Uri("v1", UriKind.Relative) }, "Worker");
        Refused(new() { Sidecar = new Uri("ftp://127.0.0.1") }, "Sidecar");
        Refused(new() { AppId = "" }, "AppId");

        static void Refused(SnapperClientOptions options, string name) =>
            Assert.Contains(name, Assert.ThrowsAny<ArgumentException>(() => new SnapperClient(options)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_closed_client_ends_what_is_under_way_and_takes_nothing_more()
    {
        var snapper = _worker.Client(maxRequests: 1);
        var arrived = new TaskCompletionSource();
        _worker.Then(e =>
        {
            arrived.SetResult();
            return e.Hang();
        });
        var sent = snapper.Submit(Request("1"));
        await arrived.Task.WaitAsync(TimeSpan.FromSeconds(20));
        var queued = snapper.Submit(Request("1"));

        await snapper.DisposeAsync();

        Assert.Equal(TransactionOutcome.InDoubt, (await sent).Outcome);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => queued);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => snapper.Submit(Request("1")));
        await snapper.DisposeAsync();
    }

    private static TransactionRequestMessage Request(string input, string? id = null) => new()
    {
        Actor = new ActorKey("Account", "alice"),
        Method = "Transfer",
        Input = Encoding.UTF8.GetBytes(input),
        Mode = TransactionMode.Pact,
        Access = [new ActorCalls("Account", "alice", 1)],
        Id = id,
    };
}
