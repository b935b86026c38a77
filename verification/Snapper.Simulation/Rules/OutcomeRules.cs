using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Execution;
using Snapper.Storage.Log.Records;

namespace Snapper.Simulation.Rules;

/// <summary>
/// How transactions end: nothing of which a method threw or a call was refused commits (A10), and whoever may ask again by an id, or has changed something, has
/// an outcome in the record (I2, I4). One per life of a worker.
/// </summary>
internal sealed class OutcomeRules(ActorOrderRules actors, Action<string> violated) : RuleSet(violated)
{
    private readonly HashSet<long> _failed = [];

    public void Failed(TransactionId tid) => _failed.Add(tid.Value);

    public void Queued(CommitSet set, LocalBatchCommitted? record)
    {
        var at = 0;
        foreach (var component in set.Components)
        {
            Queued(component, record, ref at);
        }

        Require(record is null || at == record.Outcomes.Count, $"I4: the record of batch {set.Batch.Bid} has outcomes that are none of its own");
    }

    private void Queued(Component component, LocalBatchCommitted? record, ref int at)
    {
        var batch = component.Batch;
        for (var i = component.FirstMember; i >= 0; i = batch.NextMember(i))
        {
            if (batch.StateOf(i) == MemberState.Removed)
            {
                continue;
            }

            var outcome = record is not null && at < record.Outcomes.Count && record.Outcomes[at].Transaction.Value == batch.Bid.Value + i ? record.Outcomes[at++] : null;
            Look(new TransactionId(batch.Bid.Value + i), Request.Of(batch.Tickets[i]), batch.StateOf(i) == MemberState.Committed, outcome);
        }
    }

    public void Queued(ActOutcome act, ActCommitted? record) => Look(act.Tid, Request.Of(act), act.Committed, record?.Outcome);

    private void Look(TransactionId tid, Request request, bool committed, OutcomeRecord? outcome)
    {
        Require(!committed || !_failed.Contains(tid.Value), $"A10: {tid} commits, and a method of it has failed");
        var isKept = committed || request.Abort!.Reason is AbortReason.Application or AbortReason.Undeclared;
        var mustBeNamed = (request.HasCallerKey && isKept) || (committed && actors.Writers.Contains(tid.Value));
        Require(!mustBeNamed || outcome is not null, $"I2, I4: {tid}, request {request.Id}, has no outcome in its record");
        if (outcome is not null)
        {
            Require(
                outcome.RequestId == request.Id && outcome.Transaction == tid && (outcome.Abort == AbortReason.None) == committed,
                $"I4: {tid}, request {request.Id}, has the outcome of {outcome.Transaction}, request {outcome.RequestId}, in its record");
        }
    }
}
