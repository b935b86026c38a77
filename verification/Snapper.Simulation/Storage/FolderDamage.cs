using Snapper.Simulation.Core;
using Snapper.Storage.Files;

namespace Snapper.Simulation.Storage;

/// <summary>What somebody else does to the folder of a file log while no worker runs: changes a byte, takes the folder away, or puts an older copy in its place.</summary>
internal sealed class FolderDamage(World world)
{
    private static readonly string s_folder = SimulatedMachine.LogFolder;
    private readonly LogFolder _folder = new(s_folder, new DiskProcess(world, new ProcessScope(), static _ => { }));
    private (string Path, DiskFile File, long Number, int At, byte Bits)? _damaged;
    private SortedDictionary<string, DiskFile>? _copy;
    private SortedDictionary<string, DiskFile>? _whole;

    private SimulatedDisk Disk => world.Machine.Disk;

    private SeededChance Chance => world.Machine.Chance;

    /// <summary>A byte is wrong somewhere: a worker may refuse the log for it, also when the group was trimmed and its segment is still there.</summary>
    public bool HasDamage => _damaged is not null;

    /// <summary>A byte is wrong in a group that was not trimmed: a worker must refuse the log for it.</summary>
    public bool IsDamaged => _damaged is var (path, file, number, _, _) && Disk.Find(path) == file && _folder.ReadMeta() is { } meta && number > meta.FirstSequence;

    /// <summary>The folder is not the one that the worker left.</summary>
    public bool IsLost => _whole is not null;

    /// <summary>Changes a byte of a group, which is not the last one: that may look like one that was being written.</summary>
    /// <returns>False: there is none.</returns>
    public bool Damage()
    {
        if (_damaged is not null || !Disk.HasFolder(s_folder) || _folder.ReadMeta() is not { } meta)
        {
            return false;
        }

        var segments = new LogSegments(_folder);
        var groups = new List<(string Path, long Number, int Start, int Bytes)>();
        foreach (var first in segments.List())
        {
            var path = segments.PathOf(first);
            Disk.Find(path)!.Flush(); // nobody has written for long; a crash that took what is behind the damage would make it look like a write that was cut off
            using var file = _folder.Files.Open(path, create: false);
            var reader = new FrameFileReader(file, path, file.Length);
            for (var more = reader.Start(); more && reader.Next(mayBeTorn: true, static _ => true, out _);)
            {
                // The number behind it: above the first one that is kept, part of it is needed.
                groups.Add((path, reader.Header.Number + reader.Header.Count, (int)reader.FrameStart, (int)(reader.Position - reader.FrameStart)));
            }
        }

        var choice = groups.Count < 2 ? 0 : Chance.Next(groups.Count - 1);
        if (groups.Count < 2 || groups[choice].Number <= meta.FirstSequence)
        {
            return false;
        }

        var (at, number, start, bytes) = groups[choice];
        _damaged = (at, Disk.Find(at)!, number, start + Chance.Next(bytes), (byte)(1 << Chance.Next(8)));
        Flip();
        return true;
    }

    /// <summary>Puts the byte back.</summary>
    public void Repair()
    {
        if (_damaged is not null)
        {
            Flip();
            _damaged = null;
        }
    }

    /// <summary>Keeps a copy that may come back.</summary>
    public void KeepCopy() => _copy = Disk.CopyOf(s_folder);

    /// <summary>The folder is gone, or is an older copy. No worker runs.</summary>
    /// <param name="epoch">The epoch that the worker remembers.</param>
    /// <returns>False: it would be no other than what is remembered; nothing has happened.</returns>
    public bool Lose(long epoch)
    {
        if (IsLost || _damaged is not null || !Disk.HasFolder(s_folder))
        {
            return false;
        }

        var whole = Disk.CopyOf(s_folder);
        Disk.PutBack(s_folder, Chance.Percent(50) ? null : _copy);
        if (Disk.HasFolder(s_folder) && _folder.ReadMeta() is { } meta && meta.Epoch >= epoch)
        {
            Disk.PutBack(s_folder, whole);
            return false;
        }

        _whole = whole;
        return true;
    }

    /// <summary>The right one is put back.</summary>
    public void Restore()
    {
        if (_whole is not null)
        {
            Disk.PutBack(s_folder, _whole);
            _whole = null;
        }
    }

    private void Flip()
    {
        var (_, file, _, at, bits) = _damaged!.Value;
        file.Seen.Flip(at, bits);
        file.Kept.Flip(at, bits);
    }
}
