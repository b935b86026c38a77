using System.Text;
using Snapper.Protocol.Channels;
using Snapper.Server.Cli;
using Snapper.Server.Hosting;
using Snapper.Sidecar.Hosting;
using Xunit;

namespace Snapper.Server.Tests.Access;

/// <summary>Packets between workers show that a worker has sent them.</summary>
public sealed class MailboxSealTests
{
    private const string Old = "an old secret of the workers", New = "a new secret of the workers";

    [Theory]
    [InlineData(null, null, true)]
    [InlineData(Old, null, false)]
    [InlineData(Old, Old, true)]
    [InlineData(Old, New, false)]
    [InlineData(null, New, true)]
    [InlineData(Old + ";" + New, Old, true)]
    [InlineData(Old + ";" + New, New, true)]
    [InlineData(Old, Old + ";" + New, true)]
    [InlineData(Old, New + ";" + Old, false)]
    public void A_packet_is_taken_from_those_who_have_a_secret_of_ours(string? ours, string? theirs, bool taken)
    {
        var door = new MailboxDoor(MailboxSeal.From(ours));
        var reply = door.Call(new ActorCall { ActorType = "Mailbox@w1", ActorId = "0", Method = "Deliver", Authorization = MailboxSeal.From(theirs).Shown });

        // A worker that takes it says that it is not ready, since it has no mailbox here.
        var refused = Encoding.UTF8.GetString(reply.Body.Span).Contains(MailboxSeal.Variable, StringComparison.Ordinal);
        Assert.Equal(taken, !refused);
        Assert.DoesNotContain("secret of the workers", Encoding.UTF8.GetString(reply.Body.Span), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Snapper ")]
    [InlineData("Bearer x")]
    [InlineData("")]
    public void What_is_no_seal_is_refused(string shown) => Assert.False(MailboxSeal.From(Old).Accepts(shown));

    [Fact]
    public void A_short_secret_is_refused_and_a_seal_does_not_show_it()
    {
        Assert.Contains("at least 16", Assert.Throws<UsageException>(() => MailboxSeal.From("short")).Message, StringComparison.Ordinal);
        Assert.Throws<UsageException>(() => MailboxSeal.From(Old + ";"));
        Assert.DoesNotContain(Old, MailboxSeal.From(Old).Shown, StringComparison.Ordinal);
    }
}
