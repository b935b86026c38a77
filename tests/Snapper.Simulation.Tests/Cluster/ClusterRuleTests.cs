using Snapper.Protocol.Identity;
using Snapper.Simulation.Rules;
using Snapper.Storage.Log.Records;

namespace Snapper.Simulation.Tests.Cluster;

/// <summary>The rules over the logs of several workers: each is told of logs that break it, and of the same ones as they should be.</summary>
public sealed class ClusterRuleTests
{
    private static readonly ActorKey s_x = new("Cell", "x");
    private static readonly BatchId s_global = new(TransactionId.Global(1, 1).Value);
    private static readonly TransactionId s_act = TransactionId.Act(1, 1);

    private readonly List<string> _violations = [];
    private readonly ClusterLogRules _rules;

    public ClusterRuleTests() => _rules = new ClusterLogRules(_violations.Add);

    [Fact]
    public void Parts_a_decision_and_markers_in_their_order_break_nothing()
    {
        _rules.HasParts(s_global, [1, 2]);
        Append(1, Local(1, 1), Part(2));
        Append(2, Part(1, changes: false));
        Append(ClusterLogRules.Master, new Decision { Global = s_global });
        Append(1, Marker(true, 2), Local(3, 3));
        Append(2, Marker(true));
        Assert.Empty(_violations);
    }

    [Fact]
    public void What_is_final_behind_an_undecided_part_on_its_actor_is_seen()
    {
        Append(1, Part(2), Local(3, 1));
        Expect("D2: the log of w1 has something of batch 3 final");
    }

    [Fact]
    public void What_is_final_beside_an_undecided_part_breaks_nothing()
    {
        Append(1, Local(3, 1), Part(2, changes: false), Local(4, 2), Local(1, 3));
        Assert.Empty(_violations);
    }

    [Fact]
    public void A_part_behind_a_later_part_is_seen()
    {
        Append(1, Part(3), Part(2));
        const string Expected = "D7: the log of w1 has part 2 behind part 3";
        Assert.Contains(_violations, violation => violation.StartsWith(Expected, StringComparison.Ordinal));
    }

    [Fact]
    public void A_decision_without_the_part_of_a_worker_is_seen()
    {
        _rules.HasParts(s_global, [1, 2]);
        Append(1, Part(1));
        Append(ClusterLogRules.Master, new Decision { Global = s_global });
        Expect("and the log of w2 has no part of it");
    }

    [Fact]
    public void A_decision_after_somebody_was_told_of_an_abort_is_seen()
    {
        Append(1, Part(1));
        _rules.Presumed(s_global.Value);
        Append(ClusterLogRules.Master, new Decision { Global = s_global });
        Expect("somebody was told that it is not");
    }

    [Fact]
    public void A_marker_that_says_otherwise_than_the_decision_is_seen()
    {
        Append(1, Part(1));
        Append(ClusterLogRules.Master, new Decision { Global = s_global });
        Append(1, Marker(false));
        Expect("R2: the log of w1 aborts its part");
    }

    [Fact]
    public void A_version_that_two_owners_give_is_seen()
    {
        Append(1, Local(1, 1));
        Append(2, Local(1, 1));
        Expect("L7, R4: the log of w2 gives Cell/x version 1, and the last one that any log has is 1");
    }

    [Fact]
    public void An_act_that_is_committed_without_the_record_of_a_participant_is_seen()
    {
        Append(1, new ActCommitted { Transaction = s_act, Changes = [], Participants = [2], Outcome = null });
        Expect("R: ACT " + s_act + " is committed, and the log of w2 has no part of it");
    }

    [Fact]
    public void An_act_with_the_records_of_all_breaks_nothing()
    {
        Append(2, new ActPrepared { Transaction = s_act, Root = new Incarnation(1, 1), Changes = [] });
        Append(1, new ActCommitted { Transaction = s_act, Changes = [], Participants = [2], Outcome = null });
        Append(2, new ActEnded { Transaction = s_act, Committed = true, Versions = [] });
        Assert.Empty(_violations);
    }

    private static LocalBatchCommitted Local(long batch, long version) =>
        new() { Batch = new BatchId(batch), LastTransaction = new TransactionId(batch), Changes = [Change(version)], Outcomes = [] };

    private static Prepared Part(long batch, bool changes = true) =>
        new() { Global = s_global, Batch = new BatchId(batch), LastTransaction = new TransactionId(batch), Changes = changes ? [Change(0)] : [], Outcomes = [] };

    private static Decided Marker(bool committed, params long[] versions) => new() { Global = s_global, Committed = committed, Versions = versions };

    private static ActorChange Change(long version) => new(s_x, version, [new StateField(StateField.WholeState, new byte[] { 1 })]);

    private void Append(int worker, params LogRecord[] records)
    {
        foreach (var record in records)
        {
            _rules.Look(worker, record);
        }
    }

    private void Expect(string violation) => Assert.Contains(violation, Assert.Single(_violations), StringComparison.Ordinal);
}
