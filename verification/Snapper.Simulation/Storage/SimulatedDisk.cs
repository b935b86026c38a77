using Snapper.Simulation.Core;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Running;

namespace Snapper.Simulation.Storage;

/// <summary>
/// The disk of the one machine on which all processes run: files, their names, folders, and locks. Names are durable once their folder was flushed, and may
/// be lost before, each for itself; a lock ends with its process.
/// </summary>
internal sealed class SimulatedDisk(SeededChance chance, Tally<FaultKind> faults)
{
    private readonly SortedDictionary<string, DiskFile> _names = new(StringComparer.Ordinal);
    private readonly SortedDictionary<string, DiskFile> _keptNames = new(StringComparer.Ordinal);
    private readonly SortedDictionary<string, bool> _folders = new(StringComparer.Ordinal); // true: durable
    private readonly List<NameChange> _changes = [];
    private readonly Dictionary<string, object> _locks = new(StringComparer.Ordinal);

    /// <summary>Some process is inside of a locked part.</summary>
    public bool IsLocked => _locks.Count > 0;

    public bool HasFolder(string folder) => folder.Length <= 1 || _folders.ContainsKey(folder);

    /// <summary>Makes one folder; its name is durable once the folder above is flushed.</summary>
    public void CreateFolder(string folder) => _folders.TryAdd(folder, false);

    public DiskFile? Find(string path) => _names.GetValueOrDefault(path);

    public DiskFile Create(string path)
    {
        var file = new DiskFile();
        _names.Add(path, file);
        _changes.Add(new NameChange(path, null, file));
        return file;
    }

    public void Rename(string source, string target)
    {
        var file = _names[source];
        _names.Remove(source);
        _names[target] = file;
        _changes.Add(new NameChange(target, source, file));
    }

    public void Delete(string path)
    {
        if (_names.Remove(path))
        {
            _changes.Add(new NameChange(path, null, null));
        }
    }

    /// <summary>Names in a folder, in ordinal order.</summary>
    public List<string> List(string folder)
    {
        var names = new List<string>();
        foreach (var path in _names.Keys)
        {
            if (IsIn(path, folder))
            {
                names.Add(path[(folder.Length + 1)..]);
            }
        }

        return names;
    }

    public void FlushFolder(string folder)
    {
        for (var i = 0; i < _changes.Count; i++)
        {
            if (IsIn(_changes[i].Path, folder))
            {
                _changes[i].Apply(_keptNames);
                _changes.RemoveAt(i--);
            }
        }

        foreach (var inside in _folders.Where(f => !f.Value && IsIn(f.Key, folder)).Select(f => f.Key).ToList())
        {
            _folders[inside] = true;
        }
    }

    /// <summary>Some names became durable, and nobody knows which; the others may still.</summary>
    public void FailToFlushFolder()
    {
        for (var cut = chance.Next(_changes.Count + 1); cut > 0; cut--)
        {
            _changes[0].Apply(_keptNames);
            _changes.RemoveAt(0);
        }
    }

    public bool TryLock(string path, object by) => _locks.TryAdd(path, by);

    public void Unlock(string path) => _locks.Remove(path);

    /// <summary>A process has ended: the system lets go of its locks and keeps what it wrote.</summary>
    public void ProcessEnded(object by)
    {
        foreach (var held in _locks.Where(l => l.Value == by).Select(l => l.Key).ToList())
        {
            _locks.Remove(held);
        }
    }

    /// <summary>The machine loses power: what was not flushed is lost, kept or torn. Its processes must have ended before.</summary>
    public void Crash()
    {
        faults.Note(FaultKind.MachineCrash);
        _locks.Clear();
        LoseNames();
        foreach (var (folder, isKept) in _folders.ToList())
        {
            if (!isKept && HasFolder(folder) && chance.Percent(50))
            {
                faults.Note(FaultKind.DiskNameLost);
                RemoveFolder(folder);
            }
        }

        foreach (var file in _names.Values)
        {
            switch (file.Crash(chance))
            {
                case DiskLoss.Lost:
                    faults.Note(FaultKind.DiskWriteLost);
                    break;
                case DiskLoss.TornAtAByte:
                    faults.Note(FaultKind.DiskTornAtAByte);
                    break;
                case DiskLoss.TornBySectors:
                    faults.Note(FaultKind.DiskTornBySectors);
                    break;
            }
        }

        foreach (var folder in _folders.Keys.ToList())
        {
            _folders[folder] = true;
        }
    }

    /// <summary>A folder's files as they are now, to be put back later.</summary>
    public SortedDictionary<string, DiskFile> CopyOf(string folder)
    {
        var copy = new SortedDictionary<string, DiskFile>(StringComparer.Ordinal);
        foreach (var (path, file) in _names)
        {
            if (IsIn(path, folder))
            {
                copy.Add(path, file.Copy());
            }
        }

        return copy;
    }

    /// <summary>Somebody puts other files in the place of a folder's, durably; null: the folder is gone.</summary>
    public void PutBack(string folder, SortedDictionary<string, DiskFile>? files)
    {
        RemoveFolder(folder);
        if (files is not null)
        {
            _folders[folder] = true;
            foreach (var (path, file) in files)
            {
                _names[path] = _keptNames[path] = file.Copy();
            }
        }
    }

    public static string FolderOf(string path) => path[..Math.Max(1, path.LastIndexOf('/'))];

    private static bool IsIn(string path, string folder) => path.AsSpan(0, Math.Max(1, path.LastIndexOf('/'))).SequenceEqual(folder);

    private void LoseNames()
    {
        // What a journal keeps is a beginning; other systems keep any of it.
        var inOrder = chance.Percent(50);
        var kept = chance.Next(_changes.Count + 1);
        for (var i = 0; i < _changes.Count; i++)
        {
            if (inOrder ? i < kept : chance.Percent(50))
            {
                _changes[i].Apply(_keptNames);
            }
            else
            {
                faults.Note(FaultKind.DiskNameLost);
            }
        }

        _changes.Clear();
        _names.Clear();
        foreach (var (path, file) in _keptNames)
        {
            _names.Add(path, file);
        }
    }

    private void RemoveFolder(string folder)
    {
        bool IsInside(string path) => path == folder || path.StartsWith(folder + "/", StringComparison.Ordinal);
        foreach (var path in _names.Keys.Concat(_keptNames.Keys).Where(IsInside).ToList())
        {
            _names.Remove(path);
            _keptNames.Remove(path);
        }

        foreach (var inside in _folders.Keys.Where(IsInside).ToList())
        {
            _folders.Remove(inside);
        }

        _changes.RemoveAll(c => IsInside(c.Path));
    }

    /// <summary>A name that is given (perhaps taken from another one), or (without a file) taken away.</summary>
    private readonly record struct NameChange(string Path, string? From, DiskFile? File)
    {
        public void Apply(SortedDictionary<string, DiskFile> names)
        {
            if (File is null)
            {
                names.Remove(Path);
                return;
            }

            names[Path] = File;
            if (From is not null && names.GetValueOrDefault(From) == File)
            {
                names.Remove(From);
            }
        }
    }
}
