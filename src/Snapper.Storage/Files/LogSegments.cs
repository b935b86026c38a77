using System.Globalization;
using Snapper.Storage.Log;

namespace Snapper.Storage.Files;

/// <summary>Where a log ended at a moment: its last segment, how much of that file counts, and the number of the next record.</summary>
internal readonly record struct LogEnd(long Segment, long Length, long Next);

/// <summary>The segment files of a log: their names, and reading them one after another.</summary>
internal sealed class LogSegments(LogFolder folder)
{
    /// <summary>Ends the name of a segment that is being made.</summary>
    public const string Unfinished = ".new";

    /// <summary>The groups from the one that holds a number on.</summary>
    /// <param name="segments">As they were listed when the end was.</param>
    /// <param name="end">Where to stop; what is written meanwhile is not read.</param>
    /// <param name="fromSequence">Number of the first record that is wanted.</param>
    /// <exception cref="CorruptLogException">A group is damaged or missing; says where.</exception>
    public IEnumerable<LogGroup> Read(List<long> segments, LogEnd end, long fromSequence)
    {
        long? expected = null;
        for (var i = 0; i < segments.Count && segments[i] <= end.Segment; i++)
        {
            if (i + 1 < segments.Count && segments[i + 1] <= fromSequence)
            {
                continue;
            }

            var name = PathOf(segments[i]);
            ILogFile file;
            try
            {
                file = folder.Files.Open(name, create: false);
            }
            catch (FileNotFoundException) when (expected is null)
            {
                // Trimmed since the segments were listed: the log begins later now.
                continue;
            }

            using (file)
            {
                if (expected > segments[i])
                {
                    throw new CorruptLogException($"Records {segments[i]} to {expected - 1} are there twice: segment {name} begins with {segments[i]}, and the one before it holds them, too.");
                }

                if (expected < segments[i])
                {
                    throw new CorruptLogException($"Records {expected} to {segments[i] - 1} are missing: segment {name} begins with {segments[i]}.");
                }

                expected = segments[i];
                var reader = new FrameFileReader(file, name, segments[i] == end.Segment ? Math.Min(end.Length, file.Length) : file.Length);
                if (!reader.Start())
                {
                    throw new CorruptLogException($"File {name}, offset 0: the header is cut off.");
                }

                while (ReadGroup(reader, name, fromSequence, ref expected, out var group))
                {
                    if (group is { } read)
                    {
                        yield return read;
                    }
                }
            }
        }

        if ((expected ?? end.Next) < end.Next)
        {
            throw new CorruptLogException($"Records {expected} to {end.Next - 1} are missing at the end of the log in {folder.Path}.");
        }
    }

    /// <summary>Path of the segment whose first record has this number.</summary>
    public string PathOf(long first) => folder.PathOf(NameOf(first));

    private static string NameOf(long first) => string.Create(CultureInfo.InvariantCulture, $"log-{first:D19}.seg");

    private static bool ReadGroup(FrameFileReader reader, string name, long from, ref long? expected, out LogGroup? group)
    {
        group = null;
        if (!reader.Next(mayBeTorn: false, h => h.Number + h.Count > from, out var payload))
        {
            return false;
        }

        var header = reader.Header;
        CheckSequence(header, expected!.Value, name, reader.FrameStart);
        expected = header.Number + header.Count;
        if (header.Number + header.Count > from)
        {
            group = new LogGroup(header.Number, header.Count, payload.ToArray());
        }

        return true;
    }

    /// <summary>A group must begin where the one before it ended.</summary>
    public static void CheckSequence(FrameHeader header, long expected, string name, long offset)
    {
        if (header.Number != expected || header.Count < 1)
        {
            throw new CorruptLogException($"File {name}, offset {offset}: a group with records from {header.Number} on ({header.Count}) where record {expected} should follow.");
        }
    }

    /// <summary>Deletes what a crash left of segments that were being made. Under the log's lock.</summary>
    public void DeleteUnfinished()
    {
        foreach (var name in folder.Files.List(folder.Path, "log-*.seg" + Unfinished))
        {
            folder.Files.Delete(folder.PathOf(name));
        }
    }

    /// <summary>First numbers of all segments, in order.</summary>
    public List<long> List()
    {
        var segments = new List<long>();
        foreach (var name in folder.Files.List(folder.Path, "log-*.seg"))
        {
            if (!long.TryParse(name.AsSpan(4, name.Length - 8), NumberStyles.None, CultureInfo.InvariantCulture, out var first) || first < 1 || name != NameOf(first))
            {
                throw new CorruptLogException($"File {folder.PathOf(name)} is named like a segment, but not by a record number.");
            }

            segments.Add(first);
        }

        segments.Sort();
        return segments;
    }
}
