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
        writer.List(Workers, static (writer, worker) =>
        {
            writer.Number(worker.Worker);
            writer.Number(worker.Rate);
        });
        writer.List(Partitions, static (writer, partition) =>
        {
            writer.Number(partition.Partition.Number);
            writer.Number(partition.Rate);
        });
        writer.List(Pairs, static (writer, pair) =>
        {
            writer.Actor(pair.One);
            writer.Actor(pair.Other);
            writer.Number(pair.Rate);
        });
    }

    public static LoadMessage Read(ref WireReader reader) => new(
        reader.List(2, static (ref WireReader reader) => (reader.Int(), reader.Number())),
        reader.List(2, static (ref WireReader reader) => (Entries.ReadPartition(ref reader), reader.Number())),
        reader.List(9, static (ref WireReader reader) => (reader.Actor(), reader.Actor(), reader.Number())));
}
