using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Scheduling;

/// <summary>One entry of a schedule as it stands. State: <c>waiting</c>, <c>executing</c>, <c>executed</c>, <c>committing</c>.</summary>
public readonly record struct ScheduleStatus(
    TransactionId Tid, BatchId Bid, string State, int Calls, int Declared, BatchId Ahead, BatchId Behind);

/// <summary>The schedule as a value, for people.</summary>
public sealed partial class ActorMachine
{
    /// <summary>The newest batch placed here since the actor was loaded; none: none.</summary>
    public BatchId LastBatch => _lastPlaced;

    /// <summary>The entries in order: PACTs of batches that are not final, each ACT behind the batch ahead of it.</summary>
    public IReadOnlyList<ScheduleStatus> Inspect()
    {
        var entries = new List<ScheduleStatus>(_visits.Count + (_acts?.Count ?? 0));
        AddActs(entries, BatchId.None, new BatchId(_visits.Count > 0 ? _visits[0].Batch.Bid.Value : long.MaxValue));
        for (var i = 0; i < _visits.Count; i++)
        {
            var visit = _visits[i];
            var state = visit.Batch.Executed ? "committing" : i < _cursor ? "executed" : visit.Started ? "executing" : "waiting";
            entries.Add(new ScheduleStatus(visit.Tid, visit.Batch.Bid, state, visit.EndedCalls, visit.DeclaredCalls, BatchId.None, BatchId.None));
            var next = i + 1 < _visits.Count ? _visits[i + 1].Batch.Bid : new BatchId(long.MaxValue);
            if (next != visit.Batch.Bid)
            {
                AddActs(entries, visit.Batch.Bid, next);
            }
        }

        return entries;
    }

    private void AddActs(List<ScheduleStatus> entries, BatchId from, BatchId below)
    {
        if (_acts is null)
        {
            return;
        }

        foreach (var act in _acts)
        {
            if (act.Ahead >= from && act.Ahead < below)
            {
                var state = act.Collected ? "committing" : act.Started ? "executing" : "waiting";
                entries.Add(new ScheduleStatus(act.Tid, BatchId.None, state, act.EndedCalls, 0, act.Ahead, act.Behind));
            }
        }
    }
}
