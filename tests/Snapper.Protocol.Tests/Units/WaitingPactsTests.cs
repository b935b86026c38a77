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
        Assert.Null(_waiting.Take(2, int.MaxValue));
    }

    [Fact]
    public void Withdrawn_ones_are_passed_over_and_a_batch_is_never_empty_while_one_waits()
    {
        Add("1").Withdrawn = true;
        Add("2");
        Add("3").Withdrawn = true;
        Assert.Equal(["2"], Take(1));
        Assert.Null(_waiting.Take(1, int.MaxValue));
        Assert.Equal(0, _waiting.Count);
    }

    [Fact]
    public void Callers_that_wait_have_turns_and_one_has_a_share_while_others_wait()
    {
        for (var i = 0; i < 100; i++)
        {
            Add("flood" + i, "flood");
        }

        Add("a1", "a");
        Add("a2", "a");
        Add("?", null);
        Assert.Equal(["flood0", "flood1", "a1", "a2", "?"], Take(8, int.MaxValue));
        Assert.Equal(Enumerable.Range(2, 8).Select(i => "flood" + i), Take(8, int.MaxValue));
        Add("b", "b");
        Assert.Equal(["flood10", "flood11", "b"], Take(8, int.MaxValue));
        Assert.Equal(88, _waiting.Count);
    }

    [Fact]
    public void A_batch_has_few_declared_actors_but_one_transaction_at_least()
    {
        Add("large", "flood", actors: 50);
        Add("l2", "flood", actors: 3);
        Add("l3", "flood", actors: 3);
        Assert.Equal(["large"], Take(100, 4));
        Assert.Equal(["l2"], Take(100, 4));
        Add("a", "a");
        Assert.Equal(["l3", "a"], Take(100, 4));
        Add("l4", "flood", actors: 3);
        Add("l5", "flood", actors: 3);
        Add("b", "b", actors: 3);
        Assert.Equal(["l4"], Take(100, 4));
        Assert.Equal(["b"], Take(100, 4)); // its turn has come, though it did not fit in
        Assert.Equal(["l5"], Take(100, 4));
        Assert.Null(_waiting.Take(1, 1));
    }

    /// <summary>
    /// One whose turn is over is behind all that wait then, and not behind those who come later.
    /// </summary>
    [Fact]
    public void A_caller_that_waits_has_its_turn_though_others_come_again_and_again()
    {
        for (var i = 0; i < 3; i++)
        {
            Add("x" + i, "x", actors: 256);
        }

        for (var i = 0; i < 6; i++)
        {
            Add("c" + i, "c" + i, actors: 256);
        }

        var taken = new List<string>();
        for (var batch = 0; batch < 100; batch++)
        {
            // Six callers that ask again once they were served, one transaction at a time.
            var members = Take(512, 1024).ToArray();
            taken.AddRange(members);
            foreach (var again in members.Where(name => name[0] == 'c'))
            {
                Add(again, again, actors: 256);
            }
        }

        Assert.Equal(["x0", "x1", "x2"], taken.Where(name => name[0] == 'x'));
    }

    [Fact]
    public void Of_a_caller_that_does_not_wait_nothing_stays()
    {
        for (var i = 0; i < 1_000; i++)
        {
            Add("x", "caller" + i);
            Assert.Equal(["x"], Take(1, 1));
        }

        Assert.Equal(0, _waiting.Lanes);
    }

    private PactTicket Add(string name, string? caller = null, int actors = 1)
    {
        var declared = Enumerable.Range(0, actors)
            .Select(i => new ActorAccess(new ActorKey("T", "a" + i), Access.Whole, 1)).ToArray();
        var ticket = new PactTicket(declared[0].Actor, declared, name) { Caller = caller };
        _waiting.Add(ticket);
        return ticket;
    }

    private IEnumerable<string> Take(int most, int accesses = int.MaxValue) =>
        _waiting.Take(most, accesses)!.Select(ticket => (string)ticket.Request);
}
