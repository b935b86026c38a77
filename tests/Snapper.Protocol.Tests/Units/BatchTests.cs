using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;

namespace Snapper.Protocol.Tests.Units;

/// <summary>Batches as the coordinator forms them and the commit machine counts them.</summary>
public sealed class BatchTests
{
    private static readonly ActorKey A = new("T", "a");
    private static readonly ActorKey B = new("T", "b");
    private static readonly ActorKey C = new("T", "c");
    private static readonly ActorKey D = new("T", "d");
    private static readonly ActorKey E = new("T", "e");
    private readonly OutputBuffer _outputs = new();
    private readonly CommitMachine _commit = new(1);

    [Fact]
    public void A_batch_has_contiguous_tids_from_its_bid_and_a_slot_per_actor()
    {
        var batch = Form(Ticket(A, B), Ticket(B));

        Assert.Equal(1, batch.Bid.Value);
        Assert.Equal(2, batch.LastTid.Value);
        Assert.Equal(2, batch.SlotCount);
        Assert.Equal([1L, 2L], batch.Tickets.Select(ticket => ticket.Tid.Value));
        Assert.Equal(2, batch.SubBatchOf(1).Count);
        Assert.Null(batch.SubBatchOf(1)[0].Ticket);
        Assert.NotNull(batch.SubBatchOf(1)[1].Ticket);
    }

    [Fact]
    public void It_is_complete_when_every_slot_is_and_goes_with_its_changes()
    {
        var batch = Announce(Form(Ticket(A, B)));
        Decide(1);
        Complete(batch, 0, 0, new Change(A, 1, "x"));
        Assert.Equal(0, _outputs.Count);
        Assert.True(batch.IsSlotComplete(0));
        Assert.False(batch.Components[0].IsComplete);

        Complete(batch, 1, 0, null);
        Assert.True(batch.Components[0].IsFinal);
        Assert.Equal(OutputKind.Append, _outputs[0].Kind);
        Assert.Equal("x", batch.ChangeOf(0)!.State);
        Assert.Equal(batch.Bid, _commit.Final);
    }

    [Fact]
    public void Only_completions_that_were_missing_are_the_last_or_the_last_but_one()
    {
        var batch = Announce(Form(Ticket(A, B)));
        Decide(1);
        Complete(batch, 1, 0, null);
        Assert.Equal((batch, null), (_commit.LeftWithOne, _commit.LastCompleted));
        Complete(batch, 1, 0, null);
        Assert.Equal((null, null), (_commit.LeftWithOne, _commit.LastCompleted));
        Complete(batch, 0, 0, null);
        Assert.Equal((null, batch), (_commit.LeftWithOne, _commit.LastCompleted));
        Assert.Empty(_commit.Emptied);
    }

    [Fact]
    public void A_batch_whose_transactions_were_all_taken_out_is_told_of_once()
    {
        var batch = Announce(Form(Ticket(A)));
        _commit.Step(new Message { Kind = MessageKind.PactFailed, Tid = new TransactionId(1), Bid = batch.Bid }, _outputs);
        Assert.Empty(_commit.Emptied);
        _commit.Step(new Message { Kind = MessageKind.UndoAcknowledged, Actor = A }, _outputs);
        Complete(batch, 0, 1, null);
        Assert.Same(batch, Assert.Single(_commit.Emptied));
        _commit.Step(new Message { Kind = MessageKind.Flushed }, _outputs);
        Assert.Empty(_commit.Emptied);
    }

    /// <summary>Who asks what a batch waits for reads it beside the commit machine.</summary>
    [Fact]
    public async Task Other_threads_see_its_components_whole_or_not_at_all()
    {
        var tickets = Enumerable.Range(0, 100).Select(i => Ticket(new ActorKey("T", "t" + i))).ToArray();
        for (var round = 0; round < 2000; round++)
        {
            var batch = Form(tickets);
            using var reads = new ManualResetEventSlim();
            var read = Task.Run(() =>
            {
                reads.Set();
                while (batch.Components.Count == 0)
                {
                    Thread.SpinWait(1);
                }

                return batch.Components.All(component => component is { FirstSlot: >= 0 });
            });
            reads.Wait();
            batch.Divide();
            Assert.True(await read);
        }
    }

    [Fact]
    public void A_batch_without_a_result_of_a_member_must_not_complete()
    {
        var batch = Announce(Form(Ticket(A)));
        Assert.Throws<ProtocolViolationException>(() => Complete(batch, 0, 0, null));
    }

    [Fact]
    public void A_transaction_is_decided_once()
    {
        Announce(Form(Ticket(A), Ticket(A)));
        Decide(1);
        Assert.Throws<ProtocolViolationException>(() => Decide(1));
    }

    [Fact]
    public void A_batch_is_divided_into_what_shares_actors_directly_or_through_others()
    {
        var batch = Announce(Form(Ticket(A, B), Ticket(C), Ticket(D), Ticket(B, E), Ticket(E, C)));
        Assert.Equal([[0, 1, 3, 4], [2]], batch.Components.Select(MembersOf));
        Assert.Equal([["a", "b", "c", "e"], ["d"]], batch.Components.Select(ActorsOf));
        Assert.Equal([4, 1], batch.Components.Select(component => component.Incomplete));
        Assert.All(
            Enumerable.Range(0, 5),
            member => Assert.Same(batch.Components[member == 2 ? 1 : 0], batch.ComponentOf(member)));
    }

    [Fact]
    public void A_component_is_final_without_those_that_share_nothing_with_it()
    {
        var batch = Announce(Form(Ticket(A), Ticket(B)));
        Decide(2);
        Complete(batch, 1, 0, new Change(B, 1, "x"));
        Assert.Equal([false, true], batch.Components.Select(component => component.IsFinal));
        Assert.Empty(Appended()); // the rest of its batch may be quick: one record is enough then
        Assert.True(_commit.HoldsRecords);
        LookForSlow(2);
        Assert.False(_commit.HoldsRecords);
        Assert.Equal((1, batch.Components[1]), (Appended().Count, Assert.Single(Appended()[0].Components)));
        Assert.Equal((0, 1), (_commit.Final.Value, _commit.HighestFinal.Value));
        Assert.False(batch.SubBatchOf(1).IsFinal); // its record is not queued yet
        _commit.Queued(Appended()[0], 1);
        Assert.Equal((false, true), (batch.SubBatchOf(0).IsFinal, batch.SubBatchOf(1).IsFinal));

        Decide(1);
        Complete(batch, 0, 0, null);
        Assert.Equal(2, Appended().Count); // it has waited already
        Assert.Equal((2, 1), (_commit.Final.Value + 1, _commit.UnfinishedBatches));
    }

    [Fact]
    public void A_component_waits_for_what_is_before_it_on_its_own_actors()
    {
        var token = new RingToken(TransactionId.None);
        var first = Announce(Form(token, Ticket(A), Ticket(B)));
        var second = Announce(Form(token, Ticket(A), Ticket(C)));
        Decide(3, second);
        Decide(4, second);
        Complete(second, 0, 0, null);
        Complete(second, 1, 0, null);
        Assert.Equal([false, true], second.Components.Select(component => component.IsFinal));
        Decide(1);
        Complete(first, 0, 0, null);
        Assert.Equal([true, false], first.Components.Select(component => component.IsFinal));
        Assert.Equal([first, second], Appended().TakeLast(2).Select(set => set.Batch)); // D3: in the order of the chain
        Assert.True(second.Components[0].IsFinal);
    }

    [Fact]
    public void A_batch_announced_late_is_before_what_was_announced_ahead_of_it()
    {
        var token = new RingToken(TransactionId.None);
        var first = Form(token, Ticket(A));
        var second = Announce(Form(token, Ticket(A)));
        Decide(2, second);
        Complete(second, 0, 0, null);
        Assert.Empty(Appended());
        Assert.Equal(BatchId.None, _commit.Final); // the first may be open
        Announce(first);
        Decide(1);
        Complete(first, 0, 0, null);
        Assert.Equal([first, second], Appended().Select(set => set.Batch));
        Assert.Equal(second.Bid, _commit.Final);
    }

    [Fact]
    public void A_batch_that_is_not_announced_is_not_taken_for_final()
    {
        var token = new RingToken(TransactionId.None);
        var first = Form(token, Ticket(A));
        var second = Announce(Form(token, Ticket(B)));
        Decide(2, second);
        Complete(second, 0, 0, null);
        Assert.Equal((BatchId.None, second.Bid), (_commit.Final, _commit.HighestFinal));
        Announce(first);
        Assert.Equal(BatchId.None, _commit.Final);
        Decide(1);
        Complete(first, 0, 0, null);
        Assert.Equal(second.Bid, _commit.Final);
    }

    [Fact]
    public void A_transaction_that_waits_holds_back_the_next_batch_for_two_looks_at_most()
    {
        var batch = Announce(Form(Ticket(A), Ticket(B), Ticket(C)));
        Assert.Equal(1, _commit.UnreleasedBatches);
        LookForSlow(1);
        Assert.Equal((1, 0), (_commit.UnreleasedBatches, _outputs.Count));
        LookForSlow(1);
        Assert.Equal(0, _commit.UnreleasedBatches);
        Assert.Equal((MessageKind.LogProgress, 0L), (_outputs[0].Message.Kind, _outputs[0].Message.Value));
        Assert.Equal((1, 3), (_commit.UnfinishedBatches, batch.OpenComponents));

        for (var slot = 0; slot < 3; slot++)
        {
            Decide(slot + 1);
            Complete(batch, slot, 0, null);
        }

        Assert.Equal(1, _commit.UnreleasedBatches); // it waits for the log now
        Queue();
        Flush(3);
        Assert.Equal((0, 0), (_commit.UnreleasedBatches, _commit.UnfinishedBatches));
    }

    [Fact]
    public void Half_of_a_batch_that_is_durable_lets_the_next_one_go()
    {
        var token = new RingToken(TransactionId.None);
        var batch = Announce(Form(token, Ticket(A), Ticket(B), Ticket(C)));
        var next = Announce(Form(token, Ticket(B)));
        Decide(4, next);
        Complete(next, 0, 0, null);
        for (var slot = 0; slot < 2; slot++)
        {
            Decide(slot + 1);
            Complete(batch, slot, 0, new Change(batch.SubBatchOf(slot).Actor, 1, "x"));
        }

        Assert.Equal([batch, next], Appended().Select(set => set.Batch)); // what is behind it takes it along
        Queue();
        Assert.Equal(2, _commit.UnreleasedBatches);
        Flush(1);
        Assert.Equal((0, 1), (_commit.UnreleasedBatches, _commit.UnfinishedBatches));
    }

    [Fact]
    public void Those_wait_for_a_transaction_that_share_a_component_with_it_or_are_behind_it_on_its_actors()
    {
        var token = new RingToken(TransactionId.None);
        var first = Announce(Form(token, Ticket(A), Ticket(B), Ticket(B, C)));
        Assert.False(_commit.HasWaitersBehind(new TransactionId(1), first.Bid));
        Assert.True(_commit.HasWaitersBehind(new TransactionId(2), first.Bid));
        Announce(Form(token, Ticket(D)));
        Assert.False(_commit.HasWaitersBehind(new TransactionId(1), first.Bid));
        Announce(Form(token, Ticket(A)));
        Assert.True(_commit.HasWaitersBehind(new TransactionId(1), first.Bid));
    }

    [Fact]
    public void An_act_follows_what_is_ahead_of_it_and_waits_for_nothing_else()
    {
        var batch = Announce(Form(Ticket(A), Ticket(B)));
        var tid = TransactionId.Act(1, 0);
        Visit(tid, batch);
        var act = new ActOutcome(tid, committed: true, [A], new object());
        var change = new Change(A, 2, "x");
        _commit.Step(new Message { Kind = MessageKind.ActFinished, Tid = tid, Body = act }, _outputs);
        _commit.Step(new Message { Kind = MessageKind.ActChanges, Tid = tid, Actor = A, Body = change }, _outputs);
        Assert.Equal(0, _outputs.Count);
        Decide(1);
        Complete(batch, 0, 0, new Change(A, 1, "x"));
        var queued = Enumerable.Range(0, _outputs.Count)
            .Where(i => _outputs[i].Kind == OutputKind.Append)
            .Select(i => _outputs[i].Message.Body!.GetType());
        Assert.Equal([typeof(CommitSet), typeof(ActOutcome)], queued);
    }

    [Fact]
    public void A_sub_batch_cannot_follow_itself() =>
        Assert.Throws<ProtocolViolationException>(
            () => new SubBatch(A, new BatchId(3), new SubBatch(A, new BatchId(3), null, 0), 0));

    [Fact]
    public void An_act_outcome_takes_one_part_of_each_participant_and_no_change_of_an_abort()
    {
        var outcome = new ActOutcome(TransactionId.Act(1, 0), committed: false, [A], "");
        outcome.Add(new Change(A, 1, "x"));
        Assert.True(outcome.IsComplete);
        Assert.Empty(outcome.Changes);
        Assert.Throws<ProtocolViolationException>(() => outcome.Add(null));
    }

    [Fact]
    public void A_part_whose_actor_has_moved_while_it_waited_for_its_place_is_a_broken_invariant()
    {
        var (self, tid, owned) = (new Incarnation(1, 1), TransactionId.Global(1, 1), new Owned());
        var pact = new GlobalPact(new Incarnation(2, 1), 1, A, [new ActorAccess(A, Access.Whole, 1)], false);
        var part = new GlobalPart(new BatchId(tid.Value), BatchId.None, [new GlobalMember(tid, pact, [self])]);
        var ring = new CoordinatorMachine(0, 2, new CoordinatorOptions(), owned);
        ring.Step(new Message { Kind = MessageKind.GlobalPart, Body = BoundPart.Bind(part, self, static _ => null, static _ => "") }, _outputs);
        owned.IsHere = false;
        var token = new Message { Kind = MessageKind.Token, Body = new RingToken(TransactionId.None) };
        Assert.Contains("(M7)", Assert.Throws<ProtocolViolationException>(() => ring.Step(token, _outputs)).Message, StringComparison.Ordinal);
    }

    /// <summary>
    /// D7: a master's successor is asked about each part by itself, and the second answer may come first. The parts
    /// share no actor; what is behind the second one waits with it.
    /// </summary>
    [Fact]
    public void Parts_of_global_batches_are_final_in_their_order_whatever_decision_comes_first()
    {
        var (first, second) = FormParts(A, B);
        foreach (var part in (Batch[])[first, second])
        {
            Announce(part);
            Complete(part, 0, 0, new Change(part.SubBatchOf(0).Actor, 1, "x"));
        }

        Assert.Equal([PartState.Prepared, PartState.Prepared], (PartState[])[first.PartState, second.PartState]);
        DecidePart(second);
        Assert.Equal((PartState.Decided, false), (second.PartState, second.Components[0].IsFinal));
        _outputs.Clear();
        DecidePart(first);
        var decided = Enumerable.Range(0, _outputs.Count)
            .Where(i => _outputs[i].Kind == OutputKind.Append)
            .Select(i => ((DecidedPart)_outputs[i].Message.Body!).Batch);
        Assert.Equal([first, second], decided);

        void DecidePart(Batch part) =>
            _commit.Step(new Message { Kind = MessageKind.GlobalDecided, Bid = part.Part!.Bid }, _outputs);
    }

    /// <summary>
    /// M1: what is frozen goes back, and does not come to this coordinator again if it has moved meanwhile. What is
    /// behind a whole batch of it must not wait until something else comes.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_batch_is_formed_of_those_behind_as_many_as_a_batch_takes_that_go_back_unnumbered(int ringSize)
    {
        var owned = new Owned { Frozen = A };
        var options = new CoordinatorOptions(TransactionsPerBatch: 2, OpenBatches: 1);
        var ring = new CoordinatorMachine(0, ringSize, options, owned);
        ring.Step(new Message { Kind = MessageKind.Token, Body = new RingToken(TransactionId.None) }, _outputs);
        ring.Step(new Message { Kind = MessageKind.LogProgress, Value = 1 }, _outputs);
        PactTicket[] tickets = [Ticket(A), Ticket(A), Ticket(A), Ticket(A), Ticket(B)];
        foreach (var ticket in tickets)
        {
            ring.Step(new Message { Kind = MessageKind.NewPact, Body = ticket }, _outputs);
        }

        Assert.Equal(0, _outputs.Count);
        ring.Step(new Message { Kind = MessageKind.LogProgress }, _outputs);
        Assert.Equal(4, Enumerable.Range(0, _outputs.Count).Count(i => _outputs[i].Kind == OutputKind.NotNumbered));
        Assert.NotEqual(TransactionId.None, tickets[4].Tid);
        Assert.Equal(0, ring.Waiting);
    }

    [Fact]
    public void Machines_refuse_messages_that_are_not_theirs()
    {
        var message = new Message { Kind = MessageKind.Die };
        Assert.Throws<ProtocolViolationException>(() => _commit.Step(message, _outputs));
        Assert.Throws<ProtocolViolationException>(() => new ActorMachine(A, null, 0).Step(message, BatchId.None, _outputs));
        Assert.Throws<ProtocolViolationException>(() => new CoordinatorMachine(0, 1, new CoordinatorOptions()).Step(message, _outputs));
    }

    private sealed class Owned : IOwnership
    {
        public bool IsHere { get; set; } = true;

        public ActorKey? Frozen { get; init; }

        public bool MayNumber(ActorKey actor) => IsHere && !actor.Equals(Frozen);

        public bool MayBegin(PactTicket ticket) => true;

        public bool Owns(ActorKey actor) => IsHere;
    }

    [Fact]
    public void An_act_that_its_root_has_taken_back_is_not_queued_when_the_sweep_was_quicker_than_its_end()
    {
        var batch = Announce(Form(Ticket(A)));
        var tid = TransactionId.Act(1, 0);
        Visit(tid, batch);

        // The root takes it back for an undo, and the index of ACTs has it no more; its end is still on its way.
        var over = _commit.FindOver(over => over == tid);
        Assert.Equal([tid], over);
        for (var other = 10; other < 10_000; other++)
        {
            _commit.Step(new Message { Kind = MessageKind.ActAborted, Tid = TransactionId.Act(other, 0) }, _outputs);
        }

        var outcome = new ActOutcome(tid, committed: true, [A], new object());
        _commit.Step(new Message { Kind = MessageKind.ActFinished, Tid = tid, Body = outcome }, _outputs);
        _commit.Step(new Message { Kind = MessageKind.ActChanges, Tid = tid, Actor = A, Body = new Change(A, 2, "x") }, _outputs);

        _commit.Forget(over);
        Assert.Equal(0, _outputs.Count);
        _commit.Step(new Message { Kind = MessageKind.ActAborted, Tid = tid }, _outputs);
        Assert.Equal(0, _commit.ActsInOrder);
    }

    /// <summary>
    /// A5: completions from before an undo are stale, and what an actor's machine completes that has never heard of
    /// the undo is not, because the actor had left memory: without the number the batch waited for ever.
    /// </summary>
    [Fact]
    public void A_machine_made_after_an_undo_counts_its_completions_from_that_undo_on()
    {
        var token = new RingToken(TransactionId.None);
        var first = Announce(Form(token, Ticket(A)));
        var second = Announce(Form(token, Ticket(A)));
        _commit.Step(new Message { Kind = MessageKind.PactFailed, Tid = new TransactionId(1), Bid = first.Bid }, _outputs);
        _commit.Step(new Message { Kind = MessageKind.UndoAcknowledged, Actor = A }, _outputs);
        Assert.Equal(1, _commit.Undone);
        Complete(first, 0, _commit.Undone, null);
        Assert.Equal(first.Bid, _commit.Final);

        var machine = new ActorMachine(A, null, 0, _commit.Undone);
        Tell(machine, new Message { Kind = MessageKind.SubBatch, Bid = second.Bid, Body = second.SubBatchOf(0) });
        var tid = new TransactionId(2);
        _commit.Step(new Message { Kind = MessageKind.PactDecided, Tid = tid, Bid = second.Bid, Flag = true }, _outputs);
        Tell(machine, new Message { Kind = MessageKind.Ended, Tid = tid, Bid = second.Bid, Flag = true });
        var told = Enumerable.Range(0, _outputs.Count).Select(i => _outputs[i].Message);
        var completion = Assert.Single(told, message => message.Kind == MessageKind.SubBatchCompleted);
        _commit.Step(completion, _outputs);
        Assert.Equal(second.Bid, _commit.Final);
    }

    /// <summary>
    /// A2: an undo names transactions whose sub-batches an actor may not have yet. Those of a batch that it has never
    /// get one there, and it may leave memory, or move, without a later batch: what was removed may not be numbered
    /// again, because its time has passed.
    /// </summary>
    [Fact]
    public void An_actor_waits_for_no_transaction_of_a_final_batch_that_an_undo_has_named()
    {
        var batch = Announce(Form(Ticket(A, B), Ticket(A), Ticket(B)));
        var machine = new ActorMachine(A, null, 0);
        Tell(machine, new Message { Kind = MessageKind.SubBatch, Bid = batch.Bid, Body = batch.SubBatchOf(0) });
        Undo(new Message { Kind = MessageKind.PactFailed, Tid = new TransactionId(1), Bid = batch.Bid });
        Acknowledge(A, 2);
        Undo(Acknowledgement(B, 3));
        Acknowledge(A);
        Acknowledge(B);
        Tell(machine, new Message { Kind = MessageKind.UndoDone, Value = _commit.Undone });
        Assert.False(machine.IsReplaceable);
        Complete(batch, 0, _commit.Undone, null);
        Complete(batch, 1, _commit.Undone, null);
        Assert.Equal(batch.Bid, _commit.Final);

        Queue();
        machine.ForgetFinal(_commit.Final);
        Assert.True(machine.IsReplaceable);

        void Undo(Message why)
        {
            _outputs.Clear();
            _commit.Step(why, _outputs);
            var told = Enumerable.Range(0, _outputs.Count).Select(i => _outputs[i].Message);
            Tell(machine, told.Single(message => message.Kind == MessageKind.Undo && A.Equals(message.Actor)));
        }

        void Acknowledge(ActorKey actor, params long[] victims) =>
            _commit.Step(Acknowledgement(actor, victims), _outputs);

        Message Acknowledgement(ActorKey actor, params long[] victims) => new()
        {
            Kind = MessageKind.UndoAcknowledged,
            Actor = actor,
            Body = victims.Select(tid => new Victim(new TransactionId(tid), batch.Bid)).ToList(),
        };
    }

    /// <summary>
    /// A2: the end of a transaction, and a call of it, are about a final batch when an undo has removed it, and may
    /// come late: to a machine that was made since, of an actor that had left memory. Nothing follows that they could
    /// wait for.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void What_comes_late_about_a_final_batch_keeps_no_actor_in_memory(bool isCall)
    {
        var (tid, bid) = (new TransactionId(7), new BatchId(5));
        var machine = new ActorMachine(A, null, 3);
        machine.Step(
            isCall
                ? new Message { Kind = MessageKind.Call, Tid = tid, Bid = bid, Body = new TestCall(tid, bid) }
                : new Message { Kind = MessageKind.Ended, Tid = tid, Bid = bid, Flag = true },
            bid, _outputs);
        Assert.True(machine.IsReplaceable);
        var told = Enumerable.Range(0, _outputs.Count).Select(i => _outputs[i].Kind);
        Assert.Equal(isCall ? [OutputKind.Refuse] : [], told);
    }

    [Fact]
    public void An_end_that_was_kept_for_a_batch_that_is_final_by_now_is_forgotten()
    {
        var machine = new ActorMachine(A, null, 3);
        var end = new Message { Kind = MessageKind.Ended, Tid = new TransactionId(7), Bid = new BatchId(5), Flag = true };
        machine.Step(end, new BatchId(4), _outputs);
        Assert.False(machine.IsReplaceable); // something of an earlier batch is open, and its own may be on its way
        machine.ForgetFinal(new BatchId(5));
        Assert.True(machine.IsReplaceable);
    }

    private void Tell(ActorMachine machine, Message message)
    {
        _outputs.Clear();
        machine.Step(message, _commit.Final, _outputs);
    }

    private static PactTicket Ticket(params ActorKey[] actors) =>
        new(actors[0], actors.Select(actor => new ActorAccess(actor, Access.Whole, 1)).ToArray(), "");

    private static Batch Form(params PactTicket[] tickets) => Form(new RingToken(TransactionId.None), tickets);

    private static Batch Form(RingToken token, params PactTicket[] tickets)
    {
        var ring = new CoordinatorMachine(0, 1, new CoordinatorOptions());
        var outputs = new OutputBuffer();
        foreach (var ticket in tickets)
        {
            ring.Step(new Message { Kind = MessageKind.NewPact, Body = ticket }, outputs);
        }

        outputs.Clear();
        ring.Step(new Message { Kind = MessageKind.Token, Body = token }, outputs);
        return (Batch)outputs[0].Message.Body!;
    }

    /// <summary>Two parts, each of one transaction on one actor.</summary>
    private static (Batch First, Batch Second) FormParts(ActorKey first, ActorKey second)
    {
        var self = new Incarnation(1, 1);
        var ring = new CoordinatorMachine(0, 1, new CoordinatorOptions(), new Owned());
        var outputs = new OutputBuffer();
        var previous = BatchId.None;
        foreach (var actor in (ActorKey[])[first, second])
        {
            var tid = TransactionId.Global(1, previous == BatchId.None ? 1 : 2);
            var access = new ActorAccess(actor, Access.Whole, 1);
            var pact = new GlobalPact(new Incarnation(2, 1), tid.Value, actor, [access], false);
            var part = new GlobalPart(new BatchId(tid.Value), previous, [new GlobalMember(tid, pact, [self])]);
            var bound = BoundPart.Bind(part, self, static _ => null, static _ => "");
            ring.Step(new Message { Kind = MessageKind.GlobalPart, Body = bound }, outputs);
            previous = part.Bid;
        }

        outputs.Clear();
        ring.Step(new Message { Kind = MessageKind.Token, Body = new RingToken(TransactionId.None) }, outputs);
        var formed = Enumerable.Range(0, outputs.Count)
            .Select(i => outputs[i].Message)
            .Where(message => message.Kind == MessageKind.BatchFormed)
            .Select(message => (Batch)message.Body!)
            .ToArray();
        return (formed[0], formed[1]);
    }

    private Batch Announce(Batch batch)
    {
        _commit.Step(new Message { Kind = MessageKind.BatchFormed, Bid = batch.Bid, Body = batch }, _outputs);
        return batch;
    }

    private List<CommitSet> Appended() =>
        [.. Enumerable.Range(0, _outputs.Count)
            .Select(i => _outputs[i])
            .Where(output => output.Kind == OutputKind.Append)
            .Select(output => (CommitSet)output.Message.Body!)];

    private void Queue() => Appended().ForEach(set => _commit.Queued(set, 1));

    private void LookForSlow(int times)
    {
        for (var i = 0; i < times; i++)
        {
            _commit.Step(new Message { Kind = MessageKind.LookedForSlow }, _outputs);
        }
    }

    private void Flush(long ticket) =>
        _commit.Step(new Message { Kind = MessageKind.Flushed, Value = ticket }, _outputs);

    private static List<int> MembersOf(Component component)
    {
        var members = new List<int>();
        for (var i = component.FirstMember; i >= 0; i = component.Batch.NextMember(i))
        {
            members.Add(i);
        }

        return members;
    }

    private static List<string> ActorsOf(Component component)
    {
        var actors = new List<string>();
        for (var slot = component.FirstSlot; slot >= 0; slot = component.Batch.NextSlot(slot))
        {
            actors.Add(component.Batch.SubBatchOf(slot).Actor.Id);
        }

        return actors;
    }

    private void Visit(TransactionId tid, Batch batch)
    {
        var body = batch.SubBatchOf(0);
        _commit.Step(
            new Message { Kind = MessageKind.ActVisited, Tid = tid, Bid = batch.Bid, Actor = A, Body = body }, _outputs);
    }

    private void Decide(long tid, Batch? batch = null)
    {
        var bid = batch?.Bid ?? new BatchId(1);
        _commit.Step(
            new Message { Kind = MessageKind.PactDecided, Tid = new TransactionId(tid), Bid = bid, Flag = true }, _outputs);
    }

    private void Complete(Batch batch, int slot, long undo, Change? change) =>
        _commit.Step(new Message { Kind = MessageKind.SubBatchCompleted, Bid = batch.Bid, Count = slot, Value = undo, Body = change }, _outputs);
}
