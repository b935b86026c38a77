using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Execution;
using Snapper.Storage.Log.Records;

namespace Snapper.Simulation.Rules;

/// <summary>
/// How transactions end: nothing of which a method threw or a call was refused commits (A10), and whoever may ask again by an id, or has changed something, has
/// an outcome in the record (I2, I4); a request that was answered in doubt under a generated id gets one (I3). One per life of a worker.
/// </summary>
internal sealed class OutcomeRules(ActorOrderRules actors, Action<string> violated) : RuleSet(violated)
{
    private readonly HashSet<long> _failed = [];
    private readonly HashSet<string> _recorded = new(StringComparer.Ordinal);
    private readonly HashSet<string> _owed = new(StringComparer.Ordinal);

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

    /// <summary>An outcome that needed no record before its caller was told the id.</summary>
    public void Queued(LateOutcome late, LogRecord? record)
    {
        var request = late.Request;
        var outcome = record switch
        {
            LocalBatchCommitted { Changes.Count: 0, Outcomes: [var only] } => only,
            ActCommitted { Changes.Count: 0, Participants.Count: 0, Outcome: { } own } => own,
            _ => null,
        };
        Require(
            outcome is { IsCallerKey: true } && outcome.RequestHash == request.Hash(),
            $"I3: request {request.Id}, which was answered in doubt, has a record that does not say of what it is");
        Require(_owed.Remove(request.Id), $"I3: request {request.Id} has a record that it does not need");
        Look(request.Attempt!.Tid, request, late.Committed, outcome);
    }

    /// <summary>What is durable is answered.</summary>
    public void Answered(object item)
    {
        switch (item)
        {
            case CommitSet set:
                foreach (var component in set.Components)
                {
                    var batch = component.Batch;
                    for (var i = batch.FirstRoot(component); i >= 0; i = batch.NextRoot(i))
                    {
                        Answered(Request.Of(batch.Tickets[i]), batch.StateOf(i) == MemberState.Committed);
                    }
                }

                break;
            case ActOutcome act:
                Answered(Request.Of(act), act.Committed);
                break;
        }
    }

    /// <summary>I3: what was answered in doubt has an outcome under that id.</summary>
    public void AtRest() => Require(
        _owed.Count == 0,
        $"I3: request {_owed.FirstOrDefault()} was answered in doubt and has ended, and its outcome has no record");

    private void Answered(Request request, bool committed)
    {
        if (IsKept(request, committed) && request is { HasCallerKey: false, IsToldInDoubt: true, IsClosed: false }
            && !_recorded.Contains(request.Id))
        {
            _owed.Add(request.Id);
        }
    }

    private static bool IsKept(Request request, bool committed) =>
        committed || request.Abort!.Reason is AbortReason.Application or AbortReason.Undeclared;

    private void Look(TransactionId tid, Request request, bool committed, OutcomeRecord? outcome)
    {
        Require(!committed || !_failed.Contains(tid.Value), $"A10: {tid} commits, and a method of it has failed");
        var mustBeNamed = (request.HasCallerKey && IsKept(request, committed)) || (committed && actors.Writers.Contains(tid.Value));
        Require(!mustBeNamed || outcome is not null, $"I2, I4: {tid}, request {request.Id}, has no outcome in its record");
        if (outcome is not null)
        {
            _recorded.Add(request.Id);
            Require(
                outcome.RequestId == request.Id && outcome.Transaction == tid && (outcome.Abort == AbortReason.None) == committed,
                $"I4: {tid}, request {request.Id}, has the outcome of {outcome.Transaction}, request {outcome.RequestId}, in its record");
        }
    }
}
