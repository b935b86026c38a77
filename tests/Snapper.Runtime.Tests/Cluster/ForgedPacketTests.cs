using Snapper.Cluster;
using Snapper.Cluster.Mailboxes;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Global;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>Packets that come in a worker's name and are not its own end no worker, and no channel of others.</summary>
public sealed class ForgedPacketTests
{
    private static readonly Incarnation s_w2 = new(2, 7);
    private static readonly ActorKey s_actor = new("Account", "a");
    private static readonly ActorAccess s_access = new(s_actor, Access.Whole, 1);
    private static readonly GlobalPact s_twice = new(s_w2, 1, s_actor, [s_access, s_access], false);

    [Theory]
    [MemberData(nameof(Unreadable))]
    public async Task A_packet_with_a_message_that_cannot_be_read_is_refused_and_ends_no_worker(byte[] message)
    {
        await using var cluster = await TestCluster.Start(2);
        var (w1, w2) = (cluster[1].Worker.Cluster!.Self, cluster[2].Worker.Cluster!.Self);
        var hub = cluster[1].Worker.Cluster!.Gate.Hub;

        var answer = default(ChannelAnswer);
        for (var tries = 0; tries < 100 && answer.Kind != AnswerKind.Refused && cluster[1].Failure is null; tries++)
        {
            // What comes behind all that w2 has sent is the next; w2 may send meanwhile.
            var next = Say(hub, Packet(w2, w1, first: 1L << 40, "nothing"u8.ToArray())).Next;
            answer = Say(hub, Packet(w2, w1, next, message));
        }

        Assert.Null(cluster[1].Failure);
        Assert.Equal(AnswerKind.Refused, answer.Kind);
        Assert.Contains("cannot be read", answer.Problem, StringComparison.Ordinal);
        await Transfers(cluster);
    }

    public static TheoryData<byte[]> Unreadable() => new()
    {
        new byte[] { 255 },
        new byte[] { (byte)WireKind.Call, 1 },
        Encode(new CallMessage(
            new TransactionId(1), new TransactionId(1), s_w2, new ActorKey("Account", "a"), "Balance",
            new BranchFacts("r", long.MaxValue, null, null), 1, [], 1, new ActorKey("Account", "b"), "Balance", [])),
        Encode(new SubmitMessage(1, 0, new TransactionRequest
        {
            Actor = new ActorKey("Account", "a"),
            Method = "Balance",
            Mode = TransactionMode.Act,
            Timeout = TimeSpan.MaxValue,
        })),
        Encode(new SubmitMessage(1, 0, new TransactionRequest
        {
            Actor = s_actor,
            Method = "Balance",
            Mode = TransactionMode.Pact,
            Access = [new(s_actor, 1), new(s_actor, 1)],
        })),
        Encode(new NewPactMessage(1, s_twice)),
        Encode(new PartMessage(1, new GlobalPart(new BatchId(1), default, [new(new(1), s_twice, [s_w2, s_w2])]))),
    };

    [Fact]
    public void Nothing_of_a_packet_is_taken_when_its_last_message_cannot_be_read()
    {
        var time = new ManualTime();
        var b = new MailboxRig(2, 7, time);
        b.Owner.Unreadable = "bad";
        var a = new MailboxRig(1, 5, time);
        var good = Packet(a.Own, b.Own, 1, "good"u8.ToArray(), "bad"u8.ToArray());

        var refused = Say(b.Hub, good);
        Assert.Equal((AnswerKind.Refused, b.Own, a.Own), (refused.Kind, refused.From, refused.To));
        Assert.Equal("Message 2 of the packet cannot be read: it is bad.", refused.Problem);
        Assert.Equal(1, b.Hub.Unreadable);
        Assert.Empty(b.Owner.PacketEnds);

        var taken = Say(b.Hub, Packet(a.Own, b.Own, 1, "good"u8.ToArray(), "better"u8.ToArray()));
        Assert.Equal((AnswerKind.Taken, 3), (taken.Kind, taken.Next));
        Assert.Equal(["up w1/5", "w1/5: good", "w1/5: better"], b.Heard);
    }

    [Fact]
    public void A_reader_that_fails_costs_the_packet_and_not_the_channel()
    {
        var time = new ManualTime();
        var b = new MailboxRig(2, 7, time);
        b.Owner.Reading = static _ => throw new InvalidOperationException("a bug");
        var answer = Say(b.Hub, Packet(new(1, 5), b.Own, 1, "x"u8.ToArray()));
        Assert.Equal(AnswerKind.Refused, answer.Kind);
        Assert.Contains("a bug", answer.Problem, StringComparison.Ordinal);

        b.Owner.Reading = null;
        Assert.Equal(AnswerKind.Taken, Say(b.Hub, Packet(new(1, 5), b.Own, 1, "x"u8.ToArray())).Kind);
        Assert.Equal(["up w1/5", "w1/5: x"], b.Heard);
    }

    [Fact]
    public void A_peer_that_refuses_what_it_is_sent_counts_as_one_that_does_not_answer()
    {
        var time = new ManualTime();
        var (a, b) = (new MailboxRig(1, 5, time), new MailboxRig(2, 7, time));
        b.Owner.Unreadable = "bad";
        a.Send(b.Own, "bad");
        for (var i = 0; i < 20; i++)
        {
            a.Transport.Last(2).Carry(b.Hub);
            time.Advance(TimeSpan.FromMilliseconds(250));
        }

        Assert.Equal(TimeSpan.FromSeconds(5), a.Hub.Unanswered(2));
        Assert.Contains("cannot be read", a.StatusOf(2).LastProblem, StringComparison.Ordinal);
        b.Owner.Unreadable = null;
        a.Transport.Last(2).Carry(b.Hub);
        Assert.Equal(TimeSpan.Zero, a.Hub.Unanswered(2));
    }

    [Fact]
    public async Task A_later_life_that_is_claimed_in_a_packet_and_not_in_the_store_ends_no_worker()
    {
        await using var cluster = await TestCluster.Start(2);
        var (w1, w2) = (cluster[1].Worker.Cluster!.Self, cluster[2].Worker.Cluster!.Self);
        var hub = cluster[1].Worker.Cluster!.Gate.Hub;
        var later = w2 with { Epoch = w2.Epoch + 1_000_000 };
        var verdict = Encode(new VerdictMessage(1, true));
        byte[][] forged =
        [
            Packet(later, w1 with { Epoch = 0 }, 1), // a hello of it
            Packet(later, w1, 1, verdict),
            Packet(w2, w1 with { Epoch = w1.Epoch + 1_000_000 }, 1, verdict), // to a later life of the receiver
        ];
        for (var i = 0; i < 30; i++)
        {
            foreach (var packet in forged)
            {
                Assert.Equal(AnswerKind.NotReady, Say(hub, packet).Kind);
            }

            Assert.Equal(w2, hub.Known(2));
            await Task.Delay(10); // the store is asked meanwhile
        }

        Assert.Null(cluster[1].Failure);
        Assert.Null(cluster[2].Failure);
        await Transfers(cluster);
    }

    [Fact]
    public async Task A_life_that_the_store_knows_is_believed()
    {
        await using var cluster = await TestCluster.Start(2);
        var w1 = cluster[1].Worker.Cluster!.Self;
        var hub = cluster[1].Worker.Cluster!.Gate.Hub;
        var third = await cluster.Register(3);
        await Rig.Until(() => Say(hub, Packet(third, w1, 1)).Kind == AnswerKind.Taken, "the life is believed", 10);
        Assert.Equal(third, hub.Known(3));
        Assert.Equal(AnswerKind.NotReady, Say(hub, Packet(third with { Epoch = third.Epoch + 1 }, w1, 1)).Kind);
        Assert.Equal(third, hub.Known(3));
    }

    [Fact]
    public void A_claimed_life_is_asked_about_once_for_each_packet_and_changes_nothing_until_it_is_believed()
    {
        var time = new ManualTime();
        var (a, b) = (new MailboxRig(1, 5, time), new MailboxRig(2, 7, time));
        b.Owner.Disbelieved.Add(new(1, 6));
        b.Owner.Disbelieved.Add(new(2, 8));
        Assert.Equal(AnswerKind.Taken, Say(b.Hub, Packet(a.Own, b.Own, 1, "x"u8.ToArray())).Kind);
        Assert.Equal(AnswerKind.NotReady, Say(b.Hub, Packet(new(1, 6), b.Own, 1, "y"u8.ToArray())).Kind);
        Assert.Equal(AnswerKind.NotReady, Say(b.Hub, Packet(a.Own, new(2, 8), 2, "y"u8.ToArray())).Kind);
        Assert.Equal(AnswerKind.Taken, Say(b.Hub, Packet(a.Own, b.Own, 2, "z"u8.ToArray())).Kind);
        Assert.Equal(["up w1/5", "w1/5: x", "w1/5: z"], b.Heard);

        b.Owner.Disbelieved.Clear();
        Assert.Equal(AnswerKind.OtherEpoch, Say(b.Hub, Packet(a.Own, new(2, 8), 3)).Kind);
        Assert.Equal(AnswerKind.Taken, Say(b.Hub, Packet(new(1, 6), b.Own, 1, "y"u8.ToArray())).Kind);
        Assert.Equal("over by w2/8, gone w1/5, up w1/6, w1/6: y", string.Join(", ", b.Heard.Skip(3)));
    }

    [Theory]
    [InlineData(AnswerKind.Taken, 8, 2, 0, "gone w2/7, up w2/8")]
    [InlineData(AnswerKind.Fenced, 7, 1, 6, "over by w1/6")]
    public void An_answer_of_a_life_that_is_not_believed_drops_nothing_and_its_packet_goes_again(
        AnswerKind kind, long epoch, long next, long newest, string believed)
    {
        var time = new ManualTime();
        var (a, b) = (new MailboxRig(1, 5, time), new MailboxRig(2, 7, time));
        a.Owner.Disbelieved.Add(new(2, 8));
        a.Owner.Disbelieved.Add(new(1, 6));
        a.Send(b.Own, "x");
        var claim = new ChannelAnswer { Kind = kind, From = new(2, epoch), To = a.Own, Next = next, Newest = newest };
        a.Transport.Last(2).Answer.SetResult(claim.ToBytes());
        time.Advance(TimeSpan.FromMilliseconds(5));
        Assert.Equal(2, a.Transport.Count(2));
        Assert.Equal(["up w2/7"], a.Heard);

        a.Transport.Last(2).Carry(b.Hub);
        Assert.Equal(["up w1/5", "w1/5: x"], b.Heard);
        a.Owner.Disbelieved.Clear();
        a.Send(b.Own, "y");
        a.Transport.Last(2).Answer.SetResult(claim.ToBytes());
        Assert.Equal(believed, string.Join(", ", a.Heard.Skip(1)));
    }

    private static async Task Transfers(TestCluster cluster)
    {
        foreach (var worker in new[] { 1, 2 })
        {
            var other = cluster.IdAt(3 - worker, "Account", "other");
            var own = cluster.IdAt(worker, "Account", "own");
            var act = await TestCluster.SubmitTo(
                cluster[worker], "Account", own, "Transfer", new { to = other, amount = 1 }, null);
            Assert.True(act.Outcome == Outcome.Committed, TestWorker.Describe(act));
        }

        Assert.Empty(cluster.Unexpected);
    }

    private static ChannelAnswer Say(MailboxHub hub, ReadOnlyMemory<byte> packet)
    {
        Assert.True(ChannelAnswer.TryRead(hub.Deliver(packet).Span, out var answer));
        return answer;
    }

    /// <summary>A packet as a worker would send it.</summary>
    private static byte[] Packet(Incarnation from, Incarnation to, long first, params byte[][] messages)
    {
        var body = new List<byte>();
        var length = new byte[PacketLayout.LengthBytesMax];
        foreach (var message in messages)
        {
            body.AddRange(length.AsSpan(0, PacketLayout.WriteLength(length, message.Length)));
            body.AddRange(message);
        }

        var packet = new byte[PacketLayout.FixedBytes + body.Count + PacketLayout.ChecksumBytes];
        PacketLayout.WriteHead(packet, from, to, first, messages.Length, body.Count, []);
        body.CopyTo(packet, PacketLayout.FixedBytes);
        var end = packet.Length - PacketLayout.ChecksumBytes;
        BitConverter.TryWriteBytes(packet.AsSpan(end), Crc32C.Of(packet.AsSpan(0, end)));
        return packet;
    }

    private static byte[] Encode(WireMessage message)
    {
        var writer = WireWriter.Begin(message.Kind);
        message.Write(writer);
        return writer.Written.ToArray();
    }
}
