using Snapper.Protocol.Identity;

namespace Snapper.Storage.Log.Records;

/// <summary>
/// Conditional records whose markers have not come: what they changed counts when the marker says so, in the versions that it gives (L7). Not thread-safe.
/// </summary>
internal sealed class PreparedRecords
{
    // Global batches and ACTs have numbers of different ranges.
    private readonly Dictionary<long, InDoubt> _open = [];

    /// <summary>Number of the oldest one's record; the log keeps it (L8). 0: there is none.</summary>
    public long OldestSequence
    {
        get
        {
            var oldest = 0L;
            foreach (var record in _open.Values)
            {
                oldest = oldest == 0 ? record.Sequence : Math.Min(oldest, record.Sequence);
            }

            return oldest;
        }
    }

    /// <summary>Those that wait, in the order of the log.</summary>
    public IReadOnlyList<InDoubt> All
    {
        get
        {
            var all = new List<InDoubt>(_open.Values);
            all.Sort(static (left, right) => left.Sequence.CompareTo(right.Sequence));
            return all;
        }
    }

    /// <summary>Takes a conditional record in.</summary>
    /// <exception cref="CorruptLogException">It was prepared twice.</exception>
    public void Add(LogRecord record, long sequence)
    {
        if (!_open.TryAdd(NumberOf(record), new InDoubt(record, sequence)))
        {
            throw new CorruptLogException($"Record {sequence} prepares {NumberOf(record)}, which record {_open[NumberOf(record)].Sequence} has prepared.");
        }
    }

    /// <summary>Takes a marker in.</summary>
    /// <param name="marker">The marker.</param>
    /// <param name="sequence">Its number.</param>
    /// <param name="settled">What counts from here on: changes with their versions, and outcomes; both empty after an abort.</param>
    /// <returns>
    /// False: nothing was prepared under its number. In a log that was trimmed that is no error: groups are kept whole, so that a marker may outlive what it settled,
    /// which is checkpointed then.
    /// </returns>
    /// <exception cref="CorruptLogException">It gives another number of versions.</exception>
    public bool TrySettle(LogRecord marker, long sequence, out Settled settled)
    {
        settled = default;
        var (number, committed, versions) = marker switch
        {
            Decided decided => (decided.Global.Value, decided.Committed, decided.Versions),
            ActEnded ended => (ended.Transaction.Value, ended.Committed, ended.Versions),
            _ => throw new ArgumentException($"A {marker.GetType().Name} is no marker.", nameof(marker)),
        };
        if (!_open.Remove(number, out var prepared))
        {
            return false;
        }

        if (!committed)
        {
            settled = new Settled(prepared.Sequence, [], []);
            return true;
        }

        var changes = prepared.Changes;
        if (versions.Count != changes.Count)
        {
            throw new CorruptLogException($"Record {sequence} gives {versions.Count} versions to the {changes.Count} changes of record {prepared.Sequence}.");
        }

        var versioned = new ActorChange[changes.Count];
        for (var i = 0; i < versioned.Length; i++)
        {
            versioned[i] = changes[i] with { Version = versions[i] };
        }

        settled = new Settled(prepared.Sequence, versioned, prepared.Outcomes);
        return true;
    }

    private static long NumberOf(LogRecord record) => record switch
    {
        Prepared prepared => prepared.Global.Value,
        ActPrepared prepared => prepared.Transaction.Value,
        _ => throw new ArgumentException($"A {record.GetType().Name} is not conditional.", nameof(record)),
    };
}

/// <summary>A conditional record and its place.</summary>
/// <param name="Record">A <see cref="Prepared"/> or an <see cref="ActPrepared"/>.</param>
/// <param name="Sequence">Its number.</param>
public sealed record InDoubt(LogRecord Record, long Sequence)
{
    /// <summary>What it changes, without versions.</summary>
    public IReadOnlyList<ActorChange> Changes => Record is Prepared batch ? batch.Changes : ((ActPrepared)Record).Changes;

    /// <summary>Outcomes that are true if it is committed.</summary>
    public IReadOnlyList<OutcomeRecord> Outcomes => Record is Prepared batch ? batch.Outcomes : [];

    /// <summary>The global batch; none for an ACT.</summary>
    public BatchId Global => Record is Prepared batch ? batch.Global : BatchId.None;
}

/// <summary>What a marker has settled.</summary>
/// <param name="PreparedAt">Number of the conditional record: its outcomes are read there.</param>
/// <param name="Changes">With versions.</param>
/// <param name="Outcomes">Of the requests whose roots are here.</param>
internal readonly record struct Settled(long PreparedAt, IReadOnlyList<ActorChange> Changes, IReadOnlyList<OutcomeRecord> Outcomes);
