using Snapper.Protocol.Batches;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Scheduling;

namespace Snapper.Protocol.Tests.Units;

public sealed class WaitingPactsTests
{
    private readonly WaitingPacts _waiting = new();

    [Fact]
    public void Ordinary_ones_are_taken_in_the_order_of_their_coming()
    {
        Add("1", slow: false, "a");
        Add("2", slow: false, "a");
        Add("3", slow: false, "a");
        Assert.Equal(["1", "2"], Take(2));
        Assert.Equal(["3"], Take(2));
        Assert.Null(_waiting.Take(2));
    }

    [Fact]
    public void Of_the_slow_ones_no_two_in_a_batch_share_an_actor_and_all_are_behind_the_ordinary_ones()
    {
        Add("s1", slow: true, "x");
        Add("s2", slow: true, "x", "y");
        Add("s3", slow: true, "z");
        Add("o1", slow: false, "x");
        Assert.Equal(["o1", "s1", "s3"], Take(10));
        Assert.Equal(["s2"], Take(10));
        Assert.Equal(0, _waiting.Count);
    }

    [Fact]
    public void A_line_of_slow_ones_on_one_actor_leaves_one_per_batch_in_order()
    {
        for (var i = 0; i < 200; i++)
        {
            Add($"s{i}", slow: true, "x");
        }

        for (var i = 0; i < 200; i++)
        {
            Assert.Equal([$"s{i}"], Take(512));
        }
    }

    [Fact]
    public void Withdrawn_ones_are_passed_over_and_a_batch_is_never_empty_while_somebody_waits()
    {
        Add("s1", slow: true, "x").Withdrawn = true;
        Add("s2", slow: true, "x");
        Add("o1", slow: false, "x").Withdrawn = true;
        Assert.Equal(["s2"], Take(1));
        Assert.Null(_waiting.Take(1));
        Assert.Equal(0, _waiting.Count);
    }

    [Fact]
    public void However_many_were_withdrawn_the_one_behind_them_is_taken()
    {
        for (var i = 0; i < 200; i++)
        {
            Add($"s{i}", slow: true, "x").Withdrawn = true;
        }

        Add("last", slow: true, "x");
        Assert.Equal(["last"], Take(512));
        Assert.Equal(0, _waiting.Count);
    }

    [Fact]
    public void The_size_of_a_batch_counts_both_kinds()
    {
        Add("s1", slow: true, "x");
        Add("o1", slow: false, "a");
        Add("o2", slow: false, "a");
        Assert.Equal(["o1", "s1"], Take(2));
        Assert.Equal(["o2"], Take(2));
    }

    private PactTicket Add(string name, bool slow, params string[] actors)
    {
        var declared = actors.Select(a => new ActorAccess(new ActorKey("T", a), Access.Whole, 1)).ToArray();
        var ticket = new PactTicket(declared[0].Actor, declared, name) { IsSlow = slow };
        _waiting.Add(ticket);
        return ticket;
    }

    private IEnumerable<string> Take(int most) => _waiting.Take(most)!.Select(ticket => (string)ticket.Request);
}
