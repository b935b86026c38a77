using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Snapper.Live.Links;
using Xunit;

namespace Snapper.Integration.Tests.Live;

/// <summary>A link is a road like any other in clear weather, and does what it is told in any other.</summary>
public sealed class LinkTests : IAsyncLifetime
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private readonly int _port = FreePorts.Base(0, 1);
    private readonly Link _link;
    private readonly List<Socket> _accepted = [];
    private TcpListener? _target;
    private int _slow;

    public LinkTests() => _link = new Link("test", () => _port, () => _port + 1);

    public Task InitializeAsync()
    {
        Listen();
        _link.Start();
        return Task.CompletedTask;
    }

    public async Task DisposeAsync()
    {
        await _link.DisposeAsync();
        EndTarget();
    }

    [Fact]
    public async Task Everything_arrives_in_order_and_the_end_of_one_side_is_the_end_for_the_other_alone()
    {
        var (caller, target) = await Connect();
        using var both = new Both(caller, target);
        var sent = new byte[3_000_000];
        new Random(1).NextBytes(sent);

        var received = ReadToEnd(target);
        await caller.SendAsync(sent);
        caller.Shutdown(SocketShutdown.Send);
        Assert.Equal(sent, await received.WaitAsync(Patience));

        received = ReadToEnd(caller);
        await target.SendAsync(sent);
        target.Shutdown(SocketShutdown.Send);
        Assert.Equal(sent, await received.WaitAsync(Patience));
    }

    [Fact]
    public async Task It_refuses_while_its_target_does_not_listen()
    {
        (await Connect()).Caller.Dispose();
        EndTarget();
        await Eventually.Holds("the link to refuse", Patience, async () => await Refuses() ? null : "it accepts");

        Listen();
        var (caller, target) = await Connect();
        using var both = new Both(caller, target);
        await caller.SendAsync(new byte[] { 5 });
        Assert.Equal(1, await target.ReceiveAsync(new byte[9]).WaitAsync(Patience));
    }

    [Fact]
    public async Task What_is_held_arrives_later_and_whole_and_the_other_direction_is_free()
    {
        var (caller, target) = await Connect();
        using var both = new Both(caller, target);
        _link.Up.Set(new Weather(Holds: true));

        await caller.SendAsync(new byte[] { 1, 2, 3 });
        await target.SendAsync(new byte[] { 9 });
        Assert.Equal(1, await caller.ReceiveAsync(new byte[9]).WaitAsync(Patience));
        Assert.Equal(0, target.Available);

        _link.Heal();
        var buffer = new byte[9];
        Assert.Equal(3, await target.ReceiveAsync(buffer).WaitAsync(Patience));
        Assert.Equal([1, 2, 3], buffer[..3]);
    }

    [Fact]
    public async Task What_is_stranded_arrives_after_its_sender_has_gone_and_others_overtake_it()
    {
        var (dead, target) = await Connect();
        using var first = new Both(dead, target);
        _link.Strand();
        await dead.SendAsync(new byte[] { 1, 2, 3 });
        dead.Dispose();
        var (caller, there) = await Connect();
        new Both(caller, there).Dispose();
        Assert.Equal(0, target.Available);

        _link.Heal();
        Assert.Equal(3, await target.ReceiveAsync(new byte[9]).WaitAsync(Patience));
    }

    [Fact]
    public async Task A_cut_resets_both_sides_and_lets_new_callers_in_unless_it_is_to_refuse()
    {
        var (caller, target) = await Connect();
        using var both = new Both(caller, target);

        _link.Cut(refuses: false);
        foreach (var side in new[] { caller, target })
        {
            var reset = await Assert.ThrowsAsync<SocketException>(() => side.ReceiveAsync(new byte[1]).WaitAsync(Patience));
            Assert.Equal(SocketError.ConnectionReset, reset.SocketErrorCode);
        }

        var (again, there) = await Connect();
        using var second = new Both(again, there);
        _link.Cut(refuses: true);
        await Eventually.Holds("the link to refuse", Patience, async () => await Refuses() ? null : "it accepts");
        _link.Heal();
        var (third, last) = await Connect();
        new Both(third, last).Dispose();
    }

    /// <summary>By the port of each caller: that of a worker, in live runs.</summary>
    [Fact]
    public async Task Each_caller_has_weather_of_its_own_and_others_do_not_feel_it()
    {
        var port = FreePorts.Base(0);
        await using var link = new Link(
            "lanes", () => port, () => _port + 1, callerOf: caller => caller == _slow ? "slow" : "other");
        link.Start();
        var (slow, target) = await Connect(port, socket => _slow = ((IPEndPoint)socket.LocalEndPoint!).Port);
        var (other, there) = await Connect(port);
        using var first = new Both(slow, target);
        using var second = new Both(other, there);
        Assert.Equal((1, 1), (link.Of("slow").Connections, link.Of("other").Connections));

        ((IRoad)link.Of("slow")).Hold(up: true, down: false);
        await slow.SendAsync(new byte[] { 1 });
        await other.SendAsync(new byte[] { 2 });
        Assert.Equal(1, await there.ReceiveAsync(new byte[9]).WaitAsync(Patience));
        Assert.Equal(0, target.Available);

        link.Of("other").Cut(refuses: true);
        await Assert.ThrowsAsync<SocketException>(() => other.ReceiveAsync(new byte[1]).WaitAsync(Patience));
        link.Of("slow").Heal();
        Assert.Equal(1, await target.ReceiveAsync(new byte[9]).WaitAsync(Patience));
    }

    /// <summary>Half open: it accepts, and nothing comes back, nor does anything arrive.</summary>
    [Fact]
    public async Task A_held_link_accepts_callers_of_whom_its_target_hears_only_when_it_is_healed()
    {
        (await Connect()).Caller.Dispose();
        ((IRoad)_link).Hold(up: true, down: true);
        _link.Cut(refuses: false);
        using var caller = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        await caller.ConnectAsync(IPAddress.Loopback, _port);
        await caller.SendAsync(new byte[] { 42 });
        var answer = caller.ReceiveAsync(new byte[1]);
        _link.Heal();
        using var target = await Heard();
        Assert.False(answer.IsCompleted);
        await target.SendAsync(new byte[] { 7 });
        Assert.Equal(1, await answer.WaitAsync(Patience));
    }

    [Fact]
    public async Task New_callers_can_be_led_to_another_target()
    {
        var ports = FreePorts.Base(0, 1);
        using var other = new TcpListener(IPAddress.Loopback, ports + 1);
        other.Start();
        await using var link = new Link("astray", () => ports, () => _port + 1, leadsTo: () => ports + 1);
        link.Start();
        Socket? caller = null;
        await Eventually.Holds(
            "the link to accept", Patience, async () => (caller = await Try(ports)) is null ? "it refuses" : null);
        using var mine = caller!;
        using var there = await other.AcceptSocketAsync().WaitAsync(Patience);
        await mine.SendAsync(new byte[] { 5 });
        Assert.Equal(1, await there.ReceiveAsync(new byte[9]).WaitAsync(Patience));
    }

    [Theory]
    [InlineData(300, 0)]
    [InlineData(0, 10_000)]
    public async Task Slow_weather_is_slow(int delayMs, int bytesPerSecond)
    {
        var (caller, target) = await Connect();
        using var both = new Both(caller, target);
        _link.Down.Set(new Weather(Delay: TimeSpan.FromMilliseconds(delayMs), BytesPerSecond: bytesPerSecond));

        var started = Stopwatch.GetTimestamp();
        await target.SendAsync(new byte[3_000]);
        target.Shutdown(SocketShutdown.Send);
        Assert.Equal(3_000, (await ReadToEnd(caller).WaitAsync(Patience)).Length);

        Assert.True(Stopwatch.GetElapsedTime(started) > TimeSpan.FromMilliseconds(250), $"It took {Stopwatch.GetElapsedTime(started)}.");
    }

    private static async Task<byte[]> ReadToEnd(Socket socket)
    {
        // Not a stream: one side may have ended its own direction already.
        using var all = new MemoryStream();
        var buffer = new byte[64 * 1024];
        for (int read; (read = await socket.ReceiveAsync(buffer)) > 0;)
        {
            all.Write(buffer, 0, read);
        }

        return all.ToArray();
    }

    private void Listen()
    {
        _target = new TcpListener(IPAddress.Loopback, _port + 1);
        _target.Start();
    }

    /// <summary>As when a process ends: with all its connections.</summary>
    private void EndTarget()
    {
        _target!.Dispose();
        _accepted.ForEach(socket => socket.Dispose());
    }

    private async Task<bool> Refuses()
    {
        using var caller = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            await caller.ConnectAsync(IPAddress.Loopback, _port);
            return false;
        }
        catch (SocketException refused)
        {
            // A listener that is closed at this very moment resets; the next caller is refused.
            return refused.SocketErrorCode == SocketError.ConnectionRefused;
        }
    }

    /// <summary>
    /// A connection through a link; the target's own side is found by a first byte, because the link has a connection
    /// of its own.
    /// </summary>
    private async Task<(Socket Caller, Socket Target)> Connect(int? port = null, Action<Socket>? bound = null)
    {
        Socket? caller = null;
        await Eventually.Holds(
            "the link to accept", Patience,
            async () => (caller = await Try(port ?? _port, bound)) is null ? "it refuses" : null);
        await caller!.SendAsync(new byte[] { 42 });
        return (caller, await Heard());
    }

    private static async Task<Socket?> Try(int port, Action<Socket>? bound = null)
    {
        var caller = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        caller.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        bound?.Invoke(caller);
        try
        {
            await caller.ConnectAsync(IPAddress.Loopback, port);
            return caller;
        }
        catch (SocketException)
        {
            caller.Dispose();
            return null;
        }
    }

    /// <summary>The next connection at the target on which something is said.</summary>
    private async Task<Socket> Heard()
    {
        while (true)
        {
            var target = await _target!.AcceptSocketAsync().WaitAsync(Patience);
            _accepted.Add(target);
            using var soon = new CancellationTokenSource(TimeSpan.FromMilliseconds(500));
            try
            {
                if (await target.ReceiveAsync(new byte[1], soon.Token) == 1)
                {
                    return target;
                }
            }
            catch (OperationCanceledException)
            {
                // The link's own, which says nothing. It stays open.
            }
        }
    }

    private sealed class Both(Socket one, Socket other) : IDisposable
    {
        public void Dispose()
        {
            one.Dispose();
            other.Dispose();
        }
    }
}
