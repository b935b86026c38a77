using Snapper.Cluster.Control;
using Snapper.Cluster.Node;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;
using Snapper.Storage.MigrationPlans;

namespace Snapper.Cluster.Migrating;

/// <summary>Divides what shall move into plans of one source and one target each, by the directory and the members as this worker knows them.</summary>
internal sealed class MigrationPlanner(INode node)
{
    /// <summary>Its plans, which nobody has made yet; none: everything is where it shall be.</summary>
    /// <exception cref="MigrationRefusedException">It names what is not there, or a worker that does not live.</exception>
    public List<MigrationPlan> Divide(string id, MigrationAsk ask)
    {
        var living = node.Members();
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
        var asked = RequestFingerprint.Of(ask);
        foreach (var (from, target, keys) in groups.Values)
        {
            // Not smaller than a plan may be: while half of what is used together has moved, all its transactions are over two workers.
            for (var at = 0; at < keys.Count; at += ClusterOptions.KeysPerCall)
            {
                var part = keys.GetRange(at, Math.Min(ClusterOptions.KeysPerCall, keys.Count - at));
                plans.Add(new MigrationPlan(MigrationPlan.PartOf(id, plans.Count + 1), part, from, target, ask.Reason) { Asked = asked });
            }
        }

        return plans;
    }

    private (List<DirectoryEntry> Moving, List<Incarnation>? Targets) Rebalancing(IReadOnlyList<Incarnation> living)
    {
        var owners = new Incarnation[Partition.Count];
        for (var partition = 0; partition < owners.Length; partition++)
        {
            owners[partition] = node.Directory.Find(new Partition(partition))?.Owner ?? default;
        }

        var (moving, targets) = (new List<DirectoryEntry>(), new List<Incarnation>());
        foreach (var (partition, target) in PartitionDivision.Rebalance(owners, living))
        {
            moving.Add(node.Directory.Find(partition)!);
            targets.Add(target);
        }

        return (moving, targets);
    }

    private List<DirectoryEntry> Moving(MigrationAsk ask)
    {
        var moving = new List<DirectoryEntry>();
        foreach (var actor in ask.Actors ?? [])
        {
            var key = node.Directory.KeyOf(actor);
            var entry = node.Directory.Find(actor) ?? throw new MigrationRefusedException($"{actor} has no owner yet.");
            moving.Add(entry with { Key = key });
        }

        foreach (var number in ask.Partitions ?? [])
        {
            if (number is < 0 or >= Partition.Count)
            {
                throw new MigrationRefusedException($"There is no partition {number}; they are 0 to {Partition.Count - 1}.");
            }

            moving.Add(node.Directory.Find(new Partition(number)) ?? throw new MigrationRefusedException($"Partition {number} has no owner yet."));
        }

        if (ask.Worker is not null)
        {
            var from = Find(node.Members(), ask.Worker) ?? throw new MigrationRefusedException($"There is no worker {ask.Worker} that lives.");
            node.Directory.AddOwnedBy(from.Worker, moving);
        }

        return moving;
    }

    private static Incarnation? Find(IReadOnlyList<Incarnation> living, string name)
    {
        foreach (var member in living)
        {
            if (Incarnation.NameOf(member.Worker) == name)
            {
                return member;
            }
        }

        return null;
    }

    private static Incarnation Next(IReadOnlyList<Incarnation> living, Incarnation from, ref int turn)
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
}
