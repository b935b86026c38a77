using System.Diagnostics;
using Snapper.Client.Messages;
using Snapper.Contracts;
using Snapper.Client.Sending;
using Snapper.Protocol.Identity;

namespace Snapper.Client.Tests;

/// <summary>A client with several addresses: it learns where actors live, and gets along when workers do not answer.</summary>
public sealed class RoutingTests : IAsyncLifetime
{
    private readonly Dictionary<string, string> _owners = new() { ["alice"] = "w2", ["bob"] = "w1" };
    private FakeWorker _one = null!;
    private FakeWorker _two = null!;

    public async Task InitializeAsync()
    {
        (_one, _two) = (await FakeWorker.Start(), await FakeWorker.Start());
        (_one.Name, _two.Name) = ("w1", "w2");
        _one.Execute = _two.Execute = t => FakeWorker.Envelope(t, $$"""
            "outcome":"committed","result":null,"worker":"{{_owners[t.GetProperty("actor").GetProperty("id").GetString()!]}}"
            """);
    }

    public async Task DisposeAsync()
    {
        await _one.DisposeAsync();
        await _two.DisposeAsync();
    }

    [Fact]
    public async Task What_was_learnt_of_an_actor_decides_where_its_next_transactions_go_first()
    {
        await using var snapper = Client();
        for (var i = 0; i < 4; i++)
        {
            // Both addresses have answered then, and so their names are known.
            Assert.Equal("w2", (await Submit(snapper, "alice")).Worker);
            Assert.Equal("w1", (await Submit(snapper, "bob")).Worker);
        }

        var (one, two) = (_one.Requests.Count, _two.Requests.Count);
        for (var i = 0; i < 10; i++)
        {
            await Submit(snapper, "alice");
        }

        Assert.Equal((one, two + 10), (_one.Requests.Count, _two.Requests.Count));
        _owners["alice"] = "w1"; // it has moved: w2 passes it on once, and says so
        for (var i = 0; i < 10; i++)
        {
            Assert.Equal("w1", (await Submit(snapper, "alice")).Worker);
        }

        Assert.Equal((one + 9, two + 11), (_one.Requests.Count, _two.Requests.Count));
    }

    [Fact]
    public async Task Actors_that_are_not_known_take_turns()
    {
        await using var snapper = Client(remembered: 0);
        for (var i = 0; i < 10; i++)
        {
            await Submit(snapper, "alice");
        }

        Assert.Equal((5, 5), (_one.Requests.Count, _two.Requests.Count));
    }

    [Fact]
    public async Task A_dead_address_is_passed_over_and_tried_again_now_and_then()
    {
        await using var snapper = Client();
        var port = _two.Address.Port;
        await _two.DisposeAsync();
        for (var i = 0; i < 50; i++)
        {
            Assert.Equal(TransactionOutcome.Committed, (await Submit(snapper, "alice")).Outcome);
        }

        Assert.Equal(50, _one.SentIds.Distinct().Count());
        Assert.Equal(50, _one.Requests.Count);
        var two = await FakeWorker.Start(port);
        (two.Name, two.Execute) = ("w2", _one.Execute);
        _two = two;
        var clock = Stopwatch.StartNew();
        while (two.Requests.IsEmpty)
        {
            Assert.True(clock.Elapsed < TimeSpan.FromSeconds(20), "The address that came back was not tried within 20 s.");
            await Submit(snapper, "alice");
            await Task.Delay(10);
        }
    }

    [Fact]
    public async Task What_one_worker_does_not_take_now_another_gets_at_once_with_the_same_bytes()
    {
        await using var snapper = Client();
        foreach (var worker in new[] { _one, _two })
        {
            worker.Then(e => e.Text(503, """{"detail":"starting"}""", retryAfter: "10"));
        }

        // Whichever is asked first refuses; the other has its refusal left for the next one.
        var clock = Stopwatch.StartNew();
        var refusing = Submit(snapper, "alice");
        await WaitFor(() => _one.Requests.Count + _two.Requests.Count >= 2, "the second worker was asked");
        Assert.True(clock.Elapsed < TimeSpan.FromSeconds(5), $"It took {clock.Elapsed} to ask the other worker.");
        Assert.Equal(TransactionOutcome.Committed, (await refusing).Outcome);
        Assert.Single(_one.Requests.Concat(_two.Requests).Select(r => r.Single().GetRawText()).Distinct());
    }

    [Fact]
    public async Task What_was_lost_sight_of_at_one_worker_is_asked_for_at_another_by_its_id()
    {
        await using var snapper = Client();
        foreach (var (worker, other) in new[] { (_one, _two), (_two, _one) })
        {
            worker.Then(e =>
            {
                foreach (var (transaction, envelope) in e.Transactions.Zip(e.ExecuteAll()))
                {
                    other.Executed[transaction.GetProperty("id").GetString()!] = envelope; // workers ask each other (I2)
                }

                return e.Drop();
            });
        }

        var reply = await Submit(snapper, "alice");

        Assert.Equal(TransactionOutcome.Committed, reply.Outcome);
        Assert.Equal(1, _one.Requests.Count + _two.Requests.Count);
        Assert.Equal(reply.Id, (_one.Requests.IsEmpty ? _one : _two).Asked.First());
    }

    [Fact]
    public async Task When_nobody_answers_the_caller_hears_so_at_its_timeout()
    {
        await _one.DisposeAsync();
        await _two.DisposeAsync();
        await using var snapper = Client(timeout: TimeSpan.FromMilliseconds(500));
        var clock = Stopwatch.StartNew();
        var reply = await Submit(snapper, "alice");

        Assert.Equal((TransactionOutcome.Rejected, 503), (reply.Outcome, reply.Rejection?.Status));
        Assert.True(clock.Elapsed < TimeSpan.FromSeconds(10), $"It took {clock.Elapsed}.");
        await Assert.ThrowsAsync<HttpRequestException>(() => snapper.Find("x"));
        await Assert.ThrowsAsync<HttpRequestException>(() => snapper.Workers());
    }

    [Fact]
    public void The_memory_of_actors_is_bounded_and_forgets_the_oldest()
    {
        var cache = new OwnerCache(1000);
        for (var i = 0; i < 100_000; i++)
        {
            cache.Learn(new ActorKey("Account", "a" + i), "w1");
            Assert.True(cache.Count <= 1000, $"{cache.Count} actors are remembered.");
        }

        Assert.Equal("w1", cache.Find(new ActorKey("Account", "a99999")));
        Assert.Null(cache.Find(new ActorKey("Account", "a0")));
    }

    [Fact]
    public void Addresses_that_cannot_be_are_refused_by_name()
    {
        static SnapperClient With(params string[] workers) => new(new SnapperClientOptions { Workers = [.. workers.Select(worker => new Uri(worker, UriKind.RelativeOrAbsolute))] });

        Assert.Contains("Workers", Assert.Throws<ArgumentException>(() => With("http://127.0.0.1:1", "somewhere")).Message, StringComparison.Ordinal);
        Assert.Contains("each once", Assert.Throws<ArgumentException>(() => With("http://127.0.0.1:1", "http://127.0.0.1:1/")).Message, StringComparison.Ordinal);
        Assert.Contains("RememberedActors", Assert.Throws<ArgumentOutOfRangeException>(() => new SnapperClient(new SnapperClientOptions { RememberedActors = -1 })).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_migration_names_exactly_one_thing_that_moves()
    {
        await using var snapper = Client();

        await Assert.ThrowsAsync<ArgumentException>(() => snapper.Migrate(new MigrationRequest()));
        await Assert.ThrowsAsync<ArgumentException>(() => snapper.Migrate(new MigrationRequest { Worker = "w1", Rebalance = true }));
    }

    private static Task<TransactionReply> Submit(SnapperClient snapper, string id) => snapper.Submit(
        new TransactionRequestMessage { Actor = new ActorKey("Account", id), Method = "Balance", Mode = TransactionMode.Act });

    private static async Task WaitFor(Func<bool> condition, string what)
    {
        var clock = Stopwatch.StartNew();
        while (!condition())
        {
            Assert.True(clock.Elapsed < TimeSpan.FromSeconds(20), $"Waited 20 s until {what}.");
            await Task.Delay(5);
        }
    }

    private SnapperClient Client(int remembered = 1000, TimeSpan? timeout = null) => new(new SnapperClientOptions
    {
        Workers = [_one.Address, _two.Address],
        RememberedActors = remembered,
        Timeout = timeout ?? TimeSpan.FromSeconds(20),
        MinBackoff = TimeSpan.FromMilliseconds(5),
        MaxBackoff = TimeSpan.FromMilliseconds(50),
    });
}
