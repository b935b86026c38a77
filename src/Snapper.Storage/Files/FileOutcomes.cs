using System.Buffers.Binary;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Storage.Files;

/// <summary>Copied outcomes, one file per minute of an <see cref="OutcomeClock"/>; whole files are deleted when their window has passed. Files of earlier versions have minutes of a wall clock, from which this one goes on. Not thread-safe.</summary>
internal sealed class FileOutcomes(LogFolder folder, TimeProvider time, StateStoreOptions options) : IDisposable
{
    private const string Prefix = "outcomes";

    // Of a frame that says how much of the minute has passed. Versions that do not know it take it for an outcome that nobody looks for.
    private const long NoteNumber = 0;
    private const long NoteEveryMs = 5_000;
    private readonly OutcomeClock _clock = new(time, options);
    private readonly SortedDictionary<long, Minute> _minutes = [];
    private readonly GroupBuffer _payload = new();

    public void LoadIndex(long epoch)
    {
        Dispose();
        foreach (var number in NumberedFiles.Of(folder, Prefix))
        {
            var minute = new Minute();
            var path = folder.PathOf(NumberedFiles.Name(Prefix, number));
            minute.File = FrameFile.Open(folder.Files, path, (header, start, payload) => minute.Read(header.Number, start, payload));
            if (minute.File is not null)
            {
                _minutes.Add(number, minute);
            }
        }

        _clock.Begin(epoch, _minutes.Count == 0 ? 0 : _minutes.Last().Key, _minutes.Count == 0 ? 0 : _minutes.Last().Value.PassedMs);
    }

    public AppendResult Save(IReadOnlyList<OutcomeRecord> outcomes)
    {
        Drop();
        if (outcomes.Count > 0)
        {
            var (number, passedMs) = _clock.Now;
            SaveMinute(number, passedMs, outcomes);
        }

        return new AppendResult(AppendStatus.Appended);
    }

    public AppendResult Drop()
    {
        while (_minutes.Count > 0 && _minutes.First() is var (number, minute) && number < _clock.Oldest)
        {
            minute.File?.Dispose();
            folder.Files.Delete(folder.PathOf(NumberedFiles.Name(Prefix, number)));
            _minutes.Remove(number);
        }

        return new AppendResult(AppendStatus.Appended);
    }

    public OutcomeRecord? Find(string requestId)
    {
        var hash = HashOf(requestId);
        OutcomeRecord? newest = null;
        foreach (var (number, minute) in _minutes)
        {
            foreach (var start in minute.Find(hash))
            {
                var outcome = GroupDecoder.StoredOutcome(minute.File!.ReadPayload(start), NumberedFiles.Name(Prefix, number));
                if (outcome.RequestId == requestId)
                {
                    newest = outcome;
                }
            }
        }

        return newest;
    }

    public void Dispose()
    {
        foreach (var minute in _minutes.Values)
        {
            minute.File?.Dispose();
        }

        _minutes.Clear();
    }

    private static ulong HashOf(string requestId) => StableHash.Of("outcome", requestId);

    private void SaveMinute(long number, long passedMs, IReadOnlyList<OutcomeRecord> outcomes)
    {
        if (!_minutes.TryGetValue(number, out var minute))
        {
            minute = new Minute { File = FrameFile.CreateDurable(folder, folder.PathOf(NumberedFiles.Name(Prefix, number))) };
            _minutes.Add(number, minute);
        }

        minute.File!.MakeCertain(folder);
        var frames = new GroupBuffer();
        var entries = new List<(ulong Hash, long Start)>(outcomes.Count);
        foreach (var outcome in outcomes)
        {
            var hash = HashOf(outcome.RequestId);
            _payload.Truncate(0);
            RecordEncoder.EncodeOutcome(outcome, _payload);
            if (IsThere(minute, hash, _payload.Written.Span))
            {
                // Saved before a trim that failed: the checkpoint is repeated as a whole, each interval.
                continue;
            }

            entries.Add((hash, minute.File!.Length + frames.Length));
            minute.File.Encode(frames, (long)hash, _payload.Written.Span);
        }

        if (entries.Count == 0)
        {
            return;
        }

        var isNoted = passedMs >= minute.PassedMs + NoteEveryMs;
        if (isNoted)
        {
            Span<byte> note = stackalloc byte[sizeof(long)];
            BinaryPrimitives.WriteInt64LittleEndian(note, passedMs);
            minute.File!.Encode(frames, NoteNumber, note);
        }

        minute.File!.Append(frames.Written.Span);
        frames.Release();
        minute.PassedMs = isNoted ? passedMs : minute.PassedMs;
        foreach (var (hash, start) in entries)
        {
            minute.Enter(hash, start);
        }
    }

    private static bool IsThere(Minute minute, ulong hash, ReadOnlySpan<byte> payload)
    {
        foreach (var start in minute.Find(hash))
        {
            if (payload.SequenceEqual(minute.File!.ReadPayload(start)))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>A minute's file and where in it the outcomes are, by hash; equal hashes sit at the following numbers.</summary>
    private sealed class Minute
    {
        private readonly Dictionary<ulong, long> _starts = [];

        public FrameFile? File { get; set; }

        /// <summary>How much of it had passed when that was noted last.</summary>
        public long PassedMs { get; set; }

        public void Read(long number, long start, ReadOnlySpan<byte> payload)
        {
            if (number == NoteNumber && payload.Length == sizeof(long))
            {
                PassedMs = Math.Clamp(BinaryPrimitives.ReadInt64LittleEndian(payload), 0, OutcomeClock.MinuteMs);
            }
            else
            {
                Enter((ulong)number, start);
            }
        }

        public void Enter(ulong hash, long start)
        {
            while (!_starts.TryAdd(hash, start))
            {
                hash++;
            }
        }

        public IEnumerable<long> Find(ulong hash)
        {
            for (; _starts.TryGetValue(hash, out var start); hash++)
            {
                yield return start;
            }
        }
    }
}
