using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Wire;

/// <summary>To the master: number nothing more for what a plan moves (M3). Answered by <see cref="FrozenMessage"/>, behind every part that was numbered before.</summary>
/// <param name="MasterEpoch">The master that it is for.</param>
/// <param name="Plan">The plan.</param>
/// <param name="Keys">What moves; none: the plan has ended, and its keys may be numbered for again.</param>
internal sealed record FreezeMessage(long MasterEpoch, string Plan, IReadOnlyList<DirectoryKey> Keys) : ForMasterMessage(MasterEpoch)
{
    public override WireKind Kind => WireKind.Freeze;

    public override void Write(WireWriter writer)
    {
        writer.Number(MasterEpoch);
        writer.Text(Plan);
        Entries.Write(writer, Keys);
    }

    public static FreezeMessage Read(ref WireReader reader) => new(reader.Number(), reader.Text(), Entries.ReadKeys(ref reader));
}

/// <summary>The master's answer.</summary>
internal sealed record FrozenMessage(long MasterEpoch, string Plan) : WireMessage
{
    public override WireKind Kind => WireKind.Frozen;

    public override void Write(WireWriter writer)
    {
        writer.Number(MasterEpoch);
        writer.Text(Plan);
    }

    public static FrozenMessage Read(ref WireReader reader) => new(reader.Number(), reader.Text());
}

/// <summary>Entries of the directory that have changed (M7); each with its version, so that notices may come in any order.</summary>
internal sealed record MovedMessage(IReadOnlyList<DirectoryEntry> Changed) : WireMessage
{
    public override WireKind Kind => WireKind.Moved;

    public override void Write(WireWriter writer)
    {
        writer.List(Changed, static (writer, entry) =>
        {
            Entries.Write(writer, entry.Key);
            writer.Worker(entry.Owner);
            writer.Number(entry.Version);
        });
    }

    public static MovedMessage Read(ref WireReader reader) => new(reader.List(5, static (ref WireReader reader) =>
        new DirectoryEntry(Entries.ReadKey(ref reader), reader.Worker(), reader.Number())));
}

/// <summary>Keys of the directory on the road.</summary>
internal static class Entries
{
    public static void Write(WireWriter writer, IReadOnlyList<DirectoryKey> keys) => writer.List(keys, Write);

    public static void Write(WireWriter writer, DirectoryKey key)
    {
        writer.Number(key.Partition.Number);
        writer.Flag(key.Actor is not null);
        if (key.Actor is { } actor)
        {
            writer.Actor(actor);
        }
    }

    public static DirectoryKey ReadKey(ref WireReader reader)
    {
        var partition = ReadPartition(ref reader);
        return reader.Flag() ? DirectoryKey.Of(reader.Actor(), partition) : DirectoryKey.Of(partition);
    }

    public static Partition ReadPartition(ref WireReader reader)
    {
        var number = reader.Int();
        return number < Partition.Count ? new Partition(number) : throw new WireFormatException($"a partition {number}");
    }

    public static DirectoryKey[] ReadKeys(ref WireReader reader) => reader.List(2, ReadKey);
}
