using Snapper.Cluster.Migrating;
using Snapper.Cluster.Wire;
using Snapper.Protocol;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Membership;
using Snapper.Storage.Memory;
using Snapper.Storage.MigrationPlans;
using Snapper.Storage.States;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// M2 to M6: plans whose source is this worker are carried out one after another, whatever interrupts them.
/// </summary>
public sealed class MigratorTests : IDisposable
{
    private static readonly TransactionId Visitor = TransactionId.Act(1000, 2);
    private readonly ClusterBench _bench = new();
    private readonly Migrator _migrator;
    private readonly BenchPeer _two;
    private readonly IClusterStore _calm;

    public MigratorTests()
    {
        _bench.Lead();
        _two = _bench.Peer(2);
        _migrator = new Migrator(_bench.Worker, _bench.Node, _bench.Store, _bench.Directory);
        _calm = _bench.Shared.Open(_bench.Self, new());
    }

    [Fact]
    public void Plans_are_carried_out_one_after_another_in_their_order()
    {
        Visit("x");
        Plan("p1", "x");
        Plan("p2", "y");
        Look();
        _bench.Advance(100);
        Assert.Equal((OwnershipState.Frozen, OwnershipState.Open), (StateOf("x"), StateOf("y"))); // little is frozen at a time
        Assert.Equal(["p1"], _migrator.Progress.Select(progress => progress.Plan));
        Assert.True(_migrator.IsBusy);
        Leave();
        _bench.Until(() => !_migrator.IsBusy, "both are done");
        Assert.Equal((PlanState.Done, PlanState.Done), (Find("p1").State, Find("p2").State));
        Assert.Equal((OwnershipState.NotOwned, OwnershipState.NotOwned), (StateOf("x"), StateOf("y")));
        Assert.Equal(["p1", "p2"], _migrator.Progress.OrderBy(progress => progress.Phases[^1].At).Select(progress => progress.Plan));
        Assert.All(_migrator.Progress, progress => Assert.Equal(MigrationPhase.Done, progress.Phases[^1].Phase));
    }

    [Fact]
    public void A_master_that_is_not_among_the_living_hears_of_what_has_moved_before_it_hears_that_it_is_frozen_no_more()
    {
        _bench.Follow(_two, 100);
        _bench.Node.Members = () => [_bench.Self];
        Plan("p1", "x");
        Look();
        _bench.Until(() => _two.All<FreezeMessage>().Count == 1, "it asks the master to freeze");
        _two.Send(new FrozenMessage(100, "p1"));
        _bench.Until(() => !_migrator.IsBusy, "it is done");
        _bench.Until(() => _two.All<FreezeMessage>().Count == 2, "the master hears of its end");

        var last = _two.Heard.Where(message => message is MovedMessage or FreezeMessage { Keys.Count: 0 }).ToList();
        Assert.IsType<MovedMessage>(last[0]);
        Assert.IsType<FreezeMessage>(Assert.Single(last.Skip(1)));
    }

    [Fact]
    public void The_answer_to_the_freeze_of_another_plan_is_not_taken()
    {
        _bench.Follow(_two, 100);
        Plan("p1", "x");
        Look();
        _bench.Until(() => _two.All<FreezeMessage>().Count == 1, "it asks the master to freeze");
        _two.Send(new FrozenMessage(100, "p0"));
        _bench.Advance(100);
        Assert.Equal((PlanState.Planned, OwnershipState.Frozen), (Find("p1").State, StateOf("x")));
        _two.Send(new FrozenMessage(100, "p1"));
        _bench.Until(() => !_migrator.IsBusy, "it is done");
        Assert.Equal(PlanState.Done, Find("p1").State);
    }

    /// <summary>
    /// M4: an ACT that an undo has taken back is not among those under way any more, and the undo has yet to go to all
    /// actors that it had called. One that had moved meanwhile was loaded by it, kept, and read when it came back.
    /// </summary>
    [Fact]
    public void An_actor_does_not_move_before_the_undo_of_what_was_in_on_it_is_over()
    {
        var (x, z) = (ClusterBench.Box("x"), ClusterBench.Box("z"));
        _bench.States.Hold(x);
        _bench.States.Hold(z);
        Visit("x");
        Plan("p1", "x");
        Look();
        _bench.Advance(10);

        // A PACT that began behind the freeze fails when the ACT has read from it; one of its actors is not loaded yet.
        using var gate = new Gate(inline: true);
        _bench.Submit("w", [Step.Call("y", Step.Add(5)), Step.Wait(gate), Step.Throw()], "w", "y", "z");
        Visit("y");
        gate.Open();
        _bench.Run();
        Assert.Equal(AbortReason.Undone, _two.Single<BranchFailedMessage>().Failure.Reason);
        _bench.On(() => _bench.States.Release(x));
        _bench.Advance(100);
        _bench.On(() => _bench.States.Release(z));
        _bench.Until(() => !_migrator.IsBusy, "it is done");
        Assert.Equal(PlanState.Done, Find("p1").State);

        // It changes there, and comes back.
        var states = new MemoryStateStore(_bench.Shared.Log(2), _bench.Time, new());
        var state = new StateField(StateField.WholeState, "{\"value\":42}"u8.ToArray());
        var change = new StateCheckpoint(x, 0, 1, [state]);
        _bench.Finish(states.Checkpoint(_two.Life.Epoch, [change], CancellationToken.None), "a checkpoint of w2");
        Create(new MigrationPlan("p2", [Key("x")], _two.Life, _bench.Self, "test"));
        Assert.True(_bench.Finish(_calm.Plans.Commit("p2", CancellationToken.None), "giving x back").IsDone);
        _bench.Finish(_bench.Directory.Read(CancellationToken.None), "reading the directory");
        Assert.Equal(42, _bench.Value("x"));
    }

    [Fact]
    public void An_ACT_that_is_in_on_an_actor_that_has_moved_stops_the_worker()
    {
        Visit("x");
        _bench.Place(ClusterBench.Box("x"), _two.Life); // nobody has waited for it
        Assert.Null(_bench.Host.Failure);
        Visit("x");
        Assert.Contains("(M4, M7)", Assert.IsType<ProtocolViolationException>(_bench.Host.Failure).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_partition_that_another_was_given_though_no_plan_has_moved_it_says_that_this_life_is_fenced()
    {
        _bench.On(() => _bench.Node.Apply([new DirectoryEntry(DirectoryKey.Of(Partition.Of(ClusterBench.Box("x"))), _two.Life, 1_000_000)]));
        Assert.Equal(AppendStatus.Fenced, Assert.IsType<LogLostFailure>(_bench.Host.Failure).Status);
    }

    [Fact]
    public void One_that_cannot_be_done_does_not_keep_the_next_one_from_it()
    {
        Visit("x");
        Plan("p1", "x");
        Plan("p2", "y");
        Look();
        _bench.Until(() => !_migrator.IsBusy, "both have ended");
        Assert.Equal((PlanState.Cancelled, PlanState.Done), (Find("p1").State, Find("p2").State));
        Assert.Equal((OwnershipState.Open, OwnershipState.NotOwned), (StateOf("x"), StateOf("y")));
        Assert.Equal(MigrationPhase.Cancelled, Last("p1"));
    }

    [Fact]
    public void A_plan_that_the_absence_of_the_store_has_interrupted_is_begun_again_where_it_stands()
    {
        Visit("x");
        Plan("p1", "x");
        Plan("p2", "y");
        _bench.Store.Before = FaultyStore.Failing(nameof(IMigrationPlans.Cancel));
        Look();
        _bench.Advance(5_100); // it has not come to rest, and cannot say so
        Assert.Equal((OwnershipState.Frozen, OwnershipState.Open), (StateOf("x"), StateOf("y"))); // nobody knows what becomes of it; the next one waits
        Assert.Equal(PlanState.Planned, Find("p1").State);
        Assert.True(_migrator.IsBusy);
        _bench.Store.Before = null;
        Leave();
        Look();
        _bench.Until(() => !_migrator.IsBusy, "both are done");
        Assert.Equal((PlanState.Done, PlanState.Done), (Find("p1").State, Find("p2").State));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_plan_that_has_ended_while_the_store_was_away_is_let_go(bool byItself)
    {
        Visit("x");
        Plan("p1", "x");
        if (byItself)
        {
            _bench.Store.After = FaultyStore.Failing(nameof(IMigrationPlans.Cancel)); // it arrives, and nobody hears of that
        }
        else
        {
            _bench.Store.Before = FaultyStore.Failing(nameof(IMigrationPlans.Cancel));
        }

        Look();
        _bench.Advance(5_100);
        _bench.Finish(_calm.Plans.Cancel("p1", "by another", CancellationToken.None), "another's word");
        Assert.Equal(OwnershipState.Frozen, StateOf("x"));
        Assert.True(_migrator.IsBusy); // or nobody would look again
        (_bench.Store.Before, _bench.Store.After) = (null, null);
        Look();
        Assert.Equal(OwnershipState.Open, StateOf("x"));
        Assert.Empty(_bench.Node.OpenFreezes);
        _bench.On(() => Assert.Empty(_bench.Node.Master!.Frozen.Plans));
        Assert.Equal(MigrationPhase.Cancelled, Last("p1"));
        Assert.False(_migrator.IsBusy);
    }

    [Fact]
    public void A_plan_that_is_cancelled_by_the_look_that_would_begin_it_again_is_let_go()
    {
        Interrupt("x");
        Look(Members().Select(member => member.Incarnation == _two.Life ? member with { State = MemberState.Expired } : member)); // as all leases are after an outage
        Assert.Equal((PlanState.Cancelled, $"{_two.Life} is gone."), (Find("p1").State, Find("p1").Why));
        LetGo("x");
    }

    [Theory]
    [InlineData(nameof(IMigrationPlans.ReadOpen), 1)]
    [InlineData(nameof(IMigrationPlans.ReadOpen), 2)]
    public void A_plan_that_another_cancels_while_this_worker_looks_is_let_go(string after, int times)
    {
        Interrupt("x");
        _bench.Store.After = async call =>
        {
            if (call == after && --times == 0)
            {
                await _calm.Plans.Cancel("p1", "by another", CancellationToken.None);
            }
        };
        Look();
        for (var looks = 0; _migrator.IsBusy && looks < 3; looks++)
        {
            Look();
        }

        LetGo("x");
    }

    [Fact]
    public void What_cannot_be_asked_while_a_freeze_is_let_go_is_asked_again()
    {
        Interrupt("x");
        _bench.Finish(_calm.Plans.Cancel("p1", "by another", CancellationToken.None), "another's word");
        _bench.Store.Before = FaultyStore.Failing(FaultyStore.DirectoryRead);
        Look();
        Assert.Equal(OwnershipState.Frozen, StateOf("x"));
        Assert.True(_migrator.IsBusy);
        _bench.Store.Before = null;
        Look();
        LetGo("x");
    }

    [Fact]
    public void What_was_frozen_before_something_could_not_be_is_let_go_too()
    {
        Create(new MigrationPlan("p1", [Key("x"), Key("y")], _bench.Self, _two.Life, "test"));
        _bench.Place(ClusterBench.Box("y"), _two.Life);
        _bench.Store.Before = FaultyStore.Failing(nameof(IMigrationPlans.Cancel));
        Look();
        Assert.Equal(OwnershipState.Frozen, StateOf("x"));
        _bench.Store.Before = null;
        _bench.Finish(_calm.Plans.Cancel("p1", "by another", CancellationToken.None), "another's word");
        Look();
        LetGo("x");
    }

    [Fact]
    public void What_cannot_even_be_asked_for_is_asked_for_at_the_next_look()
    {
        Plan("p1", "x");
        _bench.Store.Before = FaultyStore.Failing(nameof(IMigrationPlans.Find));
        Look();
        Assert.True(_migrator.IsBusy);
        Assert.Equal(OwnershipState.Open, StateOf("x"));
        _bench.Store.Before = null;
        Look();
        _bench.Until(() => !_migrator.IsBusy, "it is done");
        Assert.Equal(PlanState.Done, Find("p1").State);
    }

    [Fact]
    public void A_plan_that_is_made_while_the_last_one_ends_is_not_forgotten()
    {
        Plan("p1", "x");
        var (asked, answer) = (0, new TaskCompletionSource());
        _bench.Store.After = call => call == nameof(IMigrationPlans.ReadOpen) && ++asked == 3 ? answer.Task : Task.CompletedTask; // the look, p1, and what comes next
        Look();
        _bench.Until(() => asked == 3, "it was asked what is next");
        Assert.Equal(PlanState.Done, Find("p1").State);
        Plan("p2", "y"); // the answer, that there is nothing, is under way
        Look();
        _bench.On(answer.SetResult);
        _bench.Advance(100);
        Assert.Equal(PlanState.Planned, Find("p2").State);
        Assert.True(_migrator.IsBusy); // no plan changes any more: nothing else makes anybody look
        Look();
        _bench.Until(() => !_migrator.IsBusy, "it is done");
        Assert.Equal(PlanState.Done, Find("p2").State);
    }

    [Theory]
    [InlineData(MemberState.Expired)]
    [InlineData(MemberState.Fenced)]
    [InlineData(MemberState.Left)]
    public void A_plan_to_a_worker_that_is_gone_is_cancelled(MemberState state)
    {
        Plan("p1", "x");
        Look(Members().Select(member => member.Incarnation == _two.Life ? member with { State = state } : member));
        Assert.Equal((PlanState.Cancelled, $"{_two.Life} is gone."), (Find("p1").State, Find("p1").Why));
        Assert.Equal(OwnershipState.Open, StateOf("x"));
        Assert.False(_migrator.IsBusy);
    }

    [Fact]
    public void A_plan_from_a_worker_that_is_gone_is_cancelled_by_whoever_sees_it()
    {
        PlanOfTwo();
        Look(Members().Select(
            member => member.Incarnation == _two.Life ? member with { State = MemberState.Left } : member));
        Assert.Equal((PlanState.Cancelled, $"{_two.Life} is gone."), (Find("p1").State, Find("p1").Why));
    }

    /// <summary>
    /// Its target has registered, in its first or its next life, since the members were read and before the plans were.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_plan_to_a_worker_that_has_registered_since_the_members_were_read_is_none_to_a_dead_one(bool hadLived)
    {
        PlanOfTwo();
        var before = _two.Life with { Epoch = _two.Life.Epoch - 1 };
        Look(Members().Where(member => hadLived || member.Incarnation != _two.Life).Select(
            member => member.Incarnation == _two.Life ? member with { Incarnation = before } : member));
        Assert.Equal(PlanState.Planned, Find("p1").State);
        Plan("p2", "y");
        Look(Members().Where(member => member.Incarnation != _two.Life));
        _bench.Until(() => !_migrator.IsBusy, "it is done");
        Assert.Equal(PlanState.Done, Find("p2").State);
    }

    /// <summary>Nothing commits it any more: its freeze ends, and no worker ends for it, one after the other.</summary>
    [Fact]
    public void A_plan_that_is_damaged_while_it_is_carried_out_is_let_go_and_stops_nobody()
    {
        Plan("p1", "x");
        _bench.Store.Before = async call =>
        {
            if (call is nameof(IMigrationPlans.Commit) or nameof(IMigrationPlans.Find)
                && StateOf("x") == OwnershipState.Frozen)
            {
                await _calm.Plans.Cancel("p1", "no list of open plans has it", CancellationToken.None);
                throw new CorruptLogException("key plan:p1: it is not a plan");
            }
        };
        Look();
        _bench.Advance(100);
        Assert.Null(_bench.Host.Failure);
        Look();
        LetGo("x");
    }

    /// <summary>
    /// What is damaged is another key, which is met again wherever this one is: no worker goes on with it.
    /// </summary>
    [Fact]
    public void Damage_of_what_is_no_plan_stops_the_worker_that_meets_it()
    {
        Plan("p1", "x");
        _bench.Store.Before = static call => call == nameof(IMigrationPlans.Commit)
            ? Task.FromException(new CorruptLogException("key planned: it is not a hash")) : Task.CompletedTask;
        Look();
        _bench.Until(() => _bench.Host.Failure is CorruptLogException, "the worker has stopped");
    }

    [Fact]
    public void A_plan_to_an_earlier_life_is_one_to_a_dead_worker()
    {
        Plan("p1", "x");
        Look(Members().Select(member => member.Incarnation == _two.Life ? member with { Incarnation = _two.Life with { Epoch = _two.Life.Epoch + 1 }, CurrentEpoch = _two.Life.Epoch + 1 } : member));
        Assert.Equal(PlanState.Cancelled, Find("p1").State);
    }

    [Fact]
    public void A_plan_to_a_worker_whose_log_has_another_epoch_is_one_to_a_dead_worker()
    {
        Plan("p1", "x");
        Look(Members().Select(member => member.Incarnation == _two.Life ? member with { CurrentEpoch = _two.Life.Epoch + 1 } : member));
        Assert.Equal(PlanState.Cancelled, Find("p1").State);
    }

    [Fact]
    public void Plans_of_others_are_theirs()
    {
        PlanOfTwo();
        Look();
        _bench.Advance(100);
        Assert.Equal(PlanState.Planned, Find("p1").State);
        Assert.Empty(_migrator.Progress);
        Assert.False(_migrator.IsBusy);
    }

    [Fact]
    public void A_new_master_is_told_of_all_that_open_plans_name_and_of_nothing_that_has_ended()
    {
        Plan("p1", "x");
        Plan("p2", "y");
        _bench.Finish(_calm.Plans.Cancel("p1", "", CancellationToken.None), "cancelling");
        var open = Assert.Single(_bench.Finish(_migrator.ReadOpen(CancellationToken.None), "the open plans"));
        Assert.Equal("p2", open.Id);
        Assert.Equal([Key("y")], open.Keys);
    }

    [Fact]
    public void A_plan_that_ends_between_the_two_questions_is_not_open()
    {
        Plan("p1", "x");
        _bench.Store.After = async call =>
        {
            if (call == nameof(IMigrationPlans.ReadOpen))
            {
                await _calm.Plans.Cancel("p1", "", CancellationToken.None);
            }
        };
        Assert.Empty(_bench.Finish(_migrator.ReadOpen(CancellationToken.None), "the open plans"));
    }

    public void Dispose()
    {
        _bench.Store.Before = null;
        _bench.Store.After = null;
        _bench.Dispose();
        Assert.True(_migrator.DisposeAsync().AsTask().Wait(TimeSpan.FromSeconds(10)), "What the migrator ran has not ended 10 s after its worker.");
    }

    [Fact]
    public void A_plan_whose_commit_answers_only_the_second_time_has_moved_and_everybody_hears_where_to()
    {
        var lost = false;
        _bench.Node.Members = () => [_bench.Self, _two.Life];
        _bench.Store.After = call => call == nameof(IMigrationPlans.Commit) && !lost && (lost = true) ? Task.FromException(new IOException("planned")) : Task.CompletedTask;
        Plan("p1", "x");
        Look();
        _bench.Until(() => !_migrator.IsBusy, "it is done");
        Assert.True(lost);
        Assert.Equal(OwnershipState.NotOwned, StateOf("x"));
        Assert.Empty(_bench.Node.OpenFreezes);
        _bench.Until(() => _two.All<MovedMessage>().Count > 0, "w2 has heard of it");
        Assert.Contains(_two.All<MovedMessage>(), moved => moved.Changed.Any(entry => entry.Key == Key("x") && entry.Owner == _two.Life));
    }

    /// <summary>M6: the answer of its commit is lost, and when it is asked for again the plan is forgotten.</summary>
    [Fact]
    public void A_plan_that_is_forgotten_before_its_commit_is_answered_has_moved_what_the_directory_says()
    {
        var lost = false;
        _bench.Store.After = async call =>
        {
            if (call == nameof(IMigrationPlans.Commit) && !lost)
            {
                lost = true;
                for (var i = 0; i < _bench.Shared.Options.EndedPlans; i++)
                {
                    var other = new MigrationPlan($"q{i}", [Key("y")], _bench.Self, _two.Life, "test");
                    await _calm.Plans.Create(other, CancellationToken.None);
                    await _calm.Plans.Cancel($"q{i}", "", CancellationToken.None);
                }

                throw new IOException("planned");
            }
        };
        Plan("p1", "x");
        Look();
        _bench.Until(() => !_migrator.IsBusy, "it is done");
        Assert.True(lost);
        Assert.Equal(OwnershipState.NotOwned, StateOf("x"));
        _bench.Finish(_bench.Directory.Read(CancellationToken.None), "reading the directory");
        Assert.Null(_bench.Host.Failure);
    }

    private static DirectoryKey Key(string box) => DirectoryKey.Of(ClusterBench.Box(box), Partition.Of(ClusterBench.Box(box)));

    /// <summary>An ACT of w2 is in on a box: it does not come to rest.</summary>
    private void Visit(string box) => _two.Call(Visitor, box, Step.Get());

    private void Leave() => _two.Send(new ActAbortMessage(Visitor));

    private void Plan(string id, string box) => Create(new MigrationPlan(id, [Key(box)], _bench.Self, _two.Life, "test"));

    /// <summary>
    /// A plan that could not be cancelled after its bound, because the store was away: its freeze stays.
    /// </summary>
    private void Interrupt(string box)
    {
        Visit(box);
        Plan("p1", box);
        _bench.Store.Before = FaultyStore.Failing(nameof(IMigrationPlans.Cancel));
        Look();
        _bench.Advance(5_100);
        Assert.Equal(OwnershipState.Frozen, StateOf(box));
        _bench.Store.Before = null;
    }

    private void LetGo(string box)
    {
        _bench.Until(() => !_migrator.IsBusy, "nothing is owed any more");
        Assert.Equal(OwnershipState.Open, StateOf(box));
        Assert.Empty(_bench.Node.OpenFreezes);
        _bench.On(() => Assert.Empty(_bench.Node.Master!.Frozen.Plans));
        Assert.Equal(MigrationPhase.Cancelled, Last("p1"));
    }

    /// <summary>From w2 to w1, of something that w2 owns.</summary>
    private void PlanOfTwo()
    {
        Plan("p0", "z");
        Assert.True(_bench.Finish(_calm.Plans.Commit("p0", CancellationToken.None), "giving z to w2").IsDone);
        Create(new MigrationPlan("p1", [Key("z")], _two.Life, _bench.Self, "test"));
    }

    private void Create(MigrationPlan plan)
    {
        _bench.Finish(_two.Store.Members.Renew("", 0, CancellationToken.None), "renewing");
        var made = _bench.Finish(_calm.Plans.Create(plan, CancellationToken.None), "making the plan");
        Assert.True(made.IsDone, made.Detail);
    }

    /// <summary>The members as they are, but that w2 has not lost its lease to the bench's clock.</summary>
    private IReadOnlyList<Member> Members()
    {
        _bench.Finish(_two.Store.Members.Renew("", 0, CancellationToken.None), "renewing");
        return _bench.Finish(_calm.Members.Read(CancellationToken.None), "reading the members");
    }

    private void Look() => Look(Members());

    private void Look(IEnumerable<Member> members) => _bench.Finish(_migrator.Look([.. members], CancellationToken.None), "a look");

    private PlanRecord Find(string plan) => _bench.Finish(_calm.Plans.Find(plan, CancellationToken.None), "reading the plan")!;

    private OwnershipState StateOf(string box) => _bench.Node.Ownership.Look(ClusterBench.Box(box)).State;

    private MigrationPhase Last(string plan) => _migrator.Progress.Single(progress => progress.Plan == plan).Phases[^1].Phase;
}
