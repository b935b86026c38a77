using System.Globalization;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Cluster.Membership;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Inspection;
using Snapper.TransactionLog;
using Snapper.TransactionLog.Cluster;

namespace Snapper.Runtime.Cluster.Migrating;

/// <summary>Shows the workers as one system, and makes plans of what operators ask for. A migration is a set of plans, each of one source and target: <c>{id}.{n}</c>.</summary>
internal sealed class ClusterControl(Worker worker, ClusterMembership membership, IClusterStore store) : IClusterControl
{
    private readonly ClusterNode _node = worker.Cluster!;

    public string Name => worker.Options.Name;

    public async Task<IReadOnlyList<ClusterWorkerView>> Workers(CancellationToken cancellation)
    {
        var (members, standing) = await Reach(async () =>
            (await store.Members.Read(cancellation).ConfigureAwait(false), await store.Members.Look(cancellation).ConfigureAwait(false))).ConfigureAwait(false);
        var views = new List<ClusterWorkerView>();
        foreach (var member in members)
        {
            views.Add(new ClusterWorkerView(
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
        foreach (var member in membership.Members)
        {
            _node.Directory.AddOwnedBy(member.Incarnation.Worker, entries);
        }

        var actors = new List<PlacedActorView>();
        foreach (var entry in entries)
        {
            if (entry.Key.Actor is { } actor)
            {
                actors.Add(new PlacedActorView(actor.Type, actor.Id, NameOf(entry.Owner)));
            }
        }

        return new DirectoryView(Partition.Count, shares, actors, _node.Directory.Version);
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

    public async Task<MigrationView> Migrate(MigrationAsk ask, CancellationToken cancellation)
    {
        var id = ask.Id ?? string.Create(CultureInfo.InvariantCulture, $"m-{_node.Self.Worker}-{_node.Self.Epoch}-{worker.Time.GetUtcNow():yyyyMMddHHmmssfff}");
        if (!ask.DryRun && await Migration(id, cancellation).ConfigureAwait(false) is { } made)
        {
            return await IsSame(ask, made, cancellation).ConfigureAwait(false)
                ? made // asked for again
                : throw new MigrationRefusedException($"The id {id} is another migration's.");
        }

        // From here on whoever has asked may go away. The last part first: the first, by which a migration is found, tells that all the others were made.
        var plans = Divide(id, ask);
        var parts = new List<MigrationPartView>();
        for (var i = plans.Count - 1; i >= 0; i--)
        {
            var plan = plans[i];
            if (!ask.DryRun)
            {
                var created = await Reach(() => store.Plans.Create(plan, worker.Stopping)).ConfigureAwait(false);
                if (!created.IsDone)
                {
                    await Withdraw(parts).ConfigureAwait(false);
                    throw new MigrationRefusedException($"{plan.Keys.Count} of {NameOf(plan.From)} cannot move to {NameOf(plan.To)} now: {created.Detail}.");
                }
            }

            parts.Insert(0, new MigrationPartView(plan.Id, NameOf(plan.From), NameOf(plan.To), plan.Keys.Count, "planned", null, null, null, []));
        }

        return View(id, ask.Reason, parts);
    }

    /// <summary>Whether it moves nothing that was not asked for: what had moved before it was asked for again is not in it.</summary>
    private async Task<bool> IsSame(MigrationAsk ask, MigrationView made, CancellationToken cancellation)
    {
        var keys = new HashSet<DirectoryKey>();
        foreach (var actor in ask.Actors ?? [])
        {
            keys.Add(_node.Directory.KeyOf(actor));
        }

        foreach (var partition in ask.Partitions ?? [])
        {
            keys.Add(DirectoryKey.Of(new Partition(partition)));
        }

        foreach (var part in made.Parts)
        {
            if ((ask.To is { } to && part.To != to) || (ask.Worker is { } from && part.From != from))
            {
                return false;
            }

            if (keys.Count == 0)
            {
                continue;
            }

            var record = await Reach(() => store.Plans.Find(part.Plan, cancellation)).ConfigureAwait(false);
            foreach (var key in record?.Plan.Keys ?? [])
            {
                if (!keys.Contains(key))
                {
                    return false;
                }
            }
        }

        return true;
    }

    public BalancingView Proposals() => _node.Balancer?.View ?? new BalancingView("off", 0, [], [], 0);

    public async Task<MigrationView?> Migration(string id, CancellationToken cancellation)
    {
        var parts = await Reach(() => store.Plans.ReadParts(id, cancellation)).ConfigureAwait(false);
        return parts.Count == 0 ? null : View(id, parts[0].Plan.Reason, await Views(parts, cancellation).ConfigureAwait(false));
    }

    public async Task<IReadOnlyList<MigrationView>> Migrations(int limit, CancellationToken cancellation)
    {
        var records = new List<PlanRecord>(await Reach(() => store.Plans.ReadOpen(cancellation)).ConfigureAwait(false));
        records.AddRange(await Reach(() => store.Plans.ReadEnded(Math.Clamp(limit, 1, 1000), cancellation)).ConfigureAwait(false));
        var order = new List<string>();
        var parts = new Dictionary<string, (string Reason, List<MigrationPartView> Parts)>(StringComparer.Ordinal);
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
    private async Task Withdraw(List<MigrationPartView> made)
    {
        foreach (var part in made)
        {
            await Reach(() => store.Plans.Cancel(part.Plan, "Another part of the migration was refused.", CancellationToken.None)).ConfigureAwait(false);
        }
    }

    private static string NameOf(Incarnation worker) => string.Create(CultureInfo.InvariantCulture, $"w{worker.Worker}");

    private static MigrationView View(string id, string reason, List<MigrationPartView> parts)
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
        return new MigrationView(id, parts.Count == 0 ? "done" : state, keys, reason, parts);
    }

    private async Task<List<MigrationPartView>> Views(IReadOnlyList<PlanRecord> records, CancellationToken cancellation)
    {
        var ids = new List<string>();
        foreach (var record in records)
        {
            ids.Add(record.Plan.Id);
        }

        var notes = await Reach(() => store.Plans.ReadNotes(ids, cancellation)).ConfigureAwait(false);
        var views = new List<MigrationPartView>();
        for (var i = 0; i < records.Count; i++)
        {
            views.Add(MigrationViews.Of(records[i], notes[i]));
        }

        return views;
    }

    private List<MigrationPlan> Divide(string id, MigrationAsk ask)
    {
        var living = Living();
        var (moving, targets) = ask.Rebalance ? Rebalancing(living) : (Moving(ask), null);
        Incarnation? to = ask.To is null ? null : Find(living, ask.To) ?? throw new MigrationRefusedException($"There is no worker {ask.To} that lives.");
        var groups = new SortedDictionary<(int From, int To), (Incarnation From, Incarnation To, List<DirectoryKey> Keys)>();
        var turn = 0;
        for (var i = 0; i < moving.Count; i++)
        {
            var entry = moving[i];
            if (!living.Contains(entry.Owner))
            {
                throw new MigrationRefusedException($"{entry.Key} is at {entry.Owner}, which does not live now; it is about to be taken over.");
            }

            var target = targets is not null ? targets[i] : to ?? Next(living, entry.Owner, ref turn);
            if (target == entry.Owner)
            {
                continue;
            }

            if (!groups.TryGetValue((entry.Owner.Worker, target.Worker), out var group))
            {
                groups.Add((entry.Owner.Worker, target.Worker), group = (entry.Owner, target, []));
            }

            group.Keys.Add(entry.Key);
        }

        var plans = new List<MigrationPlan>();
        foreach (var (from, target, keys) in groups.Values)
        {
            // Not smaller than a plan may be: while half of what is used together has moved, all its transactions are over two workers.
            for (var at = 0; at < keys.Count; at += ClusterOptions.KeysPerCall)
            {
                var part = keys.GetRange(at, Math.Min(ClusterOptions.KeysPerCall, keys.Count - at));
                plans.Add(new MigrationPlan(MigrationPlan.PartOf(id, plans.Count + 1), part, from, target, ask.Reason));
            }
        }

        return plans;
    }

    private (List<DirectoryEntry> Moving, List<Incarnation>? Targets) Rebalancing(List<Incarnation> living)
    {
        var owners = new Incarnation[Partition.Count];
        for (var partition = 0; partition < owners.Length; partition++)
        {
            owners[partition] = _node.Directory.Find(new Partition(partition))?.Owner ?? default;
        }

        var (moving, targets) = (new List<DirectoryEntry>(), new List<Incarnation>());
        foreach (var (partition, target) in PartitionDivision.Rebalance(owners, living))
        {
            moving.Add(_node.Directory.Find(partition)!);
            targets.Add(target);
        }

        return (moving, targets);
    }

    private List<DirectoryEntry> Moving(MigrationAsk ask)
    {
        var moving = new List<DirectoryEntry>();
        foreach (var actor in ask.Actors ?? [])
        {
            var key = _node.Directory.KeyOf(actor);
            var entry = _node.Directory.Find(actor) ?? throw new MigrationRefusedException($"{actor} has no owner yet.");
            moving.Add(entry with { Key = key });
        }

        foreach (var number in ask.Partitions ?? [])
        {
            if (number is < 0 or >= Partition.Count)
            {
                throw new MigrationRefusedException($"There is no partition {number}; they are 0 to {Partition.Count - 1}.");
            }

            moving.Add(_node.Directory.Find(new Partition(number)) ?? throw new MigrationRefusedException($"Partition {number} has no owner yet."));
        }

        if (ask.Worker is not null)
        {
            var from = Find(Living(), ask.Worker) ?? throw new MigrationRefusedException($"There is no worker {ask.Worker} that lives.");
            _node.Directory.AddOwnedBy(from.Worker, moving);
        }

        return moving;
    }

    private List<Incarnation> Living()
    {
        var living = new List<Incarnation>();
        foreach (var member in membership.Members)
        {
            if (member.State == MemberState.Live)
            {
                living.Add(member.Incarnation);
            }
        }

        return living;
    }

    private static Incarnation? Find(List<Incarnation> living, string name)
    {
        foreach (var member in living)
        {
            if (NameOf(member) == name)
            {
                return member;
            }
        }

        return null;
    }

    private static Incarnation Next(List<Incarnation> living, Incarnation from, ref int turn)
    {
        if (living.Count < 2)
        {
            throw new MigrationRefusedException("There is no other worker that lives.");
        }

        Incarnation next;
        do
        {
            next = living[turn++ % living.Count];
        }
        while (next == from);
        return next;
    }

    private static async Task<T> Reach<T>(Func<Task<T>> call)
    {
        try
        {
            return await call().ConfigureAwait(false);
        }
        catch (Exception exception) when (StorageFaults.IsPassing(exception))
        {
            throw new StorageUnavailableException("The store that all workers share (Redis) cannot be reached by this worker now. What moves goes on when it is back; ask again.", exception);
        }
    }
}
