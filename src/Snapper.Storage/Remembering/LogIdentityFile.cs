using System.Globalization;
using System.Text.Json;
using Snapper.Storage.Files;

namespace Snapper.Storage.Remembering;

/// <summary>What a worker knows for certain of the log in one place.</summary>
/// <param name="Id">Which log it was.</param>
/// <param name="Epoch">An opening of this number was durable.</param>
/// <param name="NextSequence">Every record below this number was durable.</param>
public sealed record LogIdentity(string Id, long Epoch, long NextSequence);

/// <summary>
/// A small file outside the log with what a worker knows of it. One file per worker; in it an entry per place where the
/// worker's log was, so that a worker that is moved from one Redis to another, and back, is not told that it lost anything.
/// </summary>
/// <remarks>
/// Replaced as a whole and flushed with its folder: a crash leaves the old one or the new one. Not thread-safe; two processes of one worker may write at once, as
/// one that was replaced and does not know it: the one that opened the log later counts.
/// </remarks>
public sealed class LogIdentityFile
{
    private const int Format = 1;
    private readonly ILogFileSystem _files;
    private readonly string _place;

    /// <summary>The memory of one worker's log in one place.</summary>
    /// <param name="path">The file; its folder is made when it is missing.</param>
    /// <param name="place">What tells places apart: kind, address and prefix, or that the Redis is the supervisor's own.</param>
    public LogIdentityFile(string path, string place)
        : this(path, place, PhysicalFileSystem.Instance)
    {
    }

    internal LogIdentityFile(string path, string place, ILogFileSystem files)
    {
        FilePath = Path.GetFullPath(path);
        _place = place;
        _files = files;
    }

    /// <summary>The file, absolute.</summary>
    public string FilePath { get; }

    /// <summary>What is remembered of the log in this place; null: nothing.</summary>
    /// <exception cref="LostLogException">The file is there and cannot be understood.</exception>
    public LogIdentity? Read() => ReadAll().GetValueOrDefault(_place);

    /// <summary>Remembers; durable on return.</summary>
    /// <exception cref="IOException">The file cannot be written; what it said before, it still says.</exception>
    public void Write(LogIdentity standing)
    {
        var all = ReadAll();
        if (all.TryGetValue(_place, out var known) && known.Id == standing.Id && known.Epoch > standing.Epoch)
        {
            return; // a later opening knows at least as much
        }

        all[_place] = standing;
        try
        {
            Replace(all, standing.Epoch);
        }
        catch (UnauthorizedAccessException denied)
        {
            throw new IOException(denied.Message, denied);
        }
    }

    private void Replace(SortedDictionary<string, LogIdentity> all, long epoch)
    {
        _files.MakeFolder(Path.GetDirectoryName(FilePath)!, isNew: all.Count == 1);
        using var text = new MemoryStream();
        using (var json = new Utf8JsonWriter(text, new JsonWriterOptions { Indented = true }))
        {
            json.WriteStartObject();
            json.WriteNumber("format", Format);
            json.WriteStartArray("logs");
            foreach (var (place, of) in all)
            {
                json.WriteStartObject();
                json.WriteString("place", place);
                json.WriteString("id", of.Id);
                json.WriteNumber("epoch", of.Epoch);
                json.WriteNumber("next", of.NextSequence);
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }

        // A name of this opening's own: two processes that fill one file leave neither's text in it.
        var temporary = string.Create(CultureInfo.InvariantCulture, $"{FilePath}.{epoch}.new");
        var folder = Path.GetDirectoryName(FilePath)!;
        foreach (var left in _files.List(folder, Path.GetFileName(FilePath) + ".*.new"))
        {
            _files.Delete(Path.Combine(folder, left)); // of a process that died; one that lives finds it gone, and says so
        }

        using (var file = _files.Open(temporary, create: true))
        {
            file.Truncate(0);
            file.Write(text.ToArray(), 0);
            file.Flush();
        }

        _files.Replace(temporary, FilePath);
    }

    private SortedDictionary<string, LogIdentity> ReadAll()
    {
        var all = new SortedDictionary<string, LogIdentity>(StringComparer.Ordinal);
        byte[]? bytes;
        try
        {
            bytes = _files.ReadAll(FilePath);
        }
        catch (DirectoryNotFoundException)
        {
            return all;
        }

        if (bytes is null)
        {
            return all;
        }

        try
        {
            using var json = JsonDocument.Parse(bytes);
            var format = json.RootElement.GetProperty("format").GetInt32();
            if (format != Format)
            {
                throw new FormatException($"it has format {format}, this program reads format {Format}");
            }

            foreach (var log in json.RootElement.GetProperty("logs").EnumerateArray())
            {
                all[log.GetProperty("place").GetString()!] = new LogIdentity(
                    log.GetProperty("id").GetString()!, log.GetProperty("epoch").GetInt64(), log.GetProperty("next").GetInt64());
            }

            return all;
        }
        catch (Exception error) when (error is JsonException or KeyNotFoundException or InvalidOperationException or FormatException or ArgumentNullException)
        {
            throw new LostLogException($"What was remembered of the log, in {FilePath}, cannot be understood: {error.Message} Remove the file to take the log as it is.");
        }
    }
}
