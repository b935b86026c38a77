using Snapper.Protocol.Identity;
using Snapper.TransactionLog.Records;

namespace Snapper.TransactionLog.Files;

/// <summary>Copied outcomes, one file per minute of an <see cref="OutcomeClock"/>; whole files are deleted when their window has passed. Files of earlier versions have minutes of a wall clock, from which this one goes on. Not thread-safe.</summary>
internal sealed class FileOutcomes(LogFolder folder, TimeProvider time, StateStoreOptions options) : IDisposable
{
    private const string Prefix = "outcomes";
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
            minute.File = FrameFile.Open(folder.Files, path, (header, start, _) => minute.Enter((ulong)header.Number, start));
            if (minute.File is not null)
            {
                _minutes.Add(number, minute);
            }
        }

        _clock.Begin(epoch, _minutes.Count == 0 ? 0 : _minutes.Last().Key);
    }

    public AppendResult Save(IReadOnlyList<OutcomeRecord> outcomes)
    {
        Drop();
        if (outcomes.Count > 0)
        {
            SaveMinute(_clock.Minute, outcomes);
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

    private void SaveMinute(long number, IReadOnlyList<OutcomeRecord> outcomes)
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

        minute.File!.Append(frames.Written.Span);
        frames.Release();
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
