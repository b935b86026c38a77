using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;
using Snapper.Protocol.Tests.World;
using Snapper.Protocol.Transactions;

namespace Snapper.Protocol.Tests.Units;

/// <summary>What random schedules do not reach: deadlines, ends that cross, retry.</summary>
public sealed class TransactionMachineTests
{
    private static readonly ActorKey Root = new("T", "root");
    private static readonly TransactionId Number = new(4);
    private readonly OutputBuffer _outputs = new();
    private readonly TransactionMachine _machine;
    private readonly Dictionary<TransactionId, Attempt> _acts = [];

    public TransactionMachineTests() => _machine = new TransactionMachine(_outputs);

    [Fact]
    public void A_pact_whose_number_was_taken_from_it_does_not_begin()
    {
        var request = Pact();

        Assert.False(TransactionMachine.MayBegin(request, new TransactionId(3)));
        Assert.True(TransactionMachine.MayBegin(request, Number));
        TransactionMachine.OnRemovedBeforeStart(request, Number);

        Assert.False(TransactionMachine.MayBegin(request, Number));
    }

    [Fact]
    public void A_deadline_in_line_withdraws_a_pact_and_answers_it()
    {
        var request = Pact();

        Assert.Equal(AttemptEffects.Answer, _machine.OnDeadline(request, null, AbortReason.Timeout));

        Assert.Equal(AbortReason.Timeout, request.Abort!.Reason);
        Assert.Equal(MessageKind.Withdraw, _outputs[0].Message.Kind);
        Assert.Same(request.Ticket, _outputs[0].Message.Body);
        Begin(request, Number, AttemptEffects.AbortRequested); // its turn had come all the same
    }

    [Fact]
    public void A_caller_who_leaves_in_line_withdraws_a_pact_and_ends_an_act()
    {
        Assert.Equal(AttemptEffects.None, _machine.OnDeadline(Pact(), null, AbortReason.Cancelled));
        Assert.Equal(MessageKind.Withdraw, _outputs[0].Message.Kind);
        Assert.Equal(AttemptEffects.Answer, _machine.OnDeadline(Act(), null, AbortReason.Cancelled));
    }

    [Fact]
    public void A_caller_who_leaves_what_runs_changes_nothing()
    {
        var attempt = Begin(Act(), TransactionId.Act(1, 0));

        Assert.Equal(AttemptEffects.None, _machine.OnDeadline(attempt.Request, attempt, AbortReason.Cancelled));
        Assert.True(attempt.IsAlive);
    }

    [Fact]
    public void A_deadline_aborts_what_runs_and_leaves_in_doubt_what_has_ended()
    {
        var attempt = Begin(Act(), TransactionId.Act(1, 0));
        var ended = Begin(Act(), TransactionId.Act(2, 0));
        _machine.Returned(ended, []);

        Assert.Equal(AttemptEffects.AbortRequested, _machine.OnDeadline(attempt.Request, attempt, AbortReason.Timeout));
        Assert.Equal(AttemptEffects.InDoubt, _machine.OnDeadline(ended.Request, ended, AbortReason.Timeout));
        Assert.True((_machine.Aborted(attempt) & AttemptEffects.Answer) != 0);
        Assert.True(ended.IsAlive);
    }

    [Fact]
    public void A_deadline_that_passed_leaves_in_doubt_what_other_workers_end()
    {
        var attempt = Begin(Act(), TransactionId.Act(1, 0));
        attempt.Visited = static () => [new Incarnation(2, 1)];
        _machine.OnDeadline(attempt.Request, attempt, AbortReason.Timeout);

        Assert.Equal(AttemptEffects.InDoubt, _machine.OnDeadline(attempt.Request, attempt, AbortReason.Timeout));
    }

    [Fact]
    public void User_code_aborts_nothing_after_the_root_has_ended()
    {
        var attempt = Begin(Act(), TransactionId.Act(1, 0));
        Assert.Equal(AttemptEffects.Ended, _machine.Returned(attempt, []));

        Assert.False(attempt.TryAbort(new AbortInfo(AbortReason.Application, "late")));
        Assert.True(attempt.TryAbort(AbortInfo.Removed, evenSealed: true));
    }

    [Fact]
    public void What_was_aborted_does_not_return()
    {
        var attempt = Begin(Pact(), Number);
        attempt.TryAbort(new AbortInfo(AbortReason.Application, "first"));

        Assert.Equal(AttemptEffects.None, _machine.Returned(attempt, attempt.Calls));
        Assert.False(attempt.RootEnded);
    }

    [Fact]
    public void An_act_whose_time_is_over_is_answered_and_not_run_again()
    {
        var attempt = Begin(Act(), TransactionId.Act(1, 0));
        attempt.Request.Expired = true;
        attempt.TryAbort(AbortInfo.Removed);

        var effects = _machine.Aborted(attempt);

        Assert.Equal(AttemptEffects.Answer, effects & (AttemptEffects.Answer | AttemptEffects.Retry));
        Assert.Equal(AbortReason.Timeout, attempt.Request.Abort!.Reason);
    }

    [Fact]
    public void A_branch_that_fails_after_the_end_asks_the_commit_machine_and_gives_its_reason()
    {
        var attempt = Begin(Act(), TransactionId.Act(1, 0));
        _machine.Returned(attempt, []);
        _outputs.Clear();
        var why = new AbortInfo(AbortReason.Conflict, "elsewhere");

        Assert.Equal(AttemptEffects.None, _machine.OnBranchFailed(attempt, why)); // H6: it may be queued
        Assert.True(_outputs[0].Message is { Kind: MessageKind.ActVoted, Flag: false });
        Assert.True(attempt.IsAlive);

        var die = new Message { Kind = MessageKind.Die, Tid = attempt.Tid, Reason = AbortReason.Failure };
        Assert.True((_machine.OnMessage(attempt, die) & AttemptEffects.Retry) != 0);
        Assert.Same(why, attempt.AbortCause);
    }

    [Fact]
    public void What_is_queued_is_not_ended_for_a_branch()
    {
        var attempt = Begin(Act(), TransactionId.Act(1, 0));
        _machine.Returned(attempt, []);
        _acts.Clear();
        _outputs.Clear();
        var why = new AbortInfo(AbortReason.Conflict, "elsewhere");

        Assert.Equal(AttemptEffects.None, _machine.OnBranchFailed(attempt, why));
        Assert.Equal(0, _outputs.Count);
    }

    [Fact]
    public void An_act_keeps_the_age_of_its_first_attempt()
    {
        var request = Act();

        Assert.Equal(TransactionId.Act(1, 0), Retry.AgeOf(request, TransactionId.Act(1, 0)));
        Assert.Equal(TransactionId.Act(1, 0), Retry.AgeOf(request, TransactionId.Act(2, 0)));
    }

    [Theory]
    [InlineData(1, 3)]
    [InlineData(2, 6)]
    [InlineData(5, 48)]
    [InlineData(90, 48)]
    public void Pauses_double_up_to_a_bound(int attempts, int longest) =>
        Assert.Equal(longest, Retry.LongestPause(attempts, 3));

    [Fact]
    public void Those_who_wait_for_an_end_begin_again_youngest_first()
    {
        var waiters = default(EndWaiters<Request>);
        Request[] requests = [Act(), Act(), Act()];
        long[] ages = [2, 3, 1];
        for (var i = 0; i < requests.Length; i++)
        {
            requests[i].Age = TransactionId.Act(ages[i], 0);
            Assert.True(waiters.TryAdd(requests[i]));
        }

        Assert.Equal([requests[1], requests[0], requests[2]], waiters.Take()!);
        Assert.False(waiters.TryAdd(Act())); // the locks are gone: nothing to wait for
        Assert.Null(waiters.Take());
    }

    private static Request Act() => new() { Index = 0, Name = "t", Script = null! };

    private static Request Pact()
    {
        ActorAccess[] declared = [new(Root, Access.Whole, 1)];
        var request = new Request { Index = 0, Name = "t", Script = null!, Declared = declared };
        request.Ticket = new PactTicket(Root, declared, request) { Tid = Number, Bid = new BatchId(4) };
        return request;
    }

    private Attempt Begin(Request request, TransactionId tid, AttemptEffects expected = AttemptEffects.None)
    {
        var attempt = new Attempt(request, tid, default, tid, 0, _acts);
        request.Attempt = attempt;
        if (!request.IsPact)
        {
            _acts.Add(tid, attempt);
        }

        Assert.Equal(expected, TransactionMachine.Begin(attempt));
        return attempt;
    }
}
