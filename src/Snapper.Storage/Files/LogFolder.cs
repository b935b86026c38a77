using System.Text.Json;
using Snapper.Storage.Log;

namespace Snapper.Storage.Files;

/// <summary>What a folder says about its log beside the records; small, replaced as a whole.</summary>
/// <param name="Id">Name of the log, given when it was made; empty: made before logs had names.</param>
/// <param name="Epoch">How often it was opened.</param>
/// <param name="FirstSequence">Records below this number were trimmed.</param>
/// <param name="Watermarks">Highest numbers in what was trimmed.</param>
/// <param name="StateFile">Number of a data file of states that exists, or a newer one does; 0: none was noted.</param>
/// <param name="StateBytes">That file is at least so long: what is in it up to there is durable, and its records may be trimmed.</param>
internal sealed record LogFolderMeta(string Id, long Epoch, long FirstSequence, LogWatermarks Watermarks, long StateFile, long StateBytes)
{
    /// <summary>Of a log that was never opened.</summary>
    public static LogFolderMeta None { get; } = new("", 0, 1, default, 0, 0);
}

/// <summary>
/// How much of a data file of states is on disk. An object: it is read beside the lock under which it is set.
/// </summary>
/// <param name="Number">Which file.</param>
/// <param name="Bytes">So many bytes of it.</param>
internal sealed record StateFileLength(long Number, long Bytes);

/// <summary>The folder of a log and its states: the file with the epoch, and the locks between processes.</summary>
internal sealed class LogFolder(string path, ILogFileSystem files)
{
    /// <summary>The lock under which <c>meta.json</c> and the segments are written.</summary>
    public const string LogLock = "log.lock";

    /// <summary>What the names of data files of states begin with.</summary>
    public const string StatePrefix = "state";

    private const int FormatVersion = 1;
    private static readonly TimeSpan LockPatience = TimeSpan.FromSeconds(10);

    private volatile ReadBefore? _lastRead;
    private volatile StateFileLength? _statesOnDisk;

    public string Path { get; } = System.IO.Path.GetFullPath(path);

    public ILogFileSystem Files { get; } = files;

    public string PathOf(string name) => System.IO.Path.Combine(Path, name);

    /// <summary>Waits for the lock; every write happens under it, after a look at the epoch, so a writer that was passed finds out.</summary>
    /// <exception cref="IOException">Another process has held it for 10 s.</exception>
    public IDisposable Lock(string name)
    {
        var path = PathOf(name);
        var started = Files.Time.GetTimestamp();
        while (true)
        {
            if (Files.TryLock(path) is { } taken)
            {
                return taken;
            }

            if (Files.Time.GetElapsedTime(started) > LockPatience)
            {
                throw new IOException($"Another process has held the lock {path} for {LockPatience.TotalSeconds:0} s.");
            }

            // Held for one write of another process; there is nothing to be told when it ends.
            Files.Wait(TimeSpan.FromMilliseconds(1));
        }
    }

    /// <summary>Null: a new folder.</summary>
    /// <exception cref="CorruptLogException">The file cannot be understood.</exception>
    public LogFolderMeta? ReadMeta()
    {
        if (Files.ReadAll(PathOf("meta.json")) is not { } bytes)
        {
            return null;
        }

        // Every append asks for the epoch that is in it, and it changes seldom. One object, since readers may meet here.
        if (_lastRead is { } last && last.Bytes.AsSpan().SequenceEqual(bytes))
        {
            return last.Meta;
        }

        var meta = Understand(bytes);
        _lastRead = new ReadBefore(bytes, meta);
        return meta;
    }

    private LogFolderMeta Understand(byte[] bytes)
    {
        try
        {
            using var json = JsonDocument.Parse(bytes);
            var root = json.RootElement;
            var format = root.GetProperty("format").GetInt32();
            if (format != FormatVersion)
            {
                throw new CorruptLogException($"File {PathOf("meta.json")} has format {format}; this program reads format {FormatVersion}.");
            }

            var meta = new LogFolderMeta(
                root.TryGetProperty("id", out var id) ? id.GetString() ?? "" : "",
                root.GetProperty("epoch").GetInt64(),
                root.GetProperty("firstSequence").GetInt64(),
                new LogWatermarks(root.GetProperty("transaction").GetInt64(), root.GetProperty("actCounter").GetInt64()),
                root.TryGetProperty("stateFile", out var stateFile) ? stateFile.GetInt64() : 0,
                root.TryGetProperty("stateBytes", out var stateBytes) ? stateBytes.GetInt64() : 0);
            return meta is { Epoch: >= 0 and < long.MaxValue, FirstSequence: >= 1 and < long.MaxValue / 2, Watermarks: { Transaction: >= 0, ActCounter: >= 0 }, StateFile: >= 0, StateBytes: >= 0 }
                ? meta
                : throw new FormatException("a number is out of its range.");
        }
        catch (Exception error) when (error is JsonException or KeyNotFoundException or InvalidOperationException or FormatException)
        {
            throw new CorruptLogException($"File {PathOf("meta.json")} cannot be understood: {error.Message}");
        }
    }

    /// <summary>Replaces the file as a whole; durable on return.</summary>
    public void WriteMeta(LogFolderMeta meta)
    {
        using var text = new MemoryStream();
        using (var json = new Utf8JsonWriter(text))
        {
            json.WriteStartObject();
            json.WriteNumber("format", FormatVersion);
            json.WriteString("id", meta.Id);
            json.WriteNumber("epoch", meta.Epoch);
            json.WriteNumber("firstSequence", meta.FirstSequence);
            json.WriteNumber("transaction", meta.Watermarks.Transaction);
            json.WriteNumber("actCounter", meta.Watermarks.ActCounter);
            json.WriteNumber("stateFile", meta.StateFile);
            json.WriteNumber("stateBytes", meta.StateBytes);
            json.WriteEndObject();
        }

        var temporary = PathOf("meta.json.new");
        using (var file = Files.Open(temporary, create: true))
        {
            file.Truncate(0);
            file.Write(text.ToArray(), 0);
            file.Flush();
        }

        Files.Replace(temporary, PathOf("meta.json"));
    }

    /// <summary>Number of the data file of states, and how much of it is on disk, as the store of this process knows; null: it has none. A trim notes it down.</summary>
    public StateFileLength? StatesOnDisk
    {
        get => _statesOnDisk;
        set => _statesOnDisk = value;
    }

    /// <summary>Notes, durably, that a data file of states exists, and how much of it is on disk: the log's trimmed records are nowhere else. May be called under the lock of the states.</summary>
    public void NoteStateFile(long number, long bytes)
    {
        using var between = Lock(LogLock);
        if (ReadMeta() is { } meta && meta.StateFile < number)
        {
            WriteMeta(meta with { StateFile = number, StateBytes = bytes });
        }
    }

    /// <summary>Whether the data file of states that was noted, or a newer one, is there.</summary>
    /// <exception cref="CorruptLogException">It is not; the message names it.</exception>
    public void DemandStateFile(LogFolderMeta meta, List<long> stateFiles)
    {
        if (meta.StateFile > 0 && (stateFiles.Count == 0 || stateFiles[^1] < meta.StateFile))
        {
            throw new CorruptLogException(
                $"File {PathOf(NumberedFiles.Name(StatePrefix, meta.StateFile))} is missing: it holds states whose records the log no longer has.");
        }
    }

    /// <summary>Null: the epoch is the current one. To be asked under a lock.</summary>
    public AppendResult? Fence(long epoch, out LogFolderMeta meta)
    {
        meta = ReadMeta() ?? LogFolderMeta.None;
        if (meta.Epoch == epoch)
        {
            return null;
        }

        // The epoch only ever rises: a lower one means that the folder was emptied or put back from a copy.
        return meta.Epoch > epoch
            ? new AppendResult(AppendStatus.Fenced, $"epoch {epoch} is not the current one, {meta.Epoch}")
            : new AppendResult(AppendStatus.Gap, $"the log lost acknowledged records: folder {Path} is at epoch {meta.Epoch}, this writer's is {epoch}");
    }

    /// <summary>What the file was, and what it said.</summary>
    private sealed record ReadBefore(byte[] Bytes, LogFolderMeta Meta);
}
