using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;

namespace Snapper.Protocol.Tests.Units;

public sealed class LockTableTests
{
    private readonly LockTable _table = new();
    private readonly OutputBuffer _outputs = new();
    private readonly List<TransactionId> _blockers = [];

    [Fact]
    public void Readers_share()
    {
        Assert.Equal(LockAnswer.Granted, Ask(Act(5), LockMode.Shared));
        Assert.Equal(LockAnswer.Granted, Ask(Act(9), LockMode.Shared));
    }

    [Theory]
    [InlineData(LockMode.Shared, LockMode.Exclusive)]
    [InlineData(LockMode.Exclusive, LockMode.Shared)]
    [InlineData(LockMode.Exclusive, LockMode.Exclusive)]
    public void The_younger_dies_and_the_older_waits(LockMode held, LockMode asked)
    {
        var holder = Act(5);
        Ask(holder, held);

        Assert.Equal(LockAnswer.Die, Ask(Act(9), asked));
        Assert.Equal([holder.Tid], _blockers);
        Assert.Equal(LockAnswer.Waiting, Ask(Act(2), asked));
        Assert.Equal([holder.Tid], _blockers);
    }

    [Fact]
    public void A_reader_does_not_overtake_a_waiting_writer()
    {
        var first = Act(5);
        var writer = Act(3);
        Ask(first, LockMode.Shared);
        Ask(writer, LockMode.Exclusive);

        Assert.Equal(LockAnswer.Die, Ask(Act(4), LockMode.Shared));
        Assert.Equal([writer.Tid], _blockers);
        Assert.Equal(LockAnswer.Waiting, Ask(Act(1), LockMode.Shared));
        Assert.Equal([writer.Tid], _blockers);
    }

    [Fact]
    public void A_stronger_lock_covers_a_weaker_request_and_the_same_one_again()
    {
        var visit = Act(5);
        Ask(visit, LockMode.Exclusive);

        Assert.Equal(LockAnswer.Granted, Ask(visit, LockMode.Shared));
        Assert.Equal(LockAnswer.Granted, Ask(visit, LockMode.Exclusive));
        Assert.Equal(LockMode.Exclusive, visit.Held);
    }

    [Fact]
    public void The_only_reader_upgrades_at_once_even_with_a_queue()
    {
        var visit = Act(5);
        Ask(visit, LockMode.Shared);
        Ask(Act(2), LockMode.Exclusive);

        Assert.Equal(LockAnswer.Granted, Ask(visit, LockMode.Exclusive));
    }

    [Fact]
    public void Of_two_readers_that_upgrade_the_older_waits_and_the_younger_dies()
    {
        var older = Act(2);
        var younger = Act(6);
        Ask(older, LockMode.Shared);
        Ask(younger, LockMode.Shared);

        Assert.Equal(LockAnswer.Waiting, Ask(older, LockMode.Exclusive));
        Assert.Equal(LockAnswer.Die, Ask(younger, LockMode.Exclusive));

        _table.Release(younger);
        _table.GrantNext(_outputs);
        Assert.Equal(LockMode.Exclusive, older.Held);
    }

    [Fact]
    public void Release_grants_in_order_as_far_as_it_is_compatible()
    {
        var holder = Act(9);
        var readers = new[] { Act(8), Act(7) };
        var writer = Act(3);
        Ask(holder, LockMode.Exclusive);
        Ask(readers[0], LockMode.Shared);
        Ask(readers[1], LockMode.Shared);
        Ask(writer, LockMode.Exclusive);

        _table.Release(holder);
        _table.GrantNext(_outputs);

        Assert.Equal(2, _outputs.Count);
        Assert.All(readers, reader => Assert.Equal(LockMode.Shared, reader.Held));
        Assert.Equal(LockMode.None, writer.Held);
        Assert.True(_table.HasWaitersBehind(readers[0]));
    }

    [Fact]
    public void Release_takes_waiting_requests_out_too()
    {
        var holder = Act(5);
        var waiter = Act(2);
        Ask(holder, LockMode.Exclusive);
        Ask(waiter, LockMode.Shared);

        _table.Release(waiter);
        _table.Release(holder);
        _table.GrantNext(_outputs);

        Assert.True(_table.IsEmpty);
        Assert.Equal(0, _outputs.Count);
    }

    [Fact]
    public void Age_counts_not_the_number_of_the_attempt()
    {
        var holder = Act(5);
        Ask(holder, LockMode.Exclusive);
        var again = new ActScheduleEntry(TransactionId.Act(50, 0), TransactionId.Act(1, 0), BatchId.None, new TestCall(TransactionId.Act(50, 0)));

        Assert.Equal(LockAnswer.Waiting, Ask(again, LockMode.Exclusive));
    }

    [Fact]
    public void An_attempt_waits_for_an_earlier_one_of_its_own_request_to_leave()
    {
        var dead = new ActScheduleEntry(TransactionId.Act(5, 0), TransactionId.Act(1, 0), BatchId.None, new TestCall(TransactionId.Act(5, 0)));
        var again = new ActScheduleEntry(TransactionId.Act(9, 0), TransactionId.Act(1, 0), BatchId.None, new TestCall(TransactionId.Act(9, 0)));
        Ask(dead, LockMode.Exclusive);
        Assert.Equal(LockAnswer.Waiting, Ask(again, LockMode.Exclusive));

        _table.GrantNext(_outputs); // of anything else that has ended
        Assert.Equal(0, _outputs.Count);
        _table.Release(dead);
        _table.GrantNext(_outputs);
        Assert.Equal(LockMode.Exclusive, again.Held);
    }

    private static ActScheduleEntry Act(int age) =>
        new(TransactionId.Act(age, 0), TransactionId.Act(age, 0), BatchId.None, new TestCall(TransactionId.Act(age, 0)));

    private LockAnswer Ask(ActScheduleEntry visit, LockMode mode) =>
        _table.Ask(visit, mode, new TestCall(visit.Tid), _blockers);
}
