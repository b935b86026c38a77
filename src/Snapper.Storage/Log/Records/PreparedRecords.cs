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

    /// <summary>Those that are in doubt, in the order of the log.</summary>
    public IReadOnlyList<InDoubt> Undecided => InOrder(static one => one.Unversioned.Count == 0);

    /// <summary>Those that are committed and have changes without a version, in the order of the log.</summary>
    public IReadOnlyList<InDoubt> Unversioned => InOrder(static one => one.Unversioned.Count > 0);

    /// <summary>Takes in what is left of one whose marker came in an earlier life.</summary>
    public void Keep(InDoubt unversioned) => _open.Add(NumberOf(unversioned.Record), unversioned);

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

        var isLate = prepared.Unversioned.Count > 0;
        if (!committed)
        {
            settled = new Settled(prepared.Sequence, [], []);
            return isLate
                ? throw new CorruptLogException(
                    $"Record {sequence} aborts {number}, which an earlier one has committed.")
                : true;
        }

        var changes = prepared.Changes;
        if (versions.Count != changes.Count)
        {
            throw new CorruptLogException($"Record {sequence} gives {versions.Count} versions to the {changes.Count} changes of record {prepared.Sequence}.");
        }

        var versioned = new List<ActorChange>(changes.Count);
        var unversioned = new List<int>();
        for (var i = 0; i < changes.Count; i++)
        {
            var isOpen = !isLate || prepared.Unversioned.Contains(i);
            if (versions[i] != InDoubt.NoVersion)
            {
                versioned.Add(isOpen
                    ? changes[i] with { Version = versions[i] }
                    : throw new CorruptLogException(
                        $"Record {sequence} gives a second version to a change of {changes[i].Actor}."));
            }
            else if (isOpen)
            {
                unversioned.Add(i);
            }
        }

        if (unversioned.Count > 0)
        {
            _open.Add(number, prepared with { Unversioned = unversioned });
        }

        settled = new Settled(prepared.Sequence, versioned, isLate ? [] : prepared.Outcomes);
        return true;
    }

    private List<InDoubt> InOrder(Func<InDoubt, bool> which)
    {
        var some = new List<InDoubt>(_open.Values.Where(which));
        some.Sort(static (left, right) => left.Sequence.CompareTo(right.Sequence));
        return some;
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
    /// <summary>
    /// Stands in a marker for the version of a change that is committed, and whose actor's place was damaged: a later
    /// marker of the same record gives the version, before the change is checkpointed (L7, R4).
    /// </summary>
    public const long NoVersion = 0;

    /// <summary>
    /// Empty: it is in doubt. Else it is committed, and these of its changes have no version yet.
    /// </summary>
    public IReadOnlyList<int> Unversioned { get; init; } = [];

    /// <summary>What it changes, without versions.</summary>
    public IReadOnlyList<ActorChange> Changes => Record is Prepared batch ? batch.Changes : ((ActPrepared)Record).Changes;

    /// <summary>Outcomes that are true if it is committed.</summary>
    public IReadOnlyList<OutcomeRecord> Outcomes => Record is Prepared batch ? batch.Outcomes : [];

    /// <summary>The global batch; none for an ACT.</summary>
    public BatchId Global => Record is Prepared batch ? batch.Global : BatchId.None;

    /// <summary>Actors with committed changes that have no version yet.</summary>
    internal IEnumerable<ActorKey> Waiting => Unversioned.Select(i => Changes[i].Actor);

    /// <summary>Its marker.</summary>
    /// <param name="committed">What became of it.</param>
    /// <param name="versions">Of its changes; empty after an abort.</param>
    internal LogRecord MarkerOf(bool committed, IReadOnlyList<long> versions) => Record switch
    {
        Prepared batch => new Decided { Global = batch.Global, Committed = committed, Versions = versions },
        ActPrepared act => new ActEnded { Transaction = act.Transaction, Committed = committed, Versions = versions },
        _ => throw new InvalidOperationException($"A {Record.GetType().Name} is not conditional."),
    };
}

/// <summary>What a marker has settled.</summary>
/// <param name="PreparedAt">Number of the conditional record: its outcomes are read there.</param>
/// <param name="Changes">With versions.</param>
/// <param name="Outcomes">Of the requests whose roots are here.</param>
internal readonly record struct Settled(long PreparedAt, IReadOnlyList<ActorChange> Changes, IReadOnlyList<OutcomeRecord> Outcomes);
