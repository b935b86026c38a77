using Snapper.Protocol.Batches;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Scheduling;

namespace Snapper.Protocol.Tests.Units;

public sealed class WaitingPactsTests
{
    private readonly WaitingPacts<PactTicket> _waiting = new(
        static ticket => ticket.Caller, static ticket => ticket.Withdrawn ? 0 : ticket.Here.Length);

    [Fact]
    public void They_are_taken_in_the_order_of_their_coming()
    {
        Add("1");
        Add("2");
        Add("3");
        Assert.Equal(["1", "2"], Take(2));
        Assert.Equal(["3"], Take(2));
        Assert.Empty(Take(2));
    }

    [Fact]
    public void Withdrawn_ones_are_passed_over_and_a_batch_is_never_empty_while_one_waits()
    {
        Add("1").Withdrawn = true;
        Add("2");
        Add("3").Withdrawn = true;
        Assert.Equal(["2"], Take(1));
        Assert.Empty(Take(1));
        Assert.Equal(0, _waiting.Count);
    }

    [Fact]
    public void Callers_that_wait_have_turns_and_one_has_an_allowance_while_others_come()
    {
        for (var i = 0; i < 100; i++)
        {
            Add("flood" + i, "flood");
        }

        Add("a1", "a");
        Add("a2", "a");
        Add("?", null);
        Assert.Equal(["flood0", "flood1", "a1", "a2", "?"], Take(8, 128));
        Add("b", "b");
        Assert.Equal(["flood2", "flood3", "b"], Take(8, 128));
        Assert.Equal(96, _waiting.Count);

        // The others come no more.
        for (var batch = 0; batch < 16; batch++)
        {
            Assert.Equal(2, Take(8, 128).Count);
        }

        Assert.Equal(Enumerable.Range(36, 8).Select(i => "flood" + i), Take(8, 128));
    }

    [Fact]
    public void While_two_callers_have_PACTs_a_batch_has_as_many_of_the_one_as_of_the_other()
    {
        for (var i = 0; i < 100; i++)
        {
            Add("x", "x");
        }

        for (var i = 0; i < 5; i++)
        {
            Add("y", "y");
        }

        Assert.Equal("xxyyxxyyxxy", string.Concat(Take(20, 128)));
        Assert.Equal("xx", string.Concat(Take(20, 128)));
    }

    [Fact]
    public void A_batch_has_few_declared_actors_but_one_transaction_at_least()
    {
        Add("large", actors: 50);
        Add("l2", actors: 3);
        Add("l3", actors: 3);
        Add("l4");
        Assert.Equal(["large"], Take(100, 4));
        Assert.Equal(["l2"], Take(100, 4));
        Assert.Equal(["l3", "l4"], Take(100, 4));
        Assert.Empty(Take(1, 1));
    }

    [Fact]
    public void What_does_not_fit_in_has_its_turn_in_the_next_batch()
    {
        Add("a", "a", actors: 3);
        Add("b", "b", actors: 3);
        Add("c", "c", actors: 1);
        Assert.Equal(["a"], Take(100, 4));
        Assert.Equal(["b", "c"], Take(100, 4));
    }

    /// <summary>While others have PACTs a caller has an allowance, here of 16 actors.</summary>
    [Fact]
    public void A_caller_that_declared_many_waits_while_others_go_on()
    {
        var flood = new List<int>();
        for (var i = 0; i < 100; i++)
        {
            Add("flood" + i, "flood", actors: 256);
        }

        for (var batch = 0; batch < 40; batch++)
        {
            Add("one" + batch, "ann", actors: 2);
            var taken = Take(512, 1024);
            Assert.Contains("one" + batch, taken);
            if (taken.Count > 1)
            {
                flood.Add(batch);
            }
        }

        Assert.Equal(Enumerable.Range(0, 3).Select(i => 16 * i), flood);
    }

    [Fact]
    public void Who_used_up_the_allowance_is_taken_while_no_batch_is_open_and_else_waits()
    {
        Add("f0", "flood", actors: 256);
        Add("f1", "flood", actors: 256);
        Add("f2", "flood", actors: 256);
        Add("one", "ann");
        Assert.Equal(["f0", "one"], Take(512, 1024));
        Assert.Empty(Take(512, 1024, mayOwe: false));
        Assert.Equal(["f1"], Take(512, 1024));
        Assert.Empty(Take(512, 1024, mayOwe: false));
    }

    [Fact]
    public void Those_who_go_are_taken_out_and_turns_stay()
    {
        foreach (var name in (string[])["x1", "y1", "x2", "z1", "y2"])
        {
            Add(name, name[..1]);
        }

        Assert.Equal(["x1"], Take(1));
        _waiting.RemoveWhere(static ticket => (string)ticket.Request is "y1" or "y2" or "x2");
        Add("x3", "x");
        Assert.Equal((2, 2), (_waiting.Count, _waiting.Callers));
        Assert.Equal(["z1"], Take(1));
        Assert.Equal(["x3"], Take(1));
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
            var members = Take(512, 1024);
            taken.AddRange(members);
            foreach (var again in members.Where(name => name[0] == 'c'))
            {
                Add(again, again, actors: 256);
            }
        }

        Assert.Equal(["x0", "x1", "x2"], taken.Where(name => name[0] == 'x'));
    }

    [Fact]
    public void Of_callers_that_do_not_wait_little_stays()
    {
        for (var i = 0; i < 1_000; i++)
        {
            Add("x", "caller" + i);
            Assert.Equal(["x"], Take(1, 1));
        }

        Assert.InRange(_waiting.Callers, 0, 80);
    }

    /// <summary>Each message to a coordinator is a look, and who owes may send many.</summary>
    [Fact]
    public void A_look_that_takes_none_pays_off_nothing()
    {
        Add("f0", "flood", actors: 256);
        Add("f1", "flood", actors: 256);
        Add("one", "ann");
        Assert.Equal(["f0", "one"], Take(512, 1024));
        for (var look = 0; look < 100; look++)
        {
            Assert.Empty(Take(512, 1024, mayOwe: false));
        }
    }

    /// <summary>Two that were taken all the same, as no other waited, are not locked out for it later.</summary>
    [Fact]
    public void A_caller_owes_no_more_than_a_batch_beyond_its_last_PACT()
    {
        for (var batch = 0; batch < 1_000; batch++)
        {
            Add("x", "x", actors: 256);
            Add("y", "y", actors: 256);
            Assert.NotEmpty(Take(512, 1024));
        }

        _waiting.RemoveWhere(static ticket => (string)ticket.Request is "y");
        var passed = 0;
        do
        {
            passed++;
            Add("one", "ann");
        }
        while (!Take(512, 1024).Contains("x") && passed < 200);

        Assert.InRange(passed, 1, 81);
    }

    [Fact]
    public void A_caller_whose_PACTs_are_withdrawn_owes_what_it_owed()
    {
        Add("f0", "flood", actors: 256);
        Add("one", "ann");
        Assert.Equal(["f0", "one"], Take(512, 1024));
        Add("f1", "flood");
        _waiting.RemoveWhere(static ticket => (string)ticket.Request is "f1");
        Add("f2", "flood", actors: 256);
        Add("two", "ann");
        Assert.Equal(["two"], Take(512, 1024));
    }

    private PactTicket Add(string name, string? caller = null, int actors = 1)
    {
        var declared = Enumerable.Range(0, actors)
            .Select(i => new ActorAccess(new ActorKey("T", "a" + i), Access.Whole, 1)).ToArray();
        var ticket = new PactTicket(declared[0].Actor, declared, name) { Caller = caller };
        _waiting.Add(ticket);
        return ticket;
    }

    private List<string> Take(int most, int accesses = int.MaxValue, bool mayOwe = true)
    {
        List<PactTicket> taken = [];
        _waiting.Take(most, accesses, mayOwe, taken);
        return [.. taken.Select(ticket => (string)ticket.Request)];
    }
}
