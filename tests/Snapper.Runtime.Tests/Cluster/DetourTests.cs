using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// Packets to a worker that lives and does not answer directly go by way of another one that answers.
/// </summary>
public sealed class DetourTests
{
    private readonly ManualTime _time = new();
    private readonly MailboxRig _a;
    private readonly MailboxRig _b;
    private readonly MailboxRig _c;

    public DetourTests()
    {
        (_a, _b, _c) = (new MailboxRig(1, 1, _time), new MailboxRig(2, 1, _time), new MailboxRig(3, 1, _time));
        Know(_a, _b.Own, _c.Own);
        Know(_b, _a.Own, _c.Own);
        Know(_c, _a.Own, _b.Own);
    }

    [Fact]
    public void A_packet_that_was_not_answered_for_the_bound_arrives_by_way_of_another_worker()
    {
        _a.Send(_b.Own, "one");
        _a.Transport.Last(2).Lose();
        _time.Advance(TimeSpan.FromMilliseconds(1400));
        Assert.Equal(0, _a.Transport.Count(3)); // the bound is not over
        LoseUntilDetour();
        _a.Send(_b.Own, "two");

        Pass(_a, _c, _b);
        Pass(_a, _c, _b); // what was queued meanwhile goes the same way
        Assert.Equal(["up w1/1", "w1/1: one", "w1/1: two"], _b.Heard.Where(heard => !heard.Contains("w3", StringComparison.Ordinal)));
        Assert.Equal(TimeSpan.Zero, _a.Hub.Unanswered(2));
        Assert.Equal(_b.Own, _a.Hub.Answered(2));
        Assert.Equal((3, 0L), (_a.StatusOf(2).Via, _a.StatusOf(2).QueuedMessages));
        Assert.Equal(2, _c.Hub.PassedOn);
        Assert.Equal(["w2 by w3"], _a.Owner.Roads);
    }

    [Fact]
    public void The_direct_road_is_tried_again_and_used_when_it_answers()
    {
        Detour("one");
        _time.Advance(TimeSpan.FromMilliseconds(600));
        _a.Send(_b.Own, "two");
        Assert.Empty(_a.Transport.Last(2).Bytes); // beside the packet, which does not wait for it
        Pass(_a, _c, _b);
        ClusterBench.Alone(() => _a.Transport.Last(2).Carry(_b.Hub));
        _a.Send(_b.Own, "three");
        _a.Transport.Last(2).Carry(_b.Hub);
        Assert.Equal(["w1/1: one", "w1/1: two", "w1/1: three"], _b.Heard.Where(heard => heard.StartsWith("w1", StringComparison.Ordinal)));
        Assert.Equal(0, _a.StatusOf(2).Via);
        Assert.Equal(["w2 by w3", "w2 directly"], _a.Owner.Roads);
    }

    [Fact]
    public void What_arrives_directly_after_all_is_dropped_as_known()
    {
        _a.Send(_b.Own, "one");
        var late = _a.Transport.Last(2);
        _time.Advance(TimeSpan.FromSeconds(2));
        _time.Advance(TimeSpan.FromMilliseconds(10));
        Pass(_a, _c, _b);
        _b.Hub.Deliver(late.Bytes);
        Assert.Single(_b.Heard, "w1/1: one");
    }

    [Fact]
    public void When_the_one_who_passes_on_does_not_answer_any_more_another_one_is_taken()
    {
        var d = new MailboxRig(4, 1, _time);
        Know(_a, d.Own);
        Know(d, _a.Own, _b.Own);
        Detour("one");
        _a.Send(_b.Own, "two");
        _a.Transport.Last(3).Answer.SetResult(MailboxHub.NotReady);
        _time.Advance(TimeSpan.FromMilliseconds(10));
        Pass(_a, d, _b);
        Assert.Equal(4, _a.StatusOf(2).Via);
        Assert.Contains("w1/1: two", _b.Heard);
    }

    [Fact]
    public void When_none_reaches_it_the_packet_goes_directly_again_and_the_worker_stays_unanswered()
    {
        _a.Send(_b.Own, "one");
        LoseUntilDetour();
        var before = _a.Transport.Count(2);
        Pass(_a, _c, packet => packet.Lose());
        _time.Advance(TimeSpan.FromMilliseconds(300));
        Assert.Equal(before + 1, _a.Transport.Count(2));
        Assert.True(_a.Hub.Unanswered(2) > TimeSpan.FromMilliseconds(1500)); // R5 decides
        Assert.Equal(0, _a.StatusOf(2).Via);
        Assert.Empty(_a.Owner.Roads);
    }

    [Fact]
    public void A_worker_of_an_earlier_version_refuses_it_and_another_way_is_sought()
    {
        _a.Send(_b.Own, "one");
        LoseUntilDetour();
        _a.Transport.Last(3).Carry(_c.Hub); // it takes these bytes for a packet that it cannot read
        Assert.Equal(1, _c.Hub.Unreadable);
        Assert.True(_a.Hub.Unanswered(2) > TimeSpan.FromSeconds(1)); // its answer is not the peer's
        _time.Advance(TimeSpan.FromMilliseconds(300));
        _a.Transport.Last(2).Carry(_b.Hub);
        Assert.Contains("w1/1: one", _b.Heard);
        Assert.Empty(_a.Owner.Roads);
    }

    [Fact]
    public async Task It_is_passed_on_to_members_and_for_members_alone_and_once()
    {
        _a.Send(_b.Own, "one");
        var packet = _a.Transport.Last(2).Bytes;
        var stranger = new MailboxRig(3, 1, _time);
        Assert.Contains("cannot be reached", await Refusal(stranger, PassedOnPacket.Wrap(packet)), StringComparison.Ordinal); // it knows neither
        Assert.Contains("no packet", await Refusal(_c, PassedOnPacket.Wrap(PassedOnPacket.Wrap(packet))), StringComparison.Ordinal);
        _c.Hub.Retire(_b.Own);
        Assert.Contains("cannot be reached", await Refusal(_c, PassedOnPacket.Wrap(packet)), StringComparison.Ordinal); // it is fenced
        Assert.Empty(stranger.Transport.Packets);
        Assert.Empty(_c.Transport.Packets);
    }

    [Fact]
    public void Of_a_worker_that_is_silent_to_it_too_it_says_so_at_once()
    {
        _c.Send(_b.Own, "hello");
        _time.Advance(TimeSpan.FromMilliseconds(600));
        _a.Send(_b.Own, "one");
        var answer = _c.Hub.Receive(PassedOnPacket.Wrap(_a.Transport.Last(2).Bytes));
        Assert.True(answer.IsCompletedSuccessfully);
        Assert.Equal(1, _c.Transport.Count(2)); // its own
    }

    [Fact]
    public async Task One_who_waits_for_the_receiver_says_so_when_its_time_is_over()
    {
        _a.Send(_b.Own, "one");
        var answer = _c.Hub.Receive(PassedOnPacket.Wrap(_a.Transport.Last(2).Bytes)).AsTask();
        Assert.False(answer.IsCompleted);
        _time.Advance(TimeSpan.FromMilliseconds(501));
        Assert.True(ChannelAnswer.TryRead((await answer.WaitAsync(TimeSpan.FromSeconds(20))).Span, out var read));
        Assert.Equal((AnswerKind.Refused, _c.Own), (read.Kind, read.From));
    }

    [Fact]
    public void Of_two_workers_there_is_no_detour()
    {
        var alone = new MailboxRig(1, 2, _time);
        Know(alone, _b.Own);
        alone.Send(_b.Own, "one");
        for (var i = 0; i < 20; i++)
        {
            alone.Transport.Last(2).Lose();
            _time.Advance(TimeSpan.FromMilliseconds(260));
        }

        Assert.All(alone.Transport.Packets, packet => Assert.Equal(2, packet.Worker));
        Assert.True(alone.Hub.Unanswered(2) > TimeSpan.FromSeconds(3));
    }

    private static void Know(MailboxRig rig, params Incarnation[] lives)
    {
        foreach (var life in lives)
        {
            rig.Hub.Learn(life);
        }
    }

    private static async Task<string> Refusal(MailboxRig at, byte[] bytes)
    {
        Assert.True(ChannelAnswer.TryRead((await at.Hub.Receive(bytes)).Span, out var answer));
        Assert.Equal(AnswerKind.Refused, answer.Kind);
        return answer.Problem!;
    }

    /// <summary>The last packet to the one in the middle is passed on, and its answer comes back.</summary>
    private static void Pass(MailboxRig from, MailboxRig via, MailboxRig to) => Pass(from, via, packet => packet.Carry(to.Hub));

    private static void Pass(MailboxRig from, MailboxRig via, Action<HeldPacket> fate)
    {
        var packet = from.Transport.Last(via.Own.Worker);
        var answer = via.Hub.Receive(packet.Bytes).AsTask();
        fate(via.Transport.Packets[^1]);
        packet.Answer.SetResult(answer.Result);
    }

    private void LoseUntilDetour()
    {
        for (var i = 0; _a.Transport.Count(3) == 0; i++)
        {
            Assert.True(i < 50, "no detour");
            if (!_a.Transport.Last(2).Answer.Task.IsCompleted)
            {
                _a.Transport.Last(2).Lose();
            }

            _time.Advance(TimeSpan.FromMilliseconds(100));
        }
    }

    private void Detour(string text)
    {
        _a.Send(_b.Own, text);
        LoseUntilDetour();
        Pass(_a, _c, _b);
    }
}
