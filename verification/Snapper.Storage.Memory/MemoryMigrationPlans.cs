using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;

namespace Snapper.Storage.Memory;

/// <summary>Plans of migrations in memory.</summary>
internal sealed class MemoryMigrationPlans(MemorySession session) : IMigrationPlans
{
    private readonly MemoryCluster _cluster = session.Cluster;

    public Task<ClusterResult> Create(MigrationPlan plan, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(plan);
        plan.Validate();
        ClusterArguments.Worker(plan.From);
        ClusterArguments.Worker(plan.To);
        return session.Run(() =>
        {
            if (_cluster.Plans.TryGetValue(plan.Id, out var known))
            {
                return known.Plan with { Keys = plan.Keys } == plan && known.Plan.Keys.SequenceEqual(plan.Keys)
                    ? new ClusterResult(ClusterStatus.AlreadyDone)
                    : new ClusterResult(ClusterStatus.Conflict, $"another plan has the id {plan.Id}");
            }

            if (_cluster.OpenPlans.Count >= _cluster.Options.OpenPlans)
            {
                return new ClusterResult(ClusterStatus.Conflict, $"{_cluster.OpenPlans.Count} plans are open");
            }

            if (Stranger(plan) is { } why)
            {
                return new ClusterResult(ClusterStatus.Stale, why);
            }

            var partitions = new HashSet<Partition>();
            foreach (var key in plan.Keys)
            {
                if (Conflict(key) is { } other)
                {
                    return new ClusterResult(ClusterStatus.Conflict, $"{key} has an open plan: {other}");
                }

                if (!key.IsActor)
                {
                    partitions.Add(key.Partition);
                }
            }

            foreach (var key in plan.Keys)
            {
                if (IsInPartition(key) && partitions.Contains(key.Partition))
                {
                    return new ClusterResult(ClusterStatus.Conflict, $"{key} and its partition are both in the plan");
                }
            }

            var made = new MemoryPlan { Plan = plan with { Keys = [.. plan.Keys] }, Number = ++_cluster.PlanVersion, Created = _cluster.Time.GetUtcNow() };
            _cluster.Plans.Add(plan.Id, made);
            _cluster.OpenPlans.Add(made.Number, made);
            foreach (var key in plan.Keys)
            {
                _cluster.Planned.Add(key, made);
                if (IsInPartition(key))
                {
                    made.InPartitions.Add(key);
                    CountActor(key, 1);
                }
            }

            return new ClusterResult(ClusterStatus.Done);
        });
    }

    public Task<ClusterResult<IReadOnlyList<DirectoryEntry>>> Commit(string id, CancellationToken cancellation)
    {
        MigrationPlan.ValidateId(id);
        return session.Run(() =>
        {
            if (!_cluster.Plans.TryGetValue(id, out var plan))
            {
                return Answer(ClusterStatus.NotFound, null, $"there is no plan {id}");
            }

            if (plan.State == PlanState.Done)
            {
                return Answer(ClusterStatus.AlreadyDone, []);
            }

            if (plan.State != PlanState.Planned)
            {
                return Answer(ClusterStatus.Stale, null, $"plan {id} was cancelled: {plan.Why}");
            }

            if (Stranger(plan.Plan) is { } why)
            {
                return Answer(ClusterStatus.Stale, null, why);
            }

            var entries = new List<DirectoryEntry>(plan.Plan.Keys.Count);
            foreach (var key in plan.Plan.Keys)
            {
                entries.Add(_cluster.Set(key, plan.Plan.To));
            }

            End(plan, PlanState.Done, "");
            return Answer(ClusterStatus.Done, entries);
        });
    }

    public Task<ClusterResult> Cancel(string id, string why, CancellationToken cancellation)
    {
        MigrationPlan.ValidateId(id);
        MigrationPlan.ValidateText(why);
        return session.Run(() =>
        {
            if (!_cluster.Plans.TryGetValue(id, out var plan))
            {
                return new ClusterResult(ClusterStatus.NotFound, $"there is no plan {id}");
            }

            if (plan.State == PlanState.Planned)
            {
                End(plan, PlanState.Cancelled, why);
                return new ClusterResult(ClusterStatus.Done);
            }

            return plan.State == PlanState.Cancelled ? new ClusterResult(ClusterStatus.AlreadyDone) : new ClusterResult(ClusterStatus.Stale, $"plan {id} is done");
        });
    }

    public Task<ClusterResult> Note(string id, string note, CancellationToken cancellation)
    {
        MigrationPlan.ValidateId(id);
        MigrationPlan.ValidateText(note);
        return session.Run(() =>
        {
            if (!_cluster.Plans.TryGetValue(id, out var plan))
            {
                return new ClusterResult(ClusterStatus.NotFound, $"there is no plan {id}");
            }

            plan.Note = note;
            return new ClusterResult(ClusterStatus.Done);
        });
    }

    public Task<IReadOnlyList<string>> ReadNotes(IReadOnlyList<string> ids, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(ids);
        foreach (var id in ids)
        {
            MigrationPlan.ValidateId(id);
        }

        return session.Read<IReadOnlyList<string>>(() => [.. ids.Select(id => _cluster.Plans.GetValueOrDefault(id)?.Note ?? "")]);
    }

    public Task<PlanRecord?> Find(string id, CancellationToken cancellation)
    {
        MigrationPlan.ValidateId(id);
        return session.Read(() => _cluster.Plans.GetValueOrDefault(id)?.Record(withKeys: true));
    }

    public Task<IReadOnlyList<PlanRecord>> ReadParts(string migration, CancellationToken cancellation)
    {
        MigrationPlan.ValidateId(migration);
        return session.Read<IReadOnlyList<PlanRecord>>(() =>
        {
            var parts = new List<PlanRecord>();
            while (_cluster.Plans.GetValueOrDefault(MigrationPlan.PartOf(migration, parts.Count + 1)) is { } plan)
            {
                parts.Add(plan.Record(withKeys: false));
            }

            return parts;
        });
    }

    public Task<IReadOnlyList<PlanRecord>> ReadOpen(CancellationToken cancellation) =>
        session.Read<IReadOnlyList<PlanRecord>>(() => [.. _cluster.OpenPlans.Values.Select(plan => plan.Record(withKeys: false))]);

    public Task<IReadOnlyList<string>> ReadDamaged(CancellationToken cancellation) =>
        session.Read<IReadOnlyList<string>>(static () => []);

    public Task<IReadOnlyList<PlanRecord>> ReadEnded(int most, CancellationToken cancellation)
    {
        ClusterArguments.Page(most, 1000);
        return session.Read<IReadOnlyList<PlanRecord>>(() => [.. _cluster.EndedPlans.Values.Reverse().Take(most).Select(plan => plan.Record(withKeys: false))]);
    }

    private static ClusterResult<IReadOnlyList<DirectoryEntry>> Answer(ClusterStatus status, IReadOnlyList<DirectoryEntry>? entries, string detail = "") =>
        new(status, entries, detail);

    private string? Stranger(MigrationPlan plan)
    {
        if ((_cluster.Unfit(plan.From) ?? _cluster.Unfit(plan.To)) is { } why)
        {
            return why;
        }

        foreach (var key in plan.Keys)
        {
            if (_cluster.Owner(key) is var owner && owner != plan.From)
            {
                return $"{key} is owned by {owner}, not by {plan.From}";
            }
        }

        return null;
    }

    private string? Conflict(DirectoryKey key)
    {
        if (_cluster.Planned.TryGetValue(key, out var plan) || (IsInPartition(key) && _cluster.Planned.TryGetValue(DirectoryKey.Of(key.Partition), out plan)))
        {
            return plan.Plan.Id;
        }

        return !key.IsActor && _cluster.PlannedActors.ContainsKey(key.Partition.Number) ? $"{Inside(key.Partition).Plan.Id}, for an actor in it" : null;
    }

    /// <summary>The open plan of an actor that would move with this partition; there is one.</summary>
    private MemoryPlan Inside(Partition partition)
    {
        foreach (var plan in _cluster.OpenPlans.Values)
        {
            foreach (var key in plan.InPartitions)
            {
                if (key.Partition == partition)
                {
                    return plan;
                }
            }
        }

        throw new InvalidOperationException($"No open plan names an actor in partition {partition.Number}, and one was counted.");
    }

    private void End(MemoryPlan plan, PlanState state, string why)
    {
        plan.State = state;
        plan.Why = why;
        plan.Ended = _cluster.Time.GetUtcNow();
        foreach (var key in plan.Plan.Keys)
        {
            _cluster.Planned.Remove(key);
        }

        foreach (var key in plan.InPartitions)
        {
            CountActor(key, -1);
        }

        _cluster.OpenPlans.Remove(plan.Number);
        plan.Number = ++_cluster.PlanVersion;
        _cluster.EndedPlans.Add(plan.Number, plan);
        while (_cluster.EndedPlans.Count > _cluster.Options.EndedPlans)
        {
            var oldest = _cluster.EndedPlans.First();
            _cluster.EndedPlans.Remove(oldest.Key);
            _cluster.Plans.Remove(oldest.Value.Plan.Id);
        }
    }

    /// <summary>An actor without an entry of its own: it moves with its partition.</summary>
    private bool IsInPartition(DirectoryKey key) => key.IsActor && !_cluster.HasEntry(key);

    private void CountActor(DirectoryKey key, int by)
    {
        if ((_cluster.PlannedActors[key.Partition.Number] = _cluster.PlannedActors.GetValueOrDefault(key.Partition.Number) + by) == 0)
        {
            _cluster.PlannedActors.Remove(key.Partition.Number);
        }
    }
}
