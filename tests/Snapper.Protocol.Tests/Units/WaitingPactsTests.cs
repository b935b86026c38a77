using Snapper.Protocol.Batches;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Scheduling;

namespace Snapper.Protocol.Tests.Units;

public sealed class WaitingPactsTests
{
    private readonly WaitingPacts _waiting = new();

    [Fact]
    public void They_are_taken_in_the_order_of_their_coming()
    {
        Add("1");
        Add("2");
        Add("3");
        Assert.Equal(["1", "2"], Take(2));
        Assert.Equal(["3"], Take(2));
        Assert.Null(_waiting.Take(2));
    }

    [Fact]
    public void Withdrawn_ones_are_passed_over_and_a_batch_is_never_empty_while_one_waits()
    {
        Add("1").Withdrawn = true;
        Add("2");
        Add("3").Withdrawn = true;
        Assert.Equal(["2"], Take(1));
        Assert.Null(_waiting.Take(1));
        Assert.Equal(0, _waiting.Count);
    }

    private PactTicket Add(string name)
    {
        var actor = new ActorKey("T", "a");
        var ticket = new PactTicket(actor, [new ActorAccess(actor, Access.Whole, 1)], name);
        _waiting.Add(ticket);
        return ticket;
    }

    private IEnumerable<string> Take(int most) => _waiting.Take(most)!.Select(ticket => (string)ticket.Request);
}
