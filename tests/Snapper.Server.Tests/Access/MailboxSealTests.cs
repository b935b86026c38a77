using System.Text;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Protocol.Channels;
using Snapper.Sidecar.Hosting;
using Xunit;

namespace Snapper.Server.Tests.Access;

/// <summary>Packets between workers show that a worker has sent them.</summary>
public sealed class MailboxSealTests
{
    private const string Mailbox = "Mailbox@w1";
    private const string Old = "an old secret of the workers", New = "a new secret of the workers";

    [Theory]
    [InlineData(MailboxSeal.NoSecret, MailboxSeal.NoSecret, true)]
    [InlineData(Old, MailboxSeal.NoSecret, false)]
    [InlineData(null, MailboxSeal.NoSecret, false)]
    [InlineData(null, Old, false)]
    [InlineData(Old, Old, true)]
    [InlineData(Old, New, false)]
    [InlineData(MailboxSeal.NoSecret, New, true)]
    [InlineData(Old + ";" + New, Old, true)]
    [InlineData(Old + ";" + New, New, true)]
    [InlineData(Old, Old + ";" + New, true)]
    [InlineData(Old, New + ";" + Old, false)]
    public async Task A_packet_is_taken_from_those_who_have_a_secret_of_ours(string? ours, string? theirs, bool taken)
    {
        var door = new MailboxEndpoint(MailboxSeal.From(ours));
        byte[] packet = [1, 2, 3];
        var reply = await door.Call(new ActorCall { ActorType = Mailbox, ActorId = "0", Method = "Deliver", Body = packet, Authorization = MailboxSeal.From(theirs)!.Of(Mailbox, packet) });

        // A worker that takes it says that it is not ready, since it has no mailbox here.
        var refused = Encoding.UTF8.GetString(reply.Body.Span).Contains(MailboxSeal.Variable, StringComparison.Ordinal);
        Assert.Equal(taken, !refused);
        Assert.DoesNotContain("secret of the workers", Encoding.UTF8.GetString(reply.Body.Span), StringComparison.Ordinal);
    }

    /// <summary>A call that waits for a third worker comes to an actor of its own, since a sidecar lets one call at a time to an actor in.</summary>
    [Theory]
    [InlineData("0", false, true)]
    [InlineData("2", false, false)]
    [InlineData("0", true, false)]
    [InlineData("2", true, true)]
    public async Task What_is_to_be_passed_on_comes_to_another_actor(string actor, bool passedOn, bool taken)
    {
        var door = new MailboxEndpoint(MailboxSeal.From(Old));
        byte[] packet = passedOn ? PassedOnPacket.Wrap([1, 2, 3]) : [1, 2, 3];
        var reply = await door.Call(new ActorCall { ActorType = Mailbox, ActorId = actor, Method = "Deliver", Body = packet, Authorization = MailboxSeal.From(Old)!.Of(Mailbox, packet) });
        Assert.Equal(taken, !Encoding.UTF8.GetString(reply.Body.Span).Contains("A mailbox is actor 0", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(null)]
    [InlineData("Snapper ")]
    [InlineData("Bearer x")]
    [InlineData("")]
    [InlineData("Snapper 0000000000000000000000000000000000000000000000000000000000000000")]
    [InlineData("Snapper zz00000000000000000000000000000000000000000000000000000000000000")]
    public void What_is_no_seal_is_refused(string? shown) => Assert.Equal(-1, MailboxSeal.From(Old)!.Find(shown, Mailbox, "packet"u8));

    /// <summary>Whoever registers the mailbox's actor type sees packets: with what they show nothing else can be sent, and to nobody else.</summary>
    [Fact]
    public void What_a_packet_shows_is_good_for_that_packet_and_that_mailbox_alone()
    {
        var seal = MailboxSeal.From(Old)!;
        var shown = seal.Of(Mailbox, "packet"u8);
        Assert.Equal(0, seal.Find(shown, Mailbox, "packet"u8));
        Assert.Equal(-1, seal.Find(shown, Mailbox, "another"u8));
        Assert.Equal(-1, seal.Find(shown, "Mailbox@w2", "packet"u8));
    }

    [Theory]
    [InlineData(Old, Old, true)]
    [InlineData(New, Old, false)]
    [InlineData(Old, New + ";" + Old, true)] // the other way it is the packet that counts
    public void An_answer_is_taken_from_those_who_have_the_secret_and_read_the_packet(string ours, string theirs, bool taken)
    {
        var (seal, other) = (MailboxSeal.From(ours)!, MailboxSeal.From(theirs)!);
        var shown = seal.Of(Mailbox, "packet"u8);
        var secret = Math.Max(0, other.Find(shown, Mailbox, "packet"u8));
        byte[] answer = [7, 8];
        var sent = other.Seal(secret, shown, answer);
        Assert.Equal(taken, seal.Open(shown, sent) is { } opened && opened.Span.SequenceEqual(answer));
        Assert.Null(seal.Open(seal.Of(Mailbox, "another"u8), sent));
        Assert.Null(seal.Open(shown, answer));
        var changed = sent.ToArray();
        changed[0] ^= 1;
        Assert.Null(seal.Open(shown, changed));
    }

    [Fact]
    public void A_short_secret_is_refused_and_a_seal_does_not_show_it()
    {
        Assert.Contains("at least 16", Assert.Throws<UsageException>(() => MailboxSeal.From("short")).Message, StringComparison.Ordinal);
        Assert.Throws<UsageException>(() => MailboxSeal.From(Old + ";"));
        Assert.DoesNotContain(Old, MailboxSeal.From(Old)!.Of(Mailbox, "packet"u8), StringComparison.Ordinal);
    }
}
