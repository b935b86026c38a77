using Snapper.Sidecar.Embedded;
using Xunit;

namespace Snapper.Sidecar.Tests;

public sealed class ActorLockTests
{
    private readonly ActorLock _lock = new(maxDepth: 3);

    [Fact]
    public void Calls_with_one_id_share_a_flight_and_others_wait_in_order()
    {
        var a = _lock.Join("a");
        var b = _lock.Join("b");
        var c = _lock.Join("c");
        Assert.Same(a, _lock.Join("a"));
        Assert.Equal([true, false, false], Running(a, b, c));

        _lock.Release(a);
        Assert.Equal([false, false], Running(b, c));
        _lock.Release(a);
        Assert.Equal([true, false], Running(b, c));
        _lock.Release(b);
        Assert.Equal([true], Running(c));
    }

    [Fact]
    public async Task A_call_that_gives_up_waiting_does_not_let_anyone_in_early()
    {
        using var gone = new CancellationTokenSource();
        var a = _lock.Join("a");
        var b = _lock.Enter("b", gone.Token).AsTask();
        var c = _lock.Join("c");
        await gone.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => b);
        Assert.Equal([true, false], Running(a, c));

        _lock.Release(a);
        Assert.Equal([true], Running(c));
    }

    [Fact]
    public void One_call_too_many_is_refused_and_leaves_the_actor_usable()
    {
        var a = _lock.Join("a");
        _lock.Join("a");
        _lock.Join("a");
        Assert.Throws<ActorStackDepthException>(() => _lock.Join("a"));
        var b = _lock.Join("b");

        _lock.Release(a);
        _lock.Release(a);
        Assert.Equal([false], Running(b));
        _lock.Release(a);
        Assert.Equal([true], Running(b));
    }

    private static bool[] Running(params ActorLock.Flight[] flights) => [.. flights.Select(flight => flight.Started.IsCompletedSuccessfully)];
}
