using System.Text;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

public sealed class MailboxTests
{
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(10);

    private readonly ManualTime _time = new();
    private readonly MailboxRig _a;
    private readonly MailboxRig _b;

    public MailboxTests()
    {
        _a = new MailboxRig(1, 5, _time);
        _b = new MailboxRig(2, 7, _time);
    }

    [Fact]
    public void What_is_queued_while_a_packet_is_under_way_goes_in_the_next_one()
    {
        _a.Send(_b.Own, "first");
        for (var i = 0; i < 100; i++)
        {
            Assert.Equal(EnqueueResult.Queued, _a.Send(_b.Own, $"m{i}"));
        }

        Assert.Single(_a.Transport.Packets);
        _a.Transport.Packets[0].Carry(_b.Hub);
        Assert.Equal(2, _a.Transport.Packets.Count);
        _a.Transport.Packets[1].Carry(_b.Hub);

        Assert.Equal(["up w1/5", "w1/5: first", .. Enumerable.Range(0, 100).Select(i => $"w1/5: m{i}")], _b.Heard);
        Assert.Equal((2, 101, 0, 0L), (_a.StatusOf(2).PacketsSent, _a.StatusOf(2).MessagesSent, _a.StatusOf(2).Retransmissions, _a.StatusOf(2).QueuedBytes));
    }

    [Fact]
    public void The_end_of_a_packet_is_told_once_behind_its_last_message_and_also_when_one_cannot_be_taken_in()
    {
        _a.Send(_b.Own, "first");
        _a.Send(_b.Own, "second");
        _a.Send(_b.Own, "third");
        _a.Transport.Packets[0].Carry(_b.Hub);
        _a.Transport.Packets[1].Carry(_b.Hub);
        Assert.Equal(["up w1/5", "w1/5: first", "w1/5: second", "w1/5: third"], _b.Heard);
        Assert.Equal([2, 4], _b.Owner.PacketEnds);

        _b.Owner.Message = (_, _) => throw new InvalidOperationException("a bug");
        _a.Send(_b.Own, "last");
        _a.Transport.Packets[2].Carry(_b.Hub);
        Assert.Equal(3, _b.Owner.PacketEnds.Count);
    }

    [Fact]
    public void Nothing_is_sent_and_no_timer_runs_while_nothing_is_queued()
    {
        _a.Send(_b.Own, "only");
        _a.Transport.Packets[0].Carry(_b.Hub);
        _time.Advance(Long);
        Assert.Equal(0, _time.Armed);
        _time.Advance(Long);
        Assert.Single(_a.Transport.Packets);
        Assert.Empty(_b.Transport.Packets);
    }

    [Fact]
    public void A_lost_packet_goes_again_after_pauses_that_grow_to_a_bound()
    {
        _a.Send(_b.Own, "x");
        var pauses = new List<double>();
        for (var i = 0; i < 14; i++)
        {
            _a.Transport.Packets[^1].Lose();
            var count = _a.Transport.Packets.Count;
            var waited = TimeSpan.Zero;
            while (_a.Transport.Packets.Count == count && waited < Long)
            {
                _time.Advance(TimeSpan.FromMilliseconds(0.5));
                waited += TimeSpan.FromMilliseconds(0.5);
            }

            pauses.Add(waited.TotalMilliseconds);
        }

        Assert.InRange(pauses[0], 1, 2.5);
        Assert.InRange(pauses[3], 8, 16.5);
        Assert.All(pauses[10..], pause => Assert.InRange(pause, 125, 250.5));
        _a.Transport.Packets[^1].Carry(_b.Hub);
        Assert.Equal(["up w1/5", "w1/5: x"], _b.Heard);
        Assert.Equal(14, _a.StatusOf(2).Retransmissions);
    }

    [Fact]
    public void A_packet_that_is_not_answered_goes_again_and_arrives_once()
    {
        _a.Send(_b.Own, "x");
        _time.Advance(TimeSpan.FromSeconds(1.9));
        Assert.Single(_a.Transport.Packets);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(2, _a.Transport.Packets.Count);
        Assert.True(_a.Transport.Packets[0].Cancellation.IsCancellationRequested);
        Assert.False(_a.Transport.Packets[1].Cancellation.IsCancellationRequested);

        _a.Transport.Packets[0].Carry(_b.Hub); // late; its answer is of no use any more
        _a.Send(_b.Own, "y");
        _a.Transport.Packets[1].Carry(_b.Hub);
        _a.Transport.Packets[2].Carry(_b.Hub);
        _b.Hub.Deliver(_a.Transport.Packets[1].Bytes); // later still

        Assert.Equal(["up w1/5", "w1/5: x", "w1/5: y"], _b.Heard);
        Assert.Equal(2, _b.StatusOf(1).Duplicates);
    }

    [Fact]
    public void A_packet_says_how_long_its_messages_may_have_waited_and_so_do_those_that_were_queued_behind_it()
    {
        _a.Send(_b.Own, "old");
        Assert.Equal(TimeSpan.Zero, _a.Owner.Waited);
        _a.Send(_b.Own, "behind it");
        _a.Transport.Packets[^1].Lose();
        for (var i = 0; i < 40; i++)
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            _a.Transport.Packets[^1].Lose();
        }

        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.InRange(_a.Owner.Waited, TimeSpan.FromSeconds(39), TimeSpan.FromSeconds(42));
        _a.Transport.Packets[^1].Carry(_b.Hub);
        Assert.InRange(_a.Owner.Waited, TimeSpan.FromSeconds(39), TimeSpan.FromSeconds(42));
        _a.Transport.Packets[^1].Carry(_b.Hub);
        Assert.Equal(["up w1/5", "w1/5: old", "w1/5: behind it"], _b.Heard);
        _a.Send(_b.Own, "new");
        Assert.Equal(TimeSpan.Zero, _a.Owner.Waited);
    }

    [Fact]
    public void It_is_known_for_how_long_a_peer_has_answered_nothing()
    {
        _time.Advance(Long);
        Assert.Equal(TimeSpan.Zero, _a.Hub.Unanswered(2));
        _a.Send(_b.Own, "x");
        _time.Advance(TimeSpan.FromSeconds(1));
        _a.Transport.Packets[0].Lose();
        _time.Advance(TimeSpan.FromSeconds(4));
        Assert.Equal(TimeSpan.FromSeconds(5), _a.Hub.Unanswered(2));
        Assert.Equal(TimeSpan.FromSeconds(5), _a.StatusOf(2).Unanswered);
        _a.Transport.Last(2).Answer.SetResult(MailboxHub.NotReady); // somebody answers, but nobody who lives
        Assert.Equal(TimeSpan.FromSeconds(5), _a.Hub.Unanswered(2));
        _time.Advance(TimeSpan.FromSeconds(1));
        _a.Transport.Last(2).Carry(_b.Hub);
        _time.Advance(Long);
        Assert.Equal(TimeSpan.Zero, _a.Hub.Unanswered(2));
    }

    [Fact]
    public void A_peer_that_does_not_answer_delays_no_other()
    {
        var c = new MailboxRig(3, 1, _time);
        _a.Send(_b.Own, "stuck");
        for (var i = 0; i < 5; i++)
        {
            _a.Send(c.Own, $"{i}");
            _a.Transport.Last(3).Carry(c.Hub);
        }

        Assert.Equal(1, _a.Transport.Count(2));
        Assert.Equal(["up w1/5", "w1/5: 0", "w1/5: 1", "w1/5: 2", "w1/5: 3", "w1/5: 4"], c.Heard);
    }

    [Fact]
    public void A_later_life_of_the_peer_gets_nothing_that_was_for_the_earlier_one()
    {
        _a.Send(_b.Own, "taken");
        _a.Transport.Last(2).Carry(_b.Hub);
        _a.Send(_b.Own, "for the old one");
        var late = _a.Transport.Last(2);
        var after = new MailboxRig(2, 8, _time);
        late.Carry(after.Hub);

        Assert.Equal(["up w2/7", "gone w2/7", "up w2/8"], _a.Heard);
        Assert.Equal(EnqueueResult.Gone, _a.Send(_b.Own, "too late"));
        Assert.Equal(EnqueueResult.Queued, _a.Send(after.Own, "for the new one"));
        _a.Transport.Last(2).Carry(after.Hub);
        Assert.Equal(["up w1/5", "w1/5: for the new one"], after.Heard);
        Assert.Equal(1, _a.StatusOf(2).MessagesDropped);
    }

    [Fact]
    public void Hearing_from_a_later_life_gives_up_what_is_under_way_to_the_earlier_one()
    {
        _a.Send(_b.Own, "never answered");
        var after = new MailboxRig(2, 8, _time);
        after.Send(_a.Own, "hello");
        after.Transport.Last(1).Carry(_a.Hub);

        Assert.Equal(["up w2/7", "gone w2/7", "up w2/8", "w2/8: hello"], _a.Heard);
        Assert.True(_a.Transport.Packets[0].Cancellation.IsCancellationRequested);
        _a.Send(after.Own, "at once");
        _a.Transport.Last(2).Carry(after.Hub);
        Assert.Equal(["up w1/5", "w1/5: at once"], after.Heard);
    }

    [Fact]
    public void An_earlier_life_that_goes_on_is_told_that_it_is_fenced_and_stops_sending()
    {
        var before = new MailboxRig(1, 4, _time);
        before.Send(_b.Own, "early");
        before.Transport.Last(2).Carry(_b.Hub);
        _a.Send(_b.Own, "later life");
        _a.Transport.Last(2).Carry(_b.Hub);
        before.Send(_b.Own, "from the past");
        before.Transport.Last(2).Carry(_b.Hub);

        Assert.Equal(["up w1/4", "w1/4: early", "gone w1/4", "up w1/5", "w1/5: later life"], _b.Heard);
        Assert.Equal(["up w2/7", "over by w1/5"], before.Heard);
        Assert.Equal(EnqueueResult.OwnLifeIsOver, before.Send(_b.Own, "again"));
        _time.Advance(Long);
        Assert.Equal(2, before.Transport.Packets.Count);
    }

    [Fact]
    public void A_fenced_life_is_over_before_a_later_one_is_known()
    {
        _b.Send(_a.Own, "x");
        _b.Transport.Last(1).Carry(_a.Hub);
        _a.Hub.Retire(_b.Own);
        _b.Send(_a.Own, "y");
        _b.Transport.Last(1).Carry(_a.Hub);

        Assert.Equal(["up w2/7", "w2/7: x", "gone w2/7"], _a.Heard);
        Assert.Equal(["up w1/5", "over by w2/8"], _b.Heard);
        Assert.Equal(EnqueueResult.Gone, _a.Send(_b.Own, "z"));
        Assert.True(_a.Hub.Known(2).IsNone);
    }

    [Fact]
    public void Who_does_not_know_the_peers_life_learns_it_from_the_first_answer()
    {
        _a.Owner.Header = "p9"u8.ToArray();
        _a.Hub.RequestPacket(2);
        _a.Transport.Last(2).Lose();
        _time.Advance(TimeSpan.FromMilliseconds(5));
        _a.Transport.Last(2).Carry(_b.Hub);

        Assert.Equal(["up w2/7"], _a.Heard);
        Assert.Equal(["up w1/5"], _b.Heard);
        _a.Hub.RequestPacket(2);
        _a.Transport.Last(2).Carry(_b.Hub);
        Assert.Equal(["up w1/5", "w1/5 head p9"], _b.Heard);
    }

    [Fact]
    public void A_busy_receiver_takes_no_more_and_the_sender_keeps_the_rest_within_its_bound()
    {
        var limits = new ChannelLimits { PacketBytes = 1024, FullBytes = 2_000, QueueBytes = 4_000 };
        var a = new MailboxRig(1, 5, _time, MailboxRig.Options(limits));
        _b.Owner.Message = (_, text) => _b.Owner.IsBusy = text == "2";
        var sent = 0;
        while (a.Send(_b.Own, $"{sent}") == EnqueueResult.Queued)
        {
            sent++;
        }

        Assert.True(a.Hub.IsFull(2));
        Assert.InRange(a.Hub.QueuedBytes(2), 3_990, 4_000);
        a.Transport.Last(2).Carry(_b.Hub); // holds 0 alone
        a.Transport.Last(2).Carry(_b.Hub);
        Assert.Equal(["up w1/5", "w1/5: 0", "w1/5: 1", "w1/5: 2"], _b.Heard);
        var packets = a.Transport.Packets.Count;
        Assert.Equal(TimeSpan.Zero, a.Hub.Unanswered(2));
        _time.Advance(TimeSpan.FromSeconds(1)); // it asks again, and is not answered
        Assert.Equal(packets + 1, a.Transport.Packets.Count);

        _b.Owner.IsBusy = false;
        _b.Owner.Message = null;
        while (a.Hub.QueuedBytes(2) > 0)
        {
            a.Transport.Last(2).Carry(_b.Hub);
        }

        Assert.Equal(Enumerable.Range(0, sent).Select(i => $"w1/5: {i}"), _b.Heard.Skip(1));
    }

    [Fact]
    public void What_must_not_be_lost_is_queued_beyond_the_limit_and_it_is_known_for_how_long()
    {
        var a = new MailboxRig(1, 5, _time, MailboxRig.Options(new ChannelLimits { FullBytes = 1, QueueBytes = 1 }));
        _b.Owner.IsBusy = true;
        Assert.Equal(EnqueueResult.Queued, a.Send(_b.Own, "1"));
        Assert.Equal(EnqueueResult.Full, a.Send(_b.Own, "2"));
        Assert.Equal(EnqueueResult.Queued, a.Hub.Send(_b.Own, "2"u8, beyondLimit: true));
        _time.Advance(TimeSpan.FromSeconds(1));
        a.Transport.Last(2).Carry(_b.Hub); // it answers, and takes nothing
        Assert.Equal((TimeSpan.Zero, TimeSpan.FromSeconds(1)), (a.Hub.Unanswered(2), a.Hub.Overfull(2)));
        _b.Owner.IsBusy = false;
        while (a.Hub.QueuedBytes(2) > 0)
        {
            _time.Advance(TimeSpan.FromMilliseconds(300));
            a.Transport.Last(2).Carry(_b.Hub);
        }

        Assert.Equal(TimeSpan.Zero, a.Hub.Overfull(2));
        Assert.Equal(["w1/5: 1", "w1/5: 2"], _b.Heard.Skip(1));
    }

    [Fact]
    public void Answering_from_inside_a_message_keeps_the_order()
    {
        _b.Owner.Message = (from, text) => _b.Send(from, "re " + text);
        _a.Send(_b.Own, "1");
        _a.Send(_b.Own, "2");
        _a.Transport.Last(2).Carry(_b.Hub);
        _a.Transport.Last(2).Carry(_b.Hub);
        _b.Transport.Packets[0].Carry(_a.Hub);
        _b.Transport.Packets[1].Carry(_a.Hub);
        Assert.Equal(["up w2/7", "w2/7: re 1", "w2/7: re 2"], _a.Heard);
    }

    [Fact]
    public void A_message_that_its_owner_cannot_take_in_breaks_the_channel_instead_of_being_lost_in_silence()
    {
        _b.Owner.Message = (_, _) => throw new InvalidOperationException("a bug");
        _a.Send(_b.Own, "bad");
        _a.Transport.Last(2).Carry(_b.Hub);
        _time.Advance(TimeSpan.FromMilliseconds(5));
        _a.Transport.Last(2).Carry(_b.Hub);

        Assert.Equal(["up w1/5", "w1/5: bad", "violation: A message from w1/5 could not be taken in: InvalidOperationException: a bug"], _b.Heard);
        Assert.True(_a.Hub.QueuedBytes(2) > 0);
    }

    [Fact]
    public void A_life_that_forgot_what_it_took_is_a_violation()
    {
        _a.Send(_b.Own, "1");
        _a.Transport.Last(2).Carry(_b.Hub);
        _a.Send(_b.Own, "2");
        _a.Transport.Last(2).Carry(new MailboxRig(2, 7, _time).Hub);
        Assert.Equal(["up w2/7", "violation: w2/7 answered Expecting 1 to the messages 2 to 2 of w1/5."], _a.Heard);
    }

    /// <summary>Without a secret, each that may call actors can send packets in the name of a worker.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void A_forged_packet_costs_the_channel_and_loses_no_message_in_silence(int forged)
    {
        _a.Send(_b.Own, "1");
        _a.Transport.Last(2).Carry(_b.Hub);
        var forger = new MailboxRig(1, 5, _time);
        forger.Send(_b.Own, "1");
        for (var i = 0; i < forged; i++)
        {
            forger.Send(_b.Own, "forged");
        }

        forger.Transport.Last(2).Carry(_b.Hub);
        forger.Transport.Last(2).Carry(_b.Hub);
        Assert.Equal(["up w1/5", "w1/5: 1", .. Enumerable.Repeat("w1/5: forged", forged)], _b.Heard);

        _a.Send(_b.Own, "2");
        _a.Send(_b.Own, "3");
        for (var i = 0; i < 3; i++)
        {
            _a.Transport.Last(2).Carry(_b.Hub);
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.Equal(["up w2/7"], _a.Heard);
        Assert.Equal((1L, 2L), (_a.StatusOf(2).MessagesSent, _a.StatusOf(2).QueuedMessages));
        Assert.True(_a.Hub.Unanswered(2) >= TimeSpan.FromSeconds(2), "it must be taken for silent (R5)");
        Assert.Contains("Other messages of w1/5", _a.StatusOf(2).LastProblem, StringComparison.Ordinal);

        var next = new MailboxRig(2, 8, _time);
        _a.Send(next.Own, "again");
        _a.Transport.Last(2).Carry(next.Hub);
        Assert.Equal(["up w1/5", "w1/5: again"], next.Heard);
    }

    /// <summary>The packet without messages is what workers send that have nothing to say.</summary>
    [Fact]
    public void A_life_that_took_what_it_was_not_sent_is_as_good_as_silent()
    {
        var forger = new MailboxRig(1, 5, _time);
        forger.Send(_b.Own, "forged");
        forger.Transport.Last(2).Carry(_b.Hub);
        _a.Hub.Learn(_b.Own);
        for (var i = 0; i < 3; i++)
        {
            _a.Hub.RequestPacket(2);
            _a.Transport.Last(2).Carry(_b.Hub);
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.Equal(["up w2/7"], _a.Heard);
        Assert.True(_a.Hub.Unanswered(2) >= TimeSpan.FromSeconds(2), "it must be taken for silent (R5)");
        Assert.Equal("w2/7 has taken messages that w1/5 has not sent.", _a.StatusOf(2).LastProblem);
    }

    [Fact]
    public void Packets_that_cannot_be_read_or_are_for_others_are_refused_with_the_reason()
    {
        Assert.True(ChannelAnswer.TryRead(_a.Hub.Deliver("nonsense"u8.ToArray()).Span, out var answer));
        Assert.Equal((AnswerKind.Refused, "The packet is shorter than its head."), (answer.Kind, answer.Problem));
        _b.Send(new Incarnation(3, 1), "for w3");
        Assert.True(ChannelAnswer.TryRead(_a.Hub.Deliver(_b.Transport.Last(3).Bytes).Span, out answer));
        Assert.Equal((AnswerKind.Refused, "The packet from w2/7 to w3/1 came to w1/5."), (answer.Kind, answer.Problem));
        Assert.DoesNotContain(_a.Heard, heard => heard.Contains("for w3", StringComparison.Ordinal));
        Assert.Equal(1, _a.Hub.Unreadable);
    }

    [Fact]
    public void A_disposed_hub_sends_and_takes_nothing()
    {
        _a.Send(_b.Own, "x");
        _a.Hub.Dispose();
        Assert.True(_a.Transport.Packets[0].Cancellation.IsCancellationRequested);
        Assert.Equal(EnqueueResult.OwnLifeIsOver, _a.Send(_b.Own, "y"));
        _b.Send(_a.Own, "z");
        _b.Transport.Last(1).Carry(_a.Hub);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Single(_a.Transport.Packets);
        Assert.DoesNotContain("w2/7: z", _a.Heard);
    }

    [Fact]
    public void A_message_goes_only_to_workers_and_within_its_limit()
    {
        Assert.Throws<ArgumentException>(() => _a.Hub.Send(_a.Own, "x"u8));
        Assert.Throws<ArgumentOutOfRangeException>(() => _a.Hub.Send(default, "x"u8));
        Assert.Throws<ArgumentOutOfRangeException>(() => _a.Hub.Send(new Incarnation(1024, 1), "x"u8));
        Assert.Throws<ArgumentException>(() => _a.Hub.Send(_b.Own, new byte[(3 << 20) + 1]));
        Assert.Equal(EnqueueResult.Queued, _a.Hub.Send(_b.Own, Encoding.UTF8.GetBytes(new string('x', 3 << 20))));
        _a.Transport.Last(2).Carry(_b.Hub);
        Assert.Equal((3 << 20) + "w1/5: ".Length, _b.Heard[1].Length);
    }
}
