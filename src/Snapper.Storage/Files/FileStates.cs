using Snapper.Protocol.Identity;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Storage.Files;

/// <summary>The data file of states and its index. Not thread-safe; <see cref="FileStateStore"/> locks.</summary>
internal sealed class FileStates(LogFolder folder, long deadBytesMin) : IDisposable
{
    private const string Prefix = LogFolder.StatePrefix;
    private readonly NamePool _names = new();
    private readonly GroupBuffer _payload = new();
    private readonly GroupBuffer _frames = new();
    private Dictionary<ActorKey, Entry> _index = [];
    private FrameFile? _file;
    private long _fileNumber;
    private long _noted;
    private long _liveBytes;

    // A move's new file whose name may, or may not, be there after a crash.
    private string? _unsureMove;

    /// <summary>See <see cref="IActorListing"/>; looks through the index in memory, and into the file for the page that it returns.</summary>
    public IReadOnlyList<StoredActor> List(ActorListQuery query)
    {
        var found = new FirstIds(query);
        foreach (var actor in _index.Keys)
        {
            found.Offer(actor);
        }

        return [.. found.Ids.Select(id => new ActorKey(query.Type, id)).Select(actor => new StoredActor(actor.Id, VersionOf(actor), HasState(actor)))];
    }

    private bool HasState(ActorKey actor)
    {
        try
        {
            return Load(actor) is { Fields.Count: > 0 };
        }
        catch (CorruptLogException)
        {
            return true; // listed all the same: whoever looks at it is told what is wrong
        }
    }

    /// <summary>Reads the newest data file. Older ones are left over from a crash during a move; the newest is complete without them.</summary>
    public void LoadIndex()
    {
        Dispose();
        _index = [];
        _liveBytes = 0;
        _noted = 0;
        _unsureMove = null;
        var numbers = NumberedFiles.Of(folder, Prefix);
        var meta = folder.ReadMeta() ?? LogFolderMeta.None;
        folder.DemandStateFile(meta, numbers);
        if (numbers.Count > 1)
        {
            // The move was not finished: what is checkpointed into the newest counts only if its name stays.
            folder.Files.FlushFolder(folder.Path);
        }

        _fileNumber = numbers.Count == 0 ? 0 : numbers[^1];
        if (numbers.Count > 0)
        {
            var path = folder.PathOf(NumberedFiles.Name(Prefix, _fileNumber));
            _file = FrameFile.Open(folder.Files, path, (header, start, payload) =>
            {
                var actor = ReadActor(header, payload, path, start);
                if (VersionOf(actor) >= header.Number)
                {
                    throw new CorruptLogException($"File {path}, offset {start}: {actor} in version {header.Number} behind its version {VersionOf(actor)}.");
                }

                Enter(actor, new Entry(header.Number, start, FrameHeader.Bytes + payload.Length));
            });
            if (_fileNumber == meta.StateFile && (_file?.Length ?? 0) < meta.StateBytes)
            {
                throw new CorruptLogException(
                    $"File {path} is good up to offset {_file?.Length ?? 0}, but {meta.StateBytes} bytes of it were written: states are missing whose records the log no longer has.");
            }
        }

        folder.StatesOnDisk = null;
    }

    public StoredState? Load(ActorKey actor)
    {
        if (!_index.TryGetValue(actor, out var entry))
        {
            return null;
        }

        var (found, fields) = ReadState(_file!.ReadPayload(entry.Start), entry.Start);
        return found.Equals(actor) ? new StoredState(entry.Version, fields) : throw new CorruptLogException($"The index of states names {actor} where {found} is stored.");
    }

    public AppendResult Checkpoint(IReadOnlyList<StateCheckpoint> checkpoints)
    {
        CheckpointRule.Validate(checkpoints);
        foreach (var checkpoint in checkpoints)
        {
            if (CheckpointRule.Missing(checkpoint, VersionOf(checkpoint.Actor)) is { } missing)
            {
                return new AppendResult(AppendStatus.Behind, missing);
            }
        }

        TakeMoveBack();

        // Before what is there counts as checkpointed: the log is trimmed on the strength of that.
        _file?.MakeCertain(folder);
        _file ??= NewFile(_fileNumber + 1);
        NoteFile();
        _frames.Release();
        var entries = new List<(ActorKey Actor, Entry Entry)>(checkpoints.Count);
        foreach (var checkpoint in checkpoints)
        {
            if (VersionOf(checkpoint.Actor) < checkpoint.To)
            {
                var start = _file.Length + _frames.Length;
                Encode(_file, checkpoint.Actor, CheckpointRule.Apply(Load(checkpoint.Actor), checkpoint));
                entries.Add((checkpoint.Actor, new Entry(checkpoint.To, start, (int)(_file.Length + _frames.Length - start))));
            }
        }

        if (entries.Count > 0)
        {
            _file.Append(_frames.Written.Span);
            foreach (var (actor, entry) in entries)
            {
                Enter(actor, entry);
            }

            MoveIfMostlyDead();
            NoteFile();
            folder.StatesOnDisk = new(_fileNumber, _file.Length);
        }

        _frames.Release();
        return new AppendResult(AppendStatus.Appended);
    }

    public void Dispose()
    {
        _file?.Dispose();
        _file = null;
    }

    private long VersionOf(ActorKey actor) => _index.TryGetValue(actor, out var entry) ? entry.Version : 0;

    private void Enter(ActorKey actor, Entry entry)
    {
        if (_index.TryGetValue(actor, out var old))
        {
            _liveBytes -= old.Bytes;
        }

        _index[actor] = entry;
        _liveBytes += entry.Bytes;
    }

    private (ActorKey Actor, StateField[] Fields) ReadState(byte[] payload, long start)
    {
        try
        {
            var reader = new RecordReader(payload, _names);
            var actor = reader.Actor();
            var fields = reader.Fields();
            reader.End();
            return (actor, fields);
        }
        catch (MalformedRecordException malformed)
        {
            throw new CorruptLogException($"File {folder.PathOf(NumberedFiles.Name(Prefix, _fileNumber))}, offset {start}: {malformed.Message}.");
        }
    }

    private ActorKey ReadActor(FrameHeader header, ReadOnlySpan<byte> payload, string path, long start)
    {
        if (header.Number < 1)
        {
            throw new CorruptLogException($"File {path}, offset {start}: a state of version {header.Number}.");
        }

        try
        {
            return new RecordReader(payload.ToArray(), _names).Actor();
        }
        catch (MalformedRecordException malformed)
        {
            throw new CorruptLogException($"File {path}, offset {start}: {malformed.Message}.");
        }
    }

    private void Encode(FrameFile file, ActorKey actor, StoredState state)
    {
        _payload.Truncate(0);
        RecordEncoder.Actor(_payload, actor);
        RecordEncoder.Fields(_payload, state.Fields);
        file.Encode(_frames, state.Version, _payload.Written.Span);
    }

    /// <summary>Before anything is in the file: who opens the log later misses the file when it is gone. Until then an older note, of which this file is the successor, says enough.</summary>
    private void NoteFile()
    {
        if (_noted != _fileNumber)
        {
            folder.NoteStateFile(_fileNumber, _file!.Length);
            _noted = _fileNumber;
        }
    }

    private FrameFile NewFile(long number)
    {
        var file = FrameFile.CreateDurable(folder, folder.PathOf(NumberedFiles.Name(Prefix, number)));
        _fileNumber = number;
        return file;
    }

    /// <summary>
    /// A move that failed once its file had its name: a restart would take that file as the newest, so nothing is checkpointed into
    /// the old one before it is certain that the new one is gone.
    /// </summary>
    private void TakeMoveBack()
    {
        if (_unsureMove is not null)
        {
            folder.Files.Delete(_unsureMove);
            folder.Files.FlushFolder(folder.Path);
            _unsureMove = null;
        }
    }

    /// <summary>Copies the living states to a new file once they are the smaller part; it counts from its rename on.</summary>
    private void MoveIfMostlyDead()
    {
        if (_file!.Length - _liveBytes <= Math.Max(_liveBytes, deadBytesMin))
        {
            return;
        }

        var number = _fileNumber + 1;
        var path = folder.PathOf(NumberedFiles.Name(Prefix, number));
        var temporary = path + ".new";
        var moved = new Dictionary<ActorKey, Entry>(_index.Count);
        FrameFile? target = null;
        try
        {
            target = FrameFile.Create(folder.Files, temporary);
            _frames.Release();
            foreach (var (actor, entry) in _index)
            {
                var start = target.Length + _frames.Length;
                target.Encode(_frames, entry.Version, _file.ReadPayload(entry.Start));
                moved.Add(actor, entry with { Start = start });
                if (_frames.Length > 1024 * 1024)
                {
                    target.Append(_frames.Written.Span);
                    _frames.Release();
                }
            }

            target.Append(_frames.Written.Span);
            _unsureMove = path;
            folder.Files.Replace(temporary, path);
            _unsureMove = null;
        }
        catch (IOException error)
        {
            // The old file is whole and goes on; the next checkpoint takes back what is left of the move, and tries again.
            target?.Dispose();
            folder.Files.Delete(temporary);
            if (DiskFull.Is(error))
            {
                return;
            }

            throw;
        }

        _file.Dispose();
        _file = target;
        _index = moved;
        _fileNumber = number;
        foreach (var old in NumberedFiles.Of(folder, Prefix))
        {
            if (old < number)
            {
                folder.Files.Delete(folder.PathOf(NumberedFiles.Name(Prefix, old)));
            }
        }
    }

    private readonly record struct Entry(long Version, long Start, int Bytes);
}
