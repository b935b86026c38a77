using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;
using Snapper.Simulation.Rules;

namespace Snapper.Simulation.Tests;

/// <summary>The rules themselves: each is told of a run that breaks it, in a way that no mutation shows, and of the same run as it should be.</summary>
public sealed class RuleTests
{
    private static readonly ActorKey s_x = new("Cell", "x");
    private static readonly ActorKey s_y = new("Cell", "y");
    private static readonly TransactionId s_act = TransactionId.Act(1, 0);
    private static readonly TransactionId s_laterAct = TransactionId.Act(2, 0);

    private readonly List<string> _violations = [];
    private readonly UndoRules _undo;
    private readonly ActorOrderRules _actors;

    public RuleTests()
    {
        _undo = new UndoRules(_violations.Add);
        _actors = new ActorOrderRules(_undo, _violations.Add);
    }

    [Fact]
    public void A_turn_before_the_turn_of_an_earlier_batch_is_seen()
    {
        Form(1, s_x);
        Form(2, s_x);
        Enter(2, s_x);
        Expect("A1, A2: Cell/x: 2 is let in before the turn of 1 is over");
    }

    [Fact]
    public void A_turn_before_its_batch_is_here_is_seen()
    {
        Enter(2, s_x);
        Expect("K1: Cell/x: 2 is let in before its batch is here");
    }

    [Fact]
    public void Turns_in_the_order_of_their_batches_break_nothing()
    {
        Form(1, s_x);
        Form(2, s_x);
        var first = Enter(1, s_x);
        Write(first, s_x);
        Leave(first, s_x);
        Write(Enter(2, s_x), s_x);
        Assert.Empty(_violations);
    }

    [Fact]
    public void An_act_that_is_queued_before_a_batch_that_it_has_read_behind_is_seen()
    {
        Form(5, s_y);
        var call = Enter(5, s_y);
        Write(call, s_y, "y5");
        Leave(call, s_y);
        Run(s_act, s_y);
        Finish(s_act, s_y);
        Expect("H3: ACT 4503599627371520 is queued before batch 5, whose 5 has touched Cell/y before it");
    }

    [Fact]
    public void A_batch_that_runs_into_an_act_is_seen()
    {
        Run(s_act, s_x);
        Form(1, s_x);
        Enter(1, s_x);
        Expect("H1: Cell/x: 1 is let in before ACT 4503599627371520 has ended");
    }

    [Fact]
    public void Two_acts_that_write_beside_each_other_are_seen()
    {
        Write(Run(s_act, s_x), s_x);
        Write(Run(s_laterAct, s_x), s_x);
        Expect("H2: Cell/x: ACT 4503599627372544 reads while ACT 4503599627371520, which has touched it, has not ended");
    }

    [Fact]
    public void A_reader_of_what_is_undone_that_stays_is_seen()
    {
        ReadBehind(1, 2);
        Undo([1], s_x);
        _undo.Over();
        Expect("A5: 2 read or wrote what was undone, and is not removed");
    }

    [Fact]
    public void A_reader_of_what_is_undone_that_commits_is_seen_even_if_no_undo_names_it()
    {
        ReadBehind(1, 2);
        Undo([1], s_x);
        _undo.Queued(SetOf(BatchOf(2, s_x)));
        Assert.Contains(_violations, violation => violation.StartsWith("A5: 2 read or wrote what was undone, and ends", StringComparison.Ordinal));
    }

    [Fact]
    public void A_call_of_a_removed_transaction_is_seen()
    {
        ReadBehind(1, 2);
        Undo([1], s_x);
        Enter(1, s_x);
        Expect("A8, W3: Cell/x: a call of 1 is let in after it was removed or has ended");
    }

    [Fact]
    public void The_closure_of_what_is_undone_breaks_nothing()
    {
        ReadBehind(1, 2);
        Undo([1], s_x);
        Undo([2], s_x);
        _undo.Over();
        Assert.Empty(_violations);
    }

    [Fact]
    public void A_removal_without_cause_is_seen()
    {
        ReadBehind(1, 2);
        _undo.Removing([new TransactionId(2)]);
        Expect("A5: 2 is removed, but has not failed, and nothing that it touched was undone");
    }

    [Fact]
    public void A_second_removal_is_seen()
    {
        Form(1, s_x);
        Fail(1);
        _undo.Removing([new TransactionId(1)]);
        _undo.Removing([new TransactionId(1)]);
        Expect("A5: 1 is removed twice");
    }

    [Fact]
    public void What_is_queued_before_something_ahead_of_it_on_its_actor_is_seen()
    {
        var commits = new CommitOrderRules(_violations.Add);
        var (first, second) = (BatchOf(1, s_x), BatchBehind(1, 2, s_y, s_x));
        Announce(commits, second);
        Announce(commits, first);
        commits.Queued(SetOf(second), null, 0, 1);
        Expect("D2: Cell/x: batch 2 is queued before batch 1");
    }

    [Fact]
    public void What_shares_no_actor_may_be_queued_in_any_order()
    {
        var commits = new CommitOrderRules(_violations.Add);
        var (first, second) = (BatchOf(1, s_x), BatchBehind(1, 2, s_y));
        Announce(commits, first);
        Announce(commits, second);
        commits.Queued(SetOf(second), null, 0, 1);
        commits.Queued(SetOf(first), null, 0, 2);
        Assert.Empty(_violations);
    }

    [Fact]
    public void An_act_that_is_queued_before_what_is_ahead_of_it_is_seen()
    {
        var commits = new CommitOrderRules(_violations.Add);
        var batch = BatchOf(1, s_x);
        Announce(commits, batch);
        commits.Received(new Message { Kind = MessageKind.ActVisited, Tid = s_act, Bid = batch.Bid, Actor = s_x });
        commits.Queued(new ActOutcome(s_act, committed: true, [], new object()), null, 0, 1);
        Expect($"H3: ACT {s_act} is queued while batch 1, which is ahead of it on Cell/x, is not final");
    }

    [Fact]
    public void An_act_that_is_queued_after_what_it_stands_ahead_of_is_seen()
    {
        var commits = new CommitOrderRules(_violations.Add);
        var batch = BatchOf(1, s_x);
        Announce(commits, batch);
        commits.Received(new Message { Kind = MessageKind.ActOvertaken, Tid = s_act, Bid = batch.Bid, Actor = s_x });
        commits.Queued(SetOf(batch), null, 0, 1);
        commits.Queued(new ActOutcome(s_act, committed: true, [], new object()), null, 0, 2);
        Expect($"H5: ACT {s_act} is queued behind batch 1, ahead of which it stands on Cell/x");
    }

    [Fact]
    public void An_empty_batch_that_is_queued_is_seen()
    {
        var batch = BatchOf(1, s_x);
        Fail(1);
        _undo.Removing([new TransactionId(1)]);
        _undo.Over();
        batch.Remove(0);
        _undo.Queued(SetOf(batch));
        Expect("A7: batch 1 is empty and queued");
    }

    [Fact]
    public void What_is_given_to_read_after_an_undo_must_be_what_a_survivor_wrote()
    {
        ReadBehind(1, 2);
        Undo([1], s_x);
        Undo([2], s_x);
        _undo.Over();
        _actors.Arrived(s_x, new Message { Kind = MessageKind.UndoDone, Actor = s_x, Value = 1 });
        Form(3, s_x);
        _actors.Read(s_x, Enter(3, s_x), "written by 1");
        Expect("A5: Cell/x: 3 is given another state than the one that was written last and not taken back");
    }

    [Fact]
    public void Waiting_behind_an_older_one_and_a_lock_before_ones_turn_are_seen()
    {
        var locks = new LockRules(s_x, _violations.Add);
        locks.Asked(new Call(s_act), LockMode.Exclusive, LockAnswer.Granted);
        locks.Asked(new Call(s_laterAct), LockMode.Shared, LockAnswer.Waiting);
        Assert.StartsWith("W1: Cell/x: 4503599627372544 of age 4503599627372544 asks for a Shared lock", Assert.Single(_violations), StringComparison.Ordinal);
        locks.Granted(new Call(s_laterAct), LockMode.Shared);
        Assert.StartsWith("H2: Cell/x: 4503599627372544 is granted a Shared lock beside", _violations[1], StringComparison.Ordinal);
    }

    private void ReadBehind(long writer, long reader)
    {
        Form(writer, s_x);
        Form(reader, s_x);
        Fail(writer);
        var call = Enter(writer, s_x);
        var state = "written by " + writer;
        Write(call, s_x, state);
        Leave(call, s_x);
        _actors.Read(s_x, Enter(reader, s_x), state);
        Assert.Empty(_violations);
    }

    /// <summary>What is broken first; more may follow from it.</summary>
    private void Expect(string beginning) => Assert.StartsWith(beginning, _violations.FirstOrDefault() ?? "nothing", StringComparison.Ordinal);

    /// <summary>A batch of one transaction without a root, which declares one call on each of the actors.</summary>
    private static Batch BatchOf(long tid, params ActorKey[] actors) => BatchBehind(0, tid, actors);

    private static Batch BatchBehind(long previous, long tid, params ActorKey[] actors)
    {
        var root = new ActorKey("Cell", "root");
        var ticket = new PactTicket(root, [], new object()) { Tid = new TransactionId(tid) };
        var batch = new Batch(new BatchId(tid), new BatchId(previous), [ticket]);
        for (var i = 0; i < actors.Length; i++)
        {
            var part = new SubBatch(actors[i], batch.Bid, null, i);
            part.Add(new SubBatchEntry(new TransactionId(tid), Access.Whole, 1, Marked: false, Ticket: null));
            batch.AddSlot(part);
        }

        batch.Divide();
        return batch;
    }

    private static void Announce(CommitOrderRules commits, Batch batch)
    {
        batch.Decide(0, committed: true);
        commits.Received(new Message { Kind = MessageKind.BatchFormed, Bid = batch.Bid, Body = batch });
    }

    private static CommitSet SetOf(Batch batch)
    {
        var set = new CommitSet(batch);
        foreach (var component in batch.Components)
        {
            set.Add(component, 0);
        }

        return set;
    }

    private Batch Form(long tid, params ActorKey[] actors)
    {
        var batch = BatchOf(tid, actors);
        _undo.Received(new Message { Kind = MessageKind.BatchFormed, Bid = batch.Bid, Body = batch });
        for (var i = 0; i < actors.Length; i++)
        {
            _actors.Arrived(actors[i], new Message { Kind = MessageKind.SubBatch, Body = batch.SubBatchOf(i) });
        }

        return batch;
    }

    private Call Enter(long tid, ActorKey actor)
    {
        var call = new Call(new TransactionId(tid)) { Bid = new BatchId(tid) };
        _actors.LetIn(actor, call);
        return call;
    }

    private void Write(Call call, ActorKey actor, string state = "written") => _actors.Wrote(actor, call, state);

    private void Leave(Call call, ActorKey actor) => _actors.Arrived(actor, new Message { Kind = MessageKind.CallEnded, Body = call });

    private void Complete(Batch batch, ActorKey actor, string state)
    {
        var change = new Change(actor, 1, state);
        batch.Decide(0, committed: true);
        batch.CompleteSlot(0, 0, change);
        _actors.Completed(actor, batch.Bid, change);
        _actors.Queued(SetOf(batch));
        Assert.Empty(_violations);
    }

    private Call Run(TransactionId act, params ActorKey[] actors)
    {
        Call? call = null;
        foreach (var actor in actors)
        {
            call = new Call(act);
            _actors.LetIn(actor, call);
            _actors.Read(actor, call, actor == s_y ? "y5" : null);
        }

        return call!;
    }

    private void Finish(TransactionId act, params ActorKey[] actors)
    {
        _actors.Queued(new ActOutcome(act, committed: true, actors, new object()));
        foreach (var actor in actors)
        {
            _actors.Arrived(actor, new Message { Kind = MessageKind.ActEnd, Tid = act, Flag = true });
        }
    }

    private void Fail(long tid) => _undo.Received(new Message { Kind = MessageKind.PactFailed, Tid = new TransactionId(tid), Bid = new BatchId(tid) });

    private void Undo(long[] tids, ActorKey actor)
    {
        var order = new UndoOrder([.. tids.Select(tid => new Victim(new TransactionId(tid), new BatchId(tid)))]);
        _undo.Removing(order.Tids);
        _actors.Arrived(actor, new Message { Kind = MessageKind.Undo, Actor = actor, Body = order });
    }

    private sealed class Call(TransactionId tid) : IActorCall
    {
        public TransactionId Tid => tid;

        public BatchId Bid { get; init; }

        public TransactionId Age => tid;

        public bool IsAlive => true;

        public BatchId Ceil { get; set; }

        public IActorCall? Caller => null;

        public IActorCall? Below { get; set; }

        public Visit? Visit { get; set; }
    }
}
