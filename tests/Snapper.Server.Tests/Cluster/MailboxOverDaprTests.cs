using System.Diagnostics;
using System.Net;
using Snapper.AspNetCore.Hosting;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;
using Snapper.Server.Tests.Harness;
using Snapper.Sidecar.Client;
using Snapper.Sidecar.Tests;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Server.Tests.Cluster;

/// <summary>Two workers, each behind a daprd of its own, and one placement service.</summary>
public sealed class MailboxOverDaprTests(ITestOutputHelper output)
{
    private const int MessageBytes = 100;

    private static readonly MailboxOptions Options = new();

    [DaprFact]
    public async Task Messages_come_once_and_in_order_while_a_sidecar_is_killed_and_a_worker_begins_a_new_life()
    {
        const int each = 100_000;
        await using var first = await MailboxWorker.Start(1, placement: null);
        await using var second = await MailboxWorker.Start(2, first.Sidecar);
        var (a, b, after) = (new Incarnation(1, 3), new Incarnation(2, 5), new Incarnation(2, 6));
        var (atA, atB, atAfter) = (new LedgerOwner(a), new LedgerOwner(b), new LedgerOwner(after));
        first.Live(a.Epoch, atA, Options);
        second.Live(b.Epoch, atB, Options);

        var early = Task.WhenAll(Task.Run(() => Send(first.Hub, b, 0, each / 2)), Task.Run(() => Send(second.Hub, a, 0, each / 2)));
        await Eventually.True("the first messages are there", () => atB.Came(a) > each / 10);
        using (var daprd = Process.GetProcessById(second.Sidecar.DaprdPid))
        {
            daprd.Kill();
            await daprd.WaitForExitAsync();
        }

        // What is queued now waits until there is a way again.
        await early;
        var late = Task.WhenAll(Task.Run(() => Send(first.Hub, b, each / 2, each / 2)), Task.Run(() => Send(second.Hub, a, each / 2, each / 2)));
        await Eventually.True("much is queued on both sides", () => first.Hub.QueuedBytes(2) > 1_000_000 && second.Hub.QueuedBytes(1) > 1_000_000);
        await second.Sidecar.DisposeAsync();
        await second.StartSidecar(first.Sidecar);
        await late;
        await Eventually.True("all messages have come both ways", () => atB.Came(a) == each && atA.Came(b) == each);
        Report("killed", first.Hub);
        Report("killed", second.Hub);

        // The first worker's own sidecar holds its packet until it knows the new one; the second worker's was the one that was killed.
        Assert.True(second.Hub.Status()[0].Retransmissions > 0, "The sidecar was killed between packets.");

        // The same worker begins a new life while messages to the old one are under way.
        var lost = Task.Run(() => Send(first.Hub, b, each, each));
        await Eventually.True("the next messages are coming", () => atB.Came(a) > each + 1000);
        second.Live(after.Epoch, atAfter, Options);
        second.Hub.RequestPacket(1);
        await Eventually.True("the first worker knows the new life", () => first.Hub.Known(2) == after);
        await lost;
        await Task.WhenAll(Task.Run(() => Send(first.Hub, after, 0, each)), Task.Run(() => Send(second.Hub, a, 0, each)));
        await Eventually.True("all messages have come to and from the new life", () => atAfter.Came(a) == each && atA.Came(after) == each);

        Assert.Equal([], [.. atA.Problems, .. atB.Problems, .. atAfter.Problems]);
        Assert.Equal(["up w2/5", "gone w2/5", "up w2/6"], atA.Notices);
        Assert.Equal(["up w1/3"], atB.Notices);
        Assert.Equal(["up w1/3"], atAfter.Notices);
        Assert.InRange(atB.Came(a), each + 1000, 2 * each);
    }

    [DaprFact]
    public async Task Messages_that_wait_share_packets()
    {
        const int each = 200_000;
        await using var first = await MailboxWorker.Start(1, placement: null);
        await using var second = await MailboxWorker.Start(2, first.Sidecar);
        var (a, b) = (new Incarnation(1, 1), new Incarnation(2, 1));
        var (atA, atB) = (new LedgerOwner(a), new LedgerOwner(b));
        first.Live(a.Epoch, atA, Options);
        second.Live(b.Epoch, atB, Options);
        foreach (var (count, underWay) in new[] { (20_000, each), (each, each), (each, 2_000), (each / 4, 100), (2_000, 1) })
        {
            await Move(count, underWay);
        }

        Assert.Equal([], [.. atA.Problems, .. atB.Problems]);

        // One worker sends, with so many messages under way; the other answers each.
        async Task Move(int count, int underWay)
        {
            var (fromA, fromB) = (atB.Came(a), atA.Came(b));
            var end = fromA + count;
            var sent = fromA;
            var packets = first.Hub.Status().Sum(status => status.PacketsSent) + second.Hub.Status().Sum(status => status.PacketsSent);
            var cpu = Cpu();
            var allocated = GC.GetTotalAllocatedBytes(precise: true);
            var started = Stopwatch.GetTimestamp();
            var (request, answer) = (new byte[MessageBytes], new byte[MessageBytes]);
            atB.Next = place => Post(second.Hub, a, answer, place);
            atA.Next = _ => Begin();
            for (var i = 0; i < underWay; i++)
            {
                lock (request)
                {
                    Begin();
                }
            }

            await Eventually.True("all messages have come both ways", () => atB.Came(a) == end && atA.Came(b) == fromB + count);
            var seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
            var used = Cpu() - cpu;
            packets = first.Hub.Status()[0].PacketsSent + second.Hub.Status()[0].PacketsSent - packets;
            Assert.InRange(packets, 1, 2 * count);
            output.WriteLine(
                $"{underWay} under way: {2 * count} messages of {MessageBytes} bytes in {seconds:0.00} s: {2 * count / seconds:0}/s in {packets} packets ({packets / seconds:0}/s), "
                + $"CPU {used.Workers / 2 / count * 1e6:0.00} µs per message in both workers and {used.Sidecars / 2 / count * 1e6:0.00} µs in both sidecars, "
                + $"{used.Workers / packets * 1e6:0} + {used.Sidecars / packets * 1e6:0} µs per packet, "
                + $"{(GC.GetTotalAllocatedBytes(precise: true) - allocated) / 2.0 / count:0.0} bytes allocated per message");

            void Begin()
            {
                lock (request)
                {
                    if (sent < end)
                    {
                        Post(first.Hub, b, request, sent++);
                    }
                }
            }
        }

        Times Cpu() => new(
            Process.GetCurrentProcess().TotalProcessorTime.TotalSeconds,
            new[] { first.Sidecar.DaprdPid, second.Sidecar.DaprdPid }.Sum(pid => Process.GetProcessById(pid).TotalProcessorTime.TotalSeconds));
    }

    [DaprFact]
    public async Task Whoever_calls_a_mailbox_gets_an_answer_and_never_an_error_of_the_sidecar()
    {
        await using var worker = await MailboxWorker.Start(1, placement: null);
        Assert.Equal(AnswerKind.NotReady, (await CallAsWorker("0", "Deliver", PacketTo(1))).Kind);
        worker.Live(3, new LedgerOwner(new Incarnation(1, 3)), Options);

        Assert.Equal((AnswerKind.OtherEpoch, new Incarnation(1, 3)), await CallAsWorker("0", "Deliver", PacketTo(1)) is var hello ? (hello.Kind, hello.From) : default);
        Assert.Equal("The packet is shorter than its head.", (await CallAsWorker("0", "Deliver", "{}"u8.ToArray())).Problem);
        Assert.Equal("An empty packet: somebody tries the road.", (await CallAsWorker("0", "Deliver", [])).Problem);
        Assert.Equal("The packet from w2/9 to w3/0 came to w1/3.", (await CallAsWorker("0", "Deliver", PacketTo(3))).Problem);
        Assert.Equal("These bytes are no packet.", (await CallAsWorker("0", "Deliver", new byte[3 << 20])).Problem);
        Assert.Equal("The packet is larger than this worker reads.", (await CallAsWorker("0", "Deliver", new byte[5 << 20])).Problem);
        foreach (var (id, method) in new[] { ("1", "Deliver"), ("0", "StartTransaction"), ("0", "deliver"), ("a/b", "Deliver") })
        {
            Assert.Equal("A mailbox is actor 0 with the method Deliver, for workers alone.", (await CallAsWorker(id, method, PacketTo(1))).Problem);
        }

        // Past the sidecar, or past its token, nobody gets in.
        using var direct = new HttpClient { BaseAddress = worker.Address };
        using var body = new ByteArrayContent(PacketTo(1));
        using var past = await direct.PutAsync("/actors/Mailbox@w1/0/method/Deliver", body);
        Assert.Equal(HttpStatusCode.Unauthorized, past.StatusCode);
        using var stranger = new DaprSidecarClient(worker.Sidecar.Endpoint, "guessed");
        var refused = await Assert.ThrowsAsync<IOException>(() => new SidecarMailboxTransport(stranger, MailboxSeal.None).Deliver(1, PacketTo(1), default));
        Assert.Contains("401", refused.Message, StringComparison.Ordinal);

        // Behind both, only workers are heard.
        Assert.Contains(MailboxSeal.Variable, (await Call("0", "Deliver", PacketTo(1), null)).Problem, StringComparison.Ordinal);
        Assert.Contains(MailboxSeal.Variable, (await Call("0", "Deliver", PacketTo(1), "Snapper guessed")).Problem, StringComparison.Ordinal);

        Task<ChannelAnswer> CallAsWorker(string id, string method, byte[] packet) => Call(id, method, packet, MailboxWorker.Seal.Of("Mailbox@w1", packet));

        async Task<ChannelAnswer> Call(string id, string method, byte[] packet, string? authorization)
        {
            var answer = await worker.Client.InvokeActor(worker.Client.ActorMethod("Mailbox@w1", id, method), packet, default, authorization);
            Assert.Equal((200, "application/octet-stream"), (answer.Status, answer.ContentType));
            Assert.True(ChannelAnswer.TryRead((MailboxWorker.Seal.Open(authorization, answer.Body) ?? answer.Body).Span, out var read)); // a refusal is not sealed
            return read;
        }
    }

    /// <summary>A hello of worker 2 to whoever is that worker.</summary>
    private static byte[] PacketTo(int worker)
    {
        var sender = new ChannelSender(new Incarnation(2, 9), new PeerView(worker), new ChannelLimits());
        sender.RequestPacket();
        Assert.True(sender.TryTake([], out var packet));
        return packet.ToArray();
    }

    private static async Task Send(MailboxHub hub, Incarnation to, long first, int count)
    {
        var message = new byte[MessageBytes];
        for (var i = first; i < first + count; i++)
        {
            if (!Post(hub, to, message, i))
            {
                return;
            }

            if (hub.IsFull(to.Worker))
            {
                // As admission does it: no new work while a peer has too much.
                await Eventually.True("the queue has room", () => !hub.IsFull(to.Worker));
            }
        }
    }

    /// <summary>False: that life is over.</summary>
    private static bool Post(MailboxHub hub, Incarnation to, byte[] message, long place)
    {
        LedgerOwner.Write(message, to, place);
        return hub.Send(to, message) switch
        {
            EnqueueResult.Queued => true,
            EnqueueResult.Gone => false,
            var other => throw new InvalidOperationException($"A message was not queued: {other}."),
        };
    }

    private void Report(string what, MailboxHub hub) => output.WriteLine($"{what} {hub.Own}: {string.Join("; ", hub.Status())}");

    private readonly record struct Times(double Workers, double Sidecars)
    {
        public static Times operator -(Times left, Times right) => new(left.Workers - right.Workers, left.Sidecars - right.Sidecars);
    }
}
