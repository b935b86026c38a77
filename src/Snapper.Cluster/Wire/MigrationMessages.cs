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
        writer.Number(Changed.Count);
        foreach (var entry in Changed)
        {
            Entries.Write(writer, entry.Key);
            writer.Worker(entry.Owner);
            writer.Number(entry.Version);
        }
    }

    public static MovedMessage Read(ref WireReader reader)
    {
        var entries = new DirectoryEntry[reader.Count(atLeastBytesEach: 5)];
        for (var i = 0; i < entries.Length; i++)
        {
            entries[i] = new DirectoryEntry(Entries.ReadKey(ref reader), reader.Worker(), reader.Number());
        }

        return new MovedMessage(entries);
    }
}

/// <summary>Keys of the directory on the road.</summary>
internal static class Entries
{
    public static void Write(WireWriter writer, IReadOnlyList<DirectoryKey> keys)
    {
        writer.Number(keys.Count);
        foreach (var key in keys)
        {
            Write(writer, key);
        }
    }

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

    public static DirectoryKey[] ReadKeys(ref WireReader reader)
    {
        var keys = new DirectoryKey[reader.Count(atLeastBytesEach: 2)];
        for (var i = 0; i < keys.Length; i++)
        {
            keys[i] = ReadKey(ref reader);
        }

        return keys;
    }
}
