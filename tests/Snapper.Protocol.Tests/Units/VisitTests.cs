using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Scheduling;

namespace Snapper.Protocol.Tests.Units;

public sealed class VisitTests
{
    private static readonly TransactionId T1 = TransactionId.Act(1, 0);
    private readonly ActScheduleEntry _visit = new(T1, T1, BatchId.None, new TestCall(T1));

    [Fact]
    public void Calls_of_one_transaction_run_one_at_a_time_in_the_order_they_came()
    {
        var calls = new[] { new TestCall(T1), new TestCall(T1), new TestCall(T1) };
        Assert.True(_visit.Admit(calls[0]));
        Assert.False(_visit.Admit(calls[1]));
        Assert.False(_visit.Admit(calls[2]));
        Assert.Null(_visit.NextWaiting());

        _visit.Leave(calls[0]);
        Assert.Same(calls[1], _visit.NextWaiting());
        Assert.Equal(1, _visit.WaitingCalls);
        _visit.Leave(calls[1]);
        Assert.Same(calls[2], _visit.NextWaiting());
        Assert.Equal(2, _visit.EndedCalls);
    }

    [Fact]
    public void A_call_back_in_the_same_chain_is_let_in_and_a_stranger_is_not()
    {
        var root = new TestCall(T1);
        var elsewhere = new TestCall(T1, caller: root);
        var back = new TestCall(T1, caller: elsewhere);
        _visit.Admit(root);
        Assert.False(_visit.Admit(new TestCall(T1)));

        Assert.True(_visit.Admit(back));
        Assert.True(_visit.IsRunning);

        _visit.Leave(back);
        Assert.True(_visit.IsRunning);
        Assert.Null(_visit.NextWaiting());
    }

    [Fact]
    public void A_call_that_leaves_before_the_one_above_it_is_a_bug()
    {
        var root = new TestCall(T1);
        var back = new TestCall(T1, caller: root);
        _visit.Admit(root);
        _visit.Admit(back);

        Assert.Throws<ProtocolViolationException>(() => _visit.Leave(root));
    }

    [Fact]
    public void The_first_write_keeps_the_before_image()
    {
        _visit.NoteWrite("before");
        _visit.NoteWrite("between");
        Assert.Equal("before", _visit.BeforeImage);

        _visit.DropWrites();
        Assert.False(_visit.Wrote);
        Assert.Null(_visit.BeforeImage);
    }

    [Fact]
    public void Taking_the_waiting_calls_leaves_none()
    {
        _visit.Admit(new TestCall(T1));
        _visit.Admit(new TestCall(T1));

        Assert.Single(_visit.TakeWaiting()!);
        Assert.Null(_visit.TakeWaiting());
    }

    [Theory]
    [InlineData(false, false, 1, false, true)] // A2: reaching the count is enough
    [InlineData(true, false, 1, false, false)] // A1: a marked tid holds its turn
    [InlineData(false, true, 1, false, false)] // the root's own entry
    [InlineData(false, false, 2, false, false)] // one of two calls
    [InlineData(false, false, 2, true, true)] // Ended says that one was all
    [InlineData(true, false, 1, true, true)]
    [InlineData(false, true, 1, true, true)]
    public void A_turn_is_over(bool marked, bool isRoot, int declared, bool ended, bool over)
    {
        var tid = new TransactionId(1);
        var key = new ActorKey("T", "a");
        var ticket = isRoot ? new PactTicket(key, [new ActorAccess(key, Access.Whole, declared)], "") : null;
        var batch = new PlacedBatch(new SubBatch(key, new BatchId(1), null, 0));
        var visit = new PactScheduleEntry(new SubBatchEntry(tid, Access.Whole, declared, marked, ticket), batch);
        var call = new TestCall(tid);
        visit.Admit(call);
        visit.Leave(call);
        if (ended)
        {
            visit.End(1);
        }

        Assert.Equal(over, visit.TurnIsOver);
    }

    [Fact]
    public void A_removed_turn_is_over_and_an_end_with_more_calls_is_awaited()
    {
        var key = new ActorKey("T", "a");
        var batch = new PlacedBatch(new SubBatch(key, new BatchId(1), null, 0));
        var visit = new PactScheduleEntry(new SubBatchEntry(new TransactionId(1), Access.Whole, 3, false, null), batch);
        visit.End(2);
        Assert.False(visit.TurnIsOver);

        visit.Removed = true;
        Assert.True(visit.TurnIsOver);
    }
}
