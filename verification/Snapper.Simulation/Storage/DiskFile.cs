using Snapper.Simulation.Core;

namespace Snapper.Simulation.Storage;

/// <summary>
/// A file as the operating system and the disk have it. Every process sees what was written; a crash of the machine leaves what was flushed, and of the rest
/// what the seed decides: nothing, all, a prefix that ends at any byte, or some sectors and others not.
/// </summary>
internal sealed class DiskFile
{
    private const int SectorBytes = 512;
    private readonly List<Change> _unflushed = [];

    /// <summary>What processes read.</summary>
    public ByteStore Seen { get; } = new();

    /// <summary>What survives a crash of the machine for certain.</summary>
    public ByteStore Kept { get; } = new();

    /// <summary>Something may be lost.</summary>
    public bool IsUnflushed => _unflushed.Count > 0;

    public void Write(ReadOnlySpan<byte> bytes, long position)
    {
        Seen.Write(bytes, (int)position);
        _unflushed.Add(new Change((int)position, bytes.ToArray()));
    }

    public void Truncate(long length)
    {
        if (length != Seen.Length)
        {
            Seen.Resize((int)length);
            _unflushed.Add(new Change((int)length, null));
        }
    }

    public void Flush()
    {
        foreach (var change in _unflushed)
        {
            change.Apply(Kept);
        }

        _unflushed.Clear();
    }

    /// <summary>
    /// A flush that failed: the disk has some of it, and the system takes the rest for written. Processes may go on to see it, until it leaves the system's
    /// memory; no later flush writes it.
    /// </summary>
    public void FailToFlush(SeededChance chance)
    {
        Lose(chance);
        if (chance.Percent(50))
        {
            Seen.CopyFrom(Kept);
        }
    }

    /// <summary>The machine is gone; what the disk has is all there is.</summary>
    public DiskLoss Crash(SeededChance chance)
    {
        var loss = IsUnflushed ? Lose(chance) : DiskLoss.None;
        Seen.CopyFrom(Kept);
        return loss;
    }

    public DiskFile Copy()
    {
        var copy = new DiskFile();
        copy.Seen.CopyFrom(Seen);
        copy.Kept.CopyFrom(Seen);
        return copy;
    }

    private DiskLoss Lose(SeededChance chance)
    {
        var loss = (DiskLoss)chance.Next(4);
        switch (loss)
        {
            case DiskLoss.Lost:
                break;
            case DiskLoss.None:
                Flush();
                break;
            case DiskLoss.TornAtAByte:
                LosePrefix(chance);
                break;
            case DiskLoss.TornBySectors:
                LoseSectors(chance);
                break;
        }

        _unflushed.Clear();
        return loss;
    }

    private void LosePrefix(SeededChance chance)
    {
        var whole = chance.Next(_unflushed.Count);
        for (var i = 0; i < whole; i++)
        {
            _unflushed[i].Apply(Kept);
        }

        if (_unflushed[whole].Bytes is { Length: > 0 } torn)
        {
            Kept.Write(torn.AsSpan(0, chance.Next(torn.Length)), _unflushed[whole].Position);
        }
    }

    private void LoseSectors(SeededChance chance)
    {
        foreach (var change in _unflushed)
        {
            if (change.Bytes is null)
            {
                if (chance.Percent(50))
                {
                    change.Apply(Kept);
                }

                continue;
            }

            for (var at = 0; at < change.Bytes.Length;)
            {
                var sector = Math.Min(SectorBytes - ((change.Position + at) % SectorBytes), change.Bytes.Length - at);
                if (chance.Percent(50))
                {
                    Kept.Write(change.Bytes.AsSpan(at, sector), change.Position + at);
                }

                at += sector;
            }
        }

        if (chance.Percent(30))
        {
            // The length was noted, and the bytes did not arrive.
            Kept.Resize(Math.Max(Kept.Length, Seen.Length));
        }
    }

    /// <summary>A write, or (without bytes) a new length.</summary>
    private readonly record struct Change(int Position, byte[]? Bytes)
    {
        public void Apply(ByteStore to)
        {
            if (Bytes is null)
            {
                to.Resize(Position);
            }
            else
            {
                to.Write(Bytes, Position);
            }
        }
    }
}

/// <summary>What became of writes that were not flushed.</summary>
internal enum DiskLoss
{
    /// <summary>Nothing is lost.</summary>
    None,

    /// <summary>All of it is lost.</summary>
    Lost,

    /// <summary>What was written first is there, up to some byte.</summary>
    TornAtAByte,

    /// <summary>Some sectors are there, with zeros or older bytes between them.</summary>
    TornBySectors,
}
