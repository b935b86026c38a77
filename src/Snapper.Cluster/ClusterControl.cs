using System.Globalization;
using Snapper.Cluster.Control;
using Snapper.Cluster.Membership;
using Snapper.Cluster.Migrating;
using Snapper.Contracts;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Inspection;
using Snapper.Storage;
using Snapper.Storage.Log;
using Snapper.Storage.MigrationPlans;

namespace Snapper.Cluster;

/// <summary>Shows the workers as one system, and makes plans of what operators ask for. A migration is a set of plans, each of one source and target: <c>{id}.{n}</c>.</summary>
internal sealed class ClusterControl(Worker worker, ClusterNode node, IClusterStore store, LeaseKeeper lease)
    : IClusterControl
{
    private readonly ClusterNode _node = node;
    private readonly MigrationPlanner _planner = new(node);
    private long _lastId;

    public string Name => worker.Options.Name;

    public async Task<IReadOnlyList<ClusterMember>> Workers(CancellationToken cancellation)
    {
        var (members, standing) = await Reach(async () =>
            (await store.Members.Read(cancellation).ConfigureAwait(false), await store.Members.Look(cancellation).ConfigureAwait(false))).ConfigureAwait(false);
        var views = new List<ClusterMember>();
        foreach (var member in members)
        {
            views.Add(new ClusterMember(
                NameOf(member.Incarnation), member.Incarnation.Epoch, member.State.ToString().ToLowerInvariant(),
                standing.Master.IsHeld && standing.Master.Holder == member.Incarnation, member.Remaining.TotalMilliseconds, member.Entries, member.Address.Url,
                member.Address.ProcessId, member.Address.Version, member.Rescuer.IsNone ? null : NameOf(member.Rescuer),
                member.Expirations, member.Evictions));
        }

        return views;
    }

    public DirectoryView Directory()
    {
        var shares = new SortedDictionary<string, int>(StringComparer.Ordinal);
        for (var partition = 0; partition < Partition.Count; partition++)
        {
            if (_node.Directory.Find(new Partition(partition)) is { } entry)
            {
                var name = NameOf(entry.Owner);
                shares[name] = shares.GetValueOrDefault(name) + 1;
            }
        }

        var entries = new List<DirectoryEntry>();
        _node.Directory.AddSingleActors(entries);
        entries.Sort(static (one, other) => one.Key.CompareTo(other.Key)); // the order of a hash table must not be seen
        var actors = new List<PlacedActorView>();
        foreach (var entry in entries)
        {
            actors.Add(new PlacedActorView(entry.Key.Actor!.Type, entry.Key.Actor.Id, NameOf(entry.Owner)));
        }

        return new DirectoryView(Partition.Count) { PartitionsByWorker = shares, Actors = actors, Version = _node.Directory.Version };
    }

    public IReadOnlyList<int> PartitionsOf(string worker)
    {
        var numbers = new List<int>();
        for (var partition = 0; partition < Partition.Count; partition++)
        {
            if (_node.Directory.Find(new Partition(partition)) is { } entry && NameOf(entry.Owner) == worker)
            {
                numbers.Add(partition);
            }
        }

        return numbers;
    }

    public string? OwnerOf(ActorKey actor) => _node.Directory.Resolve(actor) is { IsNone: false } owner ? NameOf(owner) : null;

    public int PartitionOf(ActorKey actor) => _node.Directory.PartitionOf(actor).Number;

    public async Task<MigrationStatus> Migrate(MigrationAsk ask, CancellationToken cancellation)
    {
        if (ask.Worker is { } given && given == ask.To)
        {
            throw new MigrationRefusedException($"{given} cannot give what it owns to itself: name another worker to give it to, or none, and it is spread over the others.");
        }

        foreach (var actor in ask.Actors ?? [])
        {
            if (worker.FindType(actor.Type) is null)
            {
                throw new MigrationRefusedException($"There is no actor type '{actor.Type}'.");
            }
        }

        var id = ask.Id ?? NewId();
        if (!ask.DryRun && await Reach(() => store.Plans.ReadParts(id, cancellation)).ConfigureAwait(false) is { Count: > 0 } made)
        {
            return made[0].Plan.Asked == RequestFingerprint.Of(ask)
                ? View(id, made[0].Plan.Reason, await Views(made, cancellation).ConfigureAwait(false)) // asked for again
                : throw new MigrationRefusedException($"The id {id} is another migration's.");
        }

        // From here on whoever has asked may go away. The last part first: the first, by which a migration is found, tells that all the others were made.
        var plans = _planner.Divide(id, ask);
        var parts = new List<MigrationPart>();
        for (var i = plans.Count - 1; i >= 0; i--)
        {
            var plan = plans[i];
            if (!ask.DryRun)
            {
                var created = await Reach(() => store.Plans.Create(plan, worker.Stopping)).ConfigureAwait(false);
                if (!created.IsDone)
                {
                    await Withdraw(parts).ConfigureAwait(false);
                    await RefuseIfBegun(id, plan, cancellation).ConfigureAwait(false);
                    throw new MigrationRefusedException($"{plan.Keys.Count} of {NameOf(plan.From)} cannot move to {NameOf(plan.To)} now: {created.Detail}.");
                }
            }

            parts.Insert(0, new MigrationPart(plan.Id, NameOf(plan.From), NameOf(plan.To), plan.Keys.Count, "planned"));
        }

        return View(id, ask.Reason, parts);
    }

    /// <summary>The time, for those who read it, and a number: two are asked for in one millisecond.</summary>
    private string NewId() => string.Create(
        CultureInfo.InvariantCulture, $"m-{_node.Self.Worker}-{_node.Self.Epoch}-{worker.Time.GetUtcNow():yyyyMMddHHmmss}-{Interlocked.Increment(ref _lastId)}");

    public async Task<string?> Leave(CancellationToken cancellation)
    {
        const string Leaving = "The worker is leaving.";
        cancellation.ThrowIfCancellationRequested();
        worker.Close(Leaving);
        string? why = "";
        try
        {
            await worker.Drain().ConfigureAwait(false); // nobody answers one that has left: what others run for its callers would be in doubt

            // From here on the caller may go away: the worker may have left, and has to know.
            return why = await Reach(() => lease.TryLeave(worker.Stopping)).ConfigureAwait(false);
        }
        finally
        {
            if (why is not null && !lease.IsLeaving)
            {
                worker.Reopen(Leaving); // else another has asked, too, and knows better
            }
        }
    }

    public MigrationProposals Proposals() => _node.Balancer?.View ?? new MigrationProposals("off");

    public async Task<MigrationStatus?> Migration(string id, CancellationToken cancellation)
    {
        var parts = await Reach(() => store.Plans.ReadParts(id, cancellation)).ConfigureAwait(false);
        return parts.Count == 0 ? null : View(id, parts[0].Plan.Reason, await Views(parts, cancellation).ConfigureAwait(false));
    }

    public async Task<IReadOnlyList<MigrationStatus>> Migrations(int limit, CancellationToken cancellation)
    {
        var records = new List<PlanRecord>(await Reach(() => store.Plans.ReadOpen(cancellation)).ConfigureAwait(false));
        records.AddRange(await Reach(() => store.Plans.ReadEnded(Math.Clamp(limit, 1, 1000), cancellation)).ConfigureAwait(false));
        var order = new List<string>();
        var parts = new Dictionary<string, (string Reason, List<MigrationPart> Parts)>(StringComparer.Ordinal);
        var views = await Views(records, cancellation).ConfigureAwait(false);
        for (var i = 0; i < records.Count; i++)
        {
            var record = records[i];
            var dot = record.Plan.Id.LastIndexOf('.');
            var id = dot < 0 ? record.Plan.Id : record.Plan.Id[..dot];
            if (!parts.TryGetValue(id, out var known))
            {
                parts.Add(id, known = (record.Plan.Reason, []));
                order.Add(id);
            }

            known.Parts.Add(views[i]);
        }

        return order.ConvertAll(id => View(id, parts[id].Reason, parts[id].Parts));
    }

    /// <summary>A part is refused: the ones made before it are not begun, unless they were at once. What has moved stays moved; the status of the migration tells.</summary>
    private async Task Withdraw(List<MigrationPart> made)
    {
        foreach (var part in made)
        {
            await Reach(() => store.Plans.Cancel(part.Plan, "Another part of the migration was refused.", CancellationToken.None)).ConfigureAwait(false);
        }
    }

    /// <summary>The store's absence may have interrupted whoever made it, after its last parts and before its first.</summary>
    private async Task RefuseIfBegun(string id, MigrationPlan plan, CancellationToken cancellation)
    {
        if (await Reach(() => store.Plans.Find(plan.Id, cancellation)).ConfigureAwait(false) is { } made)
        {
            throw made.Plan.Asked != plan.Asked ? new MigrationRefusedException($"The id {id} is another migration's.") : new MigrationRefusedException($"Only a part of the migration {id} was made when it was asked for before; that part goes on. Ask for what is left under another id.");
        }
    }

    private static string NameOf(Incarnation worker) => Incarnation.NameOf(worker.Worker);

    private static MigrationStatus View(string id, string reason, List<MigrationPart> parts)
    {
        var (planned, done, cancelled, keys) = (0, 0, 0, 0);
        foreach (var part in parts)
        {
            planned += part.State == "planned" ? 1 : 0;
            done += part.State == "done" ? 1 : 0;
            cancelled += part.State == "cancelled" ? 1 : 0;
            keys += part.Keys;
        }

        var state = planned > 0 || parts.Count == 0 ? "planned" : cancelled == 0 ? "done" : done == 0 ? "cancelled" : "partly";
        return new MigrationStatus(id, parts.Count == 0 ? "done" : state, keys, reason) { Parts = parts };
    }

    private async Task<List<MigrationPart>> Views(IReadOnlyList<PlanRecord> records, CancellationToken cancellation)
    {
        var ids = new List<string>();
        foreach (var record in records)
        {
            ids.Add(record.Plan.Id);
        }

        var notes = await Reach(() => store.Plans.ReadNotes(ids, cancellation)).ConfigureAwait(false);
        var views = new List<MigrationPart>();
        for (var i = 0; i < records.Count; i++)
        {
            views.Add(MigrationViews.Of(records[i], notes[i]));
        }

        return views;
    }

    private async Task<T> Reach<T>(Func<Task<T>> call)
    {
        try
        {
            return await call().ConfigureAwait(false);
        }
        catch (Exception exception) when (worker.IsOver && exception is not MigrationRefusedException)
        {
            // A worker that is fenced or stops puts away what it asks with, while others ask through it.
            throw new StorageUnavailableException($"{Name} stops, or was fenced, and starts again. What it has begun goes on; ask another worker, or this one later, with the same id if you gave one.", exception);
        }
        catch (Exception exception) when (StorageFaults.IsPassing(exception))
        {
            throw new StorageUnavailableException("The store that all workers share (Redis) cannot be reached by this worker now. What moves goes on when it is back; ask again.", exception);
        }
    }
}
