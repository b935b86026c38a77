using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Wire;

/// <summary>What the sender's transactions touched lately, for the policy that proposes moves. Rates are thousandths of transactions per second.</summary>
/// <param name="Workers">Rate on all that a worker owned, by its number, as far as the sender knew who owned what.</param>
/// <param name="Partitions">Those with the highest rates.</param>
/// <param name="Pairs">Actors of different workers that were touched together, sampled.</param>
internal sealed record LoadMessage(
    IReadOnlyList<(int Worker, long Rate)> Workers, IReadOnlyList<(Partition Partition, long Rate)> Partitions, IReadOnlyList<(ActorKey One, ActorKey Other, long Rate)> Pairs)
    : WireMessage
{
    public override WireKind Kind => WireKind.Load;

    public override void Write(WireWriter writer)
    {
        writer.Number(Workers.Count);
        foreach (var (worker, rate) in Workers)
        {
            writer.Number(worker);
            writer.Number(rate);
        }

        writer.Number(Partitions.Count);
        foreach (var (partition, rate) in Partitions)
        {
            writer.Number(partition.Number);
            writer.Number(rate);
        }

        writer.Number(Pairs.Count);
        foreach (var (one, other, rate) in Pairs)
        {
            writer.Actor(one);
            writer.Actor(other);
            writer.Number(rate);
        }
    }

    public static LoadMessage Read(ref WireReader reader)
    {
        var workers = new (int, long)[reader.Count(atLeastBytesEach: 2)];
        for (var i = 0; i < workers.Length; i++)
        {
            workers[i] = (reader.Int(), reader.Number());
        }

        var partitions = new (Partition, long)[reader.Count(atLeastBytesEach: 2)];
        for (var i = 0; i < partitions.Length; i++)
        {
            partitions[i] = (Entries.ReadPartition(ref reader), reader.Number());
        }

        var pairs = new (ActorKey, ActorKey, long)[reader.Count(atLeastBytesEach: 9)];
        for (var i = 0; i < pairs.Length; i++)
        {
            pairs[i] = (reader.Actor(), reader.Actor(), reader.Number());
        }

        return new LoadMessage(workers, partitions, pairs);
    }
}
