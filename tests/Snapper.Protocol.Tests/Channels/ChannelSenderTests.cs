using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Tests.Channels;

public sealed class ChannelSenderTests
{
    private static readonly Incarnation Own = new(1, 5);
    private static readonly Incarnation Peer = new(2, 7);
    private static readonly ChannelLimits Limits = new() { PacketBytes = 1024, PacketMessages = 4, MessageBytes = 2048, FullBytes = 3000, QueueBytes = 6000 };

    private readonly PeerView _view = new(2);
    private readonly ChannelSender _sender;

    public ChannelSenderTests() => _sender = new ChannelSender(Own, _view, Limits);

    [Fact]
    public void Packets_hold_messages_up_to_their_number_and_bytes()
    {
        foreach (var length in new[] { 10, 10, 10, 10, 10, 500, 500, 2000, 10 })
        {
            Assert.Equal(EnqueueResult.Queued, _sender.Enqueue(Peer, new byte[length]));
        }

        Assert.Equal([(1, 4), (5, 2), (7, 1), (8, 1), (9, 1)], Drain());
        Assert.Equal((0L, 0L, 9L), (_sender.QueuedBytes, _sender.QueuedMessages, _sender.Acknowledged));
    }

    [Fact]
    public void A_packet_of_unknown_fate_goes_again_with_the_same_numbers_in_other_memory()
    {
        _sender.Enqueue(Peer, [1]);
        Assert.True(_sender.TryTake([], out var first));
        var before = first.ToArray();
        _sender.Enqueue(Peer, [2]);
        Assert.Equal(SendStep.Pause, _sender.Failed(_sender.Attempt));
        Assert.True(_sender.TryTake("head"u8, out var again));
        Assert.Equal(before, first.ToArray());
        Assert.False(again.Span.Overlaps(first.Span));
        Assert.Equal((1L, 1), (PacketBytes.Read(again).First, PacketBytes.Read(again).Count));
        Assert.Equal(1, _sender.Retransmissions);
    }

    [Fact]
    public void What_was_taken_of_a_packet_does_not_go_again()
    {
        for (byte i = 1; i <= 4; i++)
        {
            _sender.Enqueue(Peer, [i]);
        }

        _sender.TryTake([], out _);
        Assert.Equal(SendStep.Pause, _sender.Answered(_sender.Attempt, Says(AnswerKind.Busy, 3)));
        _sender.TryTake("and a head that is longer than what was taken"u8, out var rest);
        var packet = PacketBytes.Read(rest);
        Assert.Equal((3L, 2), (packet.First, packet.Count));
        var expected = (byte)3;
        foreach (var message in packet)
        {
            Assert.Equal([expected++], message.ToArray());
        }

        Assert.Equal(SendStep.Pause, _sender.Answered(_sender.Attempt, Says(AnswerKind.Expecting, 3)));
        _sender.TryTake([], out _);
        Assert.Equal(SendStep.GoOn, _sender.Answered(_sender.Attempt, Says(AnswerKind.Expecting, 4)));
    }

    [Fact]
    public void A_wish_for_a_packet_is_fulfilled_by_any_that_is_answered()
    {
        Assert.False(_sender.TryTake([], out _));
        _sender.RequestPacket();
        Assert.True(_sender.TryTake([], out var hello));
        Assert.Equal((0L, 0), (PacketBytes.Read(hello).To.Epoch, PacketBytes.Read(hello).Count));
        _sender.Failed(_sender.Attempt);
        Assert.True(_sender.TryTake([], out _));
        Assert.Equal(SendStep.GoOn, _sender.Answered(_sender.Attempt, Says(AnswerKind.OtherEpoch, 0)));
        Assert.False(_sender.HasWork);

        _sender.Enqueue(Peer, [1]);
        _sender.RequestPacket();
        _sender.TryTake([], out _);
        _sender.Failed(_sender.Attempt);
        Assert.Equal([(1, 1)], Drain());
        Assert.False(_sender.HasWork);
        _sender.RequestPacket();
        Assert.Equal([(2, 0)], Drain());
    }

    [Fact]
    public void An_answer_of_a_life_that_forgot_what_it_took_is_a_violation()
    {
        _sender.Enqueue(Peer, [1]);
        _sender.TryTake([], out _);
        Assert.Throws<ProtocolViolationException>(
            () => _sender.Answered(_sender.Attempt, Says(AnswerKind.Expecting, 0)));
    }

    /// <summary>Another has sent in this worker's name: which of the messages are its own is unknown.</summary>
    [Theory]
    [InlineData(AnswerKind.Taken, 0)]
    [InlineData(AnswerKind.Taken, 1)]
    [InlineData(AnswerKind.Busy, 1)]
    [InlineData(AnswerKind.Expecting, 1)]
    public void Nothing_counts_that_a_life_says_which_took_more_than_it_was_sent(AnswerKind kind, int messages)
    {
        _view.Learn(Peer);
        _sender.RequestPacket();
        for (var i = 0; i < messages; i++)
        {
            _sender.Enqueue(Peer, [1]);
        }

        foreach (var next in (long[])[3, 2, 1])
        {
            Assert.True(_sender.TryTake([], out _));
            Assert.Equal(SendStep.Pause, _sender.Answered(_sender.Attempt, Says(kind, next)));
            Assert.Equal((true, 0L), (_sender.IsMisled, _sender.Acknowledged));
        }

        Assert.Equal(messages, _sender.QueuedMessages);
        var later = Peer with { Epoch = Peer.Epoch + 1 };
        _sender.Enqueue(later, [2]);
        Assert.False(_sender.IsMisled);
        Assert.True(_sender.TryTake([], out _));
        Assert.Equal(SendStep.GoOn, _sender.Answered(_sender.Attempt, Says(AnswerKind.Taken, 2) with { From = later }));
        Assert.Equal(1, _sender.Acknowledged);
    }

    [Fact]
    public void Answers_of_others_and_to_others_change_nothing()
    {
        _sender.Enqueue(Peer, [1]);
        var taken = Says(AnswerKind.Taken, 2);
        foreach (var answer in new[]
        {
            taken with { From = new Incarnation(3, 7) }, taken with { From = new Incarnation(2, 6) }, taken with { To = new Incarnation(1, 4) },
            new ChannelAnswer { Kind = AnswerKind.NotReady }, Says(AnswerKind.Refused, 0), Says(AnswerKind.OtherEpoch, 0),
            Says(AnswerKind.Fenced, 0) with { Newest = 5 },
        })
        {
            Assert.True(_sender.TryTake([], out _));
            Assert.Equal(SendStep.Pause, _sender.Answered(_sender.Attempt, answer));
            Assert.Equal(SendStep.None, _sender.Answered(1, taken));
        }

        Assert.Equal([(1, 1)], Drain());
        Assert.Equal(7, _sender.UnusableAnswers);
    }

    [Fact]
    public void The_queue_is_bounded_and_says_early_that_it_is_full()
    {
        for (var i = 0; i < 2; i++)
        {
            Assert.False(_sender.IsFull);
            Assert.Equal(EnqueueResult.Queued, _sender.Enqueue(Peer, new byte[2000]));
        }

        Assert.True(_sender.IsFull);
        Assert.Equal(EnqueueResult.Full, _sender.Enqueue(Peer, new byte[2000]));
        Assert.Equal(EnqueueResult.Queued, _sender.Enqueue(Peer, new byte[1000]));
        Assert.Throws<ArgumentException>(() => _sender.Enqueue(Peer, new byte[2049]));
        Assert.Throws<ArgumentException>(() => _sender.Enqueue(new Incarnation(3, 1), []));
        Assert.Equal([(1, 1), (2, 1), (3, 1)], Drain());
    }

    [Fact]
    public void Epochs_only_grow_and_each_change_is_told_once()
    {
        Assert.True(_view.Learn(Peer));
        Assert.False(_view.Learn(Peer));
        Assert.False(_view.Learn(Peer with { Epoch = 6 }));
        Assert.True(_view.Learn(Peer with { Epoch = 9 }));
        _view.Retire(Peer with { Epoch = 8 });
        _view.Retire(Peer with { Epoch = 11 });
        _view.Retire(Peer with { Epoch = 11 });
        Assert.False(_view.Learn(Peer with { Epoch = 11 }));
        Assert.True(_view.Learn(Peer with { Epoch = 12 }));
        var told = new List<string>();
        while (_view.TryTakeNotice(out var notice))
        {
            told.Add($"{notice.Kind} {notice.Peer}");
        }

        Assert.Equal(["Up w2/7", "Gone w2/7", "Up w2/9", "Gone w2/9", "Up w2/12"], told);
        Assert.Throws<ArgumentException>(() => _view.Learn(new Incarnation(2, 0)));
    }

    private static ChannelAnswer Says(AnswerKind kind, long next) => new() { Kind = kind, From = Peer, To = Own, Next = next };

    private List<(long First, int Count)> Drain()
    {
        var packets = new List<(long, int)>();
        while (_sender.TryTake([], out var bytes))
        {
            var packet = PacketBytes.Read(bytes);
            packets.Add((packet.First, packet.Count));
            Assert.Equal(SendStep.GoOn, _sender.Answered(_sender.Attempt, Says(AnswerKind.Taken, packet.First + packet.Count)));
        }

        return packets;
    }
}
