using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Memory;
using Snapper.Storage.Recovery;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Storage.Tests.Checkpoints;

/// <summary>Checkpoints that nobody waits for leave the store to commits; those that somebody waits for, and those before them, do not dawdle.</summary>
public sealed class CheckpointRateLimiterTests : IAsyncLifetime
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(5);
    private readonly MemoryStorage _storage = new();
    private readonly ManualTime _time = new();
    private readonly MemoryTransactionLog _log;
    private readonly SpyStore _store;
    private LogOpening _opening = null!;
    private Checkpointer _checkpointer = null!;
    private readonly Dictionary<string, long> _versions = [];
    private long _sequence;

    public CheckpointRateLimiterTests()
    {
        _log = new MemoryTransactionLog(_storage);
        _store = new SpyStore(new MemoryStateStore(_storage, _time, new StateStoreOptions()));
    }

    public async Task InitializeAsync()
    {
        _opening = await _log.Open(CancellationToken.None);
        var recovered = await LogRecovery.Run(_log, _store, _opening, new NoSink(), _time, CancellationToken.None);
        _store.Calls.Clear();
        _checkpointer = new Checkpointer(_log, _store, _opening, recovered, new CheckpointerOptions { UnfoldedBytesMax = 64 * 1024, PacedActors = 2 }, _time);
        _checkpointer.Start();
    }

    public async Task DisposeAsync()
    {
        var held = _store.Hold;
        _store.Hold = null;
        held?.TrySetResult();
        await _checkpointer.DisposeAsync();
    }

    [Fact]
    public async Task One_that_nobody_waits_for_rests_three_times_as_long_as_each_call_took()
    {
        await Change("a", "b", "c", "d", "e");
        Begin();
        Assert.Equal([2], _store.Calls);
        Answer(4);
        Assert.Equal(TimeSpan.FromMilliseconds(12), _time.NextIn);
        Pass(11);
        Assert.Equal([2], _store.Calls);
        Pass(1);
        Assert.Equal([2, 2], _store.Calls);
        Answer(1000);
        Assert.Equal(TimeSpan.FromMilliseconds(50), _time.NextIn); // a store that is away for a while does not make checkpoints last for ever
        Pass(50);
        Assert.Equal([2, 2, 1], _store.Calls);
        Answer(1);
        Assert.Equal((0, 1L, 0), (_checkpointer.PendingActors, _checkpointer.Checkpoints, _storage.Groups.Count));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task As_soon_as_somebody_waits_it_goes_on_and_rests_no_more(bool whileItRests)
    {
        await Change("a", "b", "c", "d", "e", "f");
        Begin();
        if (whileItRests)
        {
            Answer(4);
            Assert.Single(_store.Calls);
        }

        var urgent = _checkpointer.CheckpointOf(actor => actor.Id == "a", isUrgent: true);
        if (!whileItRests)
        {
            Answer(4);
            Pass(12); // this rest began before
        }

        Assert.Equal([2, 4], _store.Calls);
        await Change("a");
        Answer(4);
        Assert.Equal([2, 4, 1], _store.Calls); // its own
        Answer(4);
        Assert.True(await urgent);
        Assert.Equal(0, _checkpointer.PendingActors);

        // And then checkpoints rest again.
        await Change("a", "b", "c");
        Begin();
        Answer(4);
        Assert.Equal([2, 4, 1, 2], _store.Calls);
        Pass(50);
        Answer(0);
        Assert.Equal([2, 4, 1, 2, 1], _store.Calls);
    }

    [Fact]
    public async Task One_that_has_much_to_do_does_not_rest()
    {
        await Change("a", "b", "c", "d");
        await Durable(Some.Batch(2, [Some.Change("x", 1, new string('x', 70_000))]));
        Pass(0); // many bytes start it at once
        Assert.Equal([5], _store.Calls);
    }

    [Fact]
    public async Task One_that_rests_ends_with_the_checkpointer()
    {
        await Change("a", "b", "c");
        Begin();
        Answer(4);
        await _checkpointer.DisposeAsync().AsTask().WaitAsync(TimeSpan.FromSeconds(10));
        Assert.Equal([2], _store.Calls);
        Assert.Equal(3, _checkpointer.PendingActors); // the log has them
    }

    private Task Change(params string[] actors)
    {
        var changes = new List<ActorChange>();
        foreach (var actor in actors)
        {
            var version = _versions[actor] = _versions.GetValueOrDefault(actor) + 1;
            changes.Add(Some.Change(actor, version, "1"));
        }

        return Durable(Some.Batch(1, changes));
    }

    private async Task Durable(LocalBatchCommitted batch)
    {
        await _log.Append(_opening.Epoch, ++_sequence, 1, Some.Encode(batch), CancellationToken.None);
        _checkpointer.OnDurable(batch, _sequence);
    }

    private void Begin()
    {
        _store.Hold = new TaskCompletionSource();
        _time.Advance(Interval);
    }

    /// <summary>The store answers its call after so many milliseconds; the next call is held again.</summary>
    private void Answer(int afterMs)
    {
        _time.Advance(TimeSpan.FromMilliseconds(afterMs));
        var held = _store.Hold!;
        _store.Hold = new TaskCompletionSource();
        held.SetResult();
    }

    private void Pass(int milliseconds) => _time.Advance(TimeSpan.FromMilliseconds(milliseconds));
}
