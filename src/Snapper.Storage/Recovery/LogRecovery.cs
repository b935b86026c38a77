using System.Runtime.CompilerServices;
using Snapper.Protocol.Identity;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.States;

namespace Snapper.Storage.Recovery;

/// <summary>
/// Reads a log that was opened from its first record to its end and checkpoints all of it into the stored states (R4);
/// what belongs into a place of the store that is damaged is set aside. Repeats safely.
/// </summary>
public static class LogRecovery
{
    /// <summary>Bytes of coalesced states that are gathered before they go to the store.</summary>
    internal const long FoldBytes = 64 * 1024 * 1024;
    private const int ChunkBytes = 4 * 1024 * 1024;

    /// <summary>Recovers.</summary>
    /// <param name="log">The log; opened, so that every earlier writer is fenced.</param>
    /// <param name="store">Its state store.</param>
    /// <param name="opening">What opening told.</param>
    /// <param name="sink">Hears every outcome.</param>
    /// <param name="time">Measures.</param>
    /// <param name="cancellation">Gives up; the next run starts over.</param>
    /// <param name="mayReturn">The worker is one of several: actors may have left and come back, with what others had changed meanwhile (M5).</param>
    /// <exception cref="CorruptLogException">A record is damaged, missing or out of order; says which, and where.</exception>
    /// <exception cref="LogLostException">Another writer opened the log meanwhile, or it is read on behalf of a worker that was fenced itself; the status says which.</exception>
    /// <exception cref="IOException">The store refused, for want of room or memory; run again later.</exception>
    public static Task<RecoverySummary> Run(
        ITransactionLog log, IStateStore store, LogOpening opening, IRecoverySink sink, TimeProvider time, CancellationToken cancellation, bool mayReturn = false) =>
        Run(log, store, opening, sink, time, FoldBytes, cancellation, mayReturn);

    internal static async Task<RecoverySummary> Run(
        ITransactionLog log, IStateStore store, LogOpening opening, IRecoverySink sink, TimeProvider time, long foldBytes, CancellationToken cancellation, bool mayReturn = false)
    {
        var started = time.GetTimestamp();
        var pass = new Pass(sink, opening, mayReturn);
        try
        {
            await Read(log, store, opening, pass, foldBytes, cancellation);
        }
        catch (CorruptLogException)
        {
            await CheckOwner(log, opening, cancellation);
            throw;
        }

        await Checkpoint(store, opening.Epoch, pass, cancellation);
        return pass.Summary(time.GetElapsedTime(started));
    }

    /// <summary>
    /// All records of a log, where the absence of one decides something (R2): if any is missing, nothing is.
    /// </summary>
    /// <param name="log">The log; opened, so that every earlier writer is fenced.</param>
    /// <param name="opening">What opening told.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <exception cref="CorruptLogException">A record is damaged or missing.</exception>
    /// <exception cref="LogLostException">Another opened the log meanwhile.</exception>
    public static async IAsyncEnumerable<LogRecord> ReadAll(
        ITransactionLog log, LogOpening opening, [EnumeratorCancellation] CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(log);
        ArgumentNullException.ThrowIfNull(opening);
        var next = opening.FirstSequence;
        var decoder = new GroupDecoder();
        await foreach (var group in log.Read(next, cancellation).ConfigureAwait(false))
        {
            if (group.FirstSequence > next)
            {
                break;
            }

            decoder.Start(group);
            while (decoder.MoveNext())
            {
                yield return decoder.Current;
            }

            next = group.FirstSequence + group.Count;
        }

        if (next < opening.NextSequence)
        {
            await CheckOwner(log, opening, cancellation).ConfigureAwait(false);
            throw new CorruptLogException(
                $"Record {next} is missing in a log that has records up to {opening.NextSequence - 1}.");
        }
    }

    /// <summary>Copies outcomes that a recovery found, for those who may own their actors next (I2).</summary>
    /// <exception cref="LogLostException">Another writer opened the log meanwhile.</exception>
    /// <exception cref="IOException">The store refused; run again later.</exception>
    public static async Task Copy(IStateStore store, long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation)
    {
        if (outcomes.Count > 0)
        {
            Check(await store.SaveOutcomes(epoch, outcomes, cancellation).ConfigureAwait(false), "copies of outcomes");
        }
    }

    /// <summary>
    /// Tries again to store what a recovery has set aside, while the log that it read is open for it and no other life
    /// can have written to it.
    /// </summary>
    /// <param name="store">The store of that log.</param>
    /// <param name="epoch">With which the log is open.</param>
    /// <param name="setAside">What was set aside.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns>What still is, but for changes without a version, which <see cref="Settlement"/> sees to.</returns>
    /// <exception cref="CorruptLogException">
    /// A place was repaired with a state that is older than what the changes build on.
    /// </exception>
    /// <exception cref="LogLostException">Another opened the log meanwhile.</exception>
    /// <exception cref="IOException">The store refused; run again later.</exception>
    public static async Task<IReadOnlyList<SetAside>> Store(
        IStateStore store, long epoch, IReadOnlyList<SetAside> setAside, CancellationToken cancellation)
    {
        ArgumentNullException.ThrowIfNull(store);
        ArgumentNullException.ThrowIfNull(setAside);
        Dictionary<ActorKey, CorruptLogException> damaged = [];
        List<StateCheckpoint> states =
        [
            .. setAside.Where(static one => one.Changes.IsPending)
                .Select(static one => one.Changes.ToCheckpoint(one.Actor)),
        ];
        Check(await DamagedPlaces.Checkpoint(store, epoch, states, damaged, cancellation));
        return [.. setAside.Where(one => damaged.ContainsKey(one.Actor))
            .Select(one => new SetAside(one.Actor, one.Changes, damaged[one.Actor].Message))];
    }

    /// <summary>
    /// Whoever opened the log later may have trimmed it under a reading: what is missing then was checkpointed, and
    /// nothing is damaged.
    /// </summary>
    private static async Task CheckOwner(ITransactionLog log, LogOpening opening, CancellationToken cancellation)
    {
        var check = await log.CheckEpoch(opening.Epoch, cancellation).ConfigureAwait(false);
        switch (check.Status)
        {
            case AppendStatus.Appended or AppendStatus.AlreadyThere:
                return;
            case AppendStatus.Fenced or AppendStatus.RescuerFenced:
                throw new LogLostException(check.Status, check.Detail);
            default:
                throw new IOException( // no verdict of damage on that
                    $"The log cannot be read to its end, and does not say whether another owns it: {check.Detail}");
        }
    }

    private static async Task Read(ITransactionLog log, IStateStore store, LogOpening opening, Pass pass, long foldBytes, CancellationToken cancellation)
    {
        await foreach (var group in log.Read(opening.FirstSequence, cancellation))
        {
            pass.Add(group);
            if (pass.PendingBytes > foldBytes)
            {
                await Checkpoint(store, opening.Epoch, pass, cancellation);
            }
        }

        pass.End(opening.NextSequence);
    }

    private static async Task Checkpoint(IStateStore store, long epoch, Pass pass, CancellationToken cancellation)
    {
        Dictionary<ActorKey, CorruptLogException> damaged = [];
        var chunk = new List<StateCheckpoint>();
        var bytes = 0L;
        foreach (var (actor, pending) in pass.Actors)
        {
            if (!pending.IsPending)
            {
                continue;
            }

            bytes += pending.Bytes;
            chunk.Add(pending.ToCheckpoint(actor));
            pass.ActorsCheckpointed++;
            if (bytes >= ChunkBytes)
            {
                Check(await DamagedPlaces.Checkpoint(store, epoch, chunk, damaged, cancellation));
                chunk.Clear();
                bytes = 0;
            }
        }

        // Also when it is empty: the store looks at the epoch then.
        Check(await DamagedPlaces.Checkpoint(store, epoch, chunk, damaged, cancellation));
        pass.Checkpointed(damaged);
    }

    private static void Check(AppendResult checkpointed, string what = "a checkpoint")
    {
        switch (checkpointed.Status)
        {
            case AppendStatus.Appended or AppendStatus.AlreadyThere:
                return;
            case AppendStatus.Behind:
                throw new CorruptLogException($"The log does not follow the stored states: {checkpointed.Detail}");
            case AppendStatus.Gap:
                throw new LogLostException(checkpointed.Status, checkpointed.Detail); // since this life opened it; the next one reads what is there
            case AppendStatus.Fenced or AppendStatus.RescuerFenced:
                throw new LogLostException(checkpointed.Status, checkpointed.Detail);
            default:
                throw new IOException($"The state store refused {what}: {checkpointed.Detail}");
        }
    }

    /// <summary>One reading of the log.</summary>
    private sealed class Pass(IRecoverySink sink, LogOpening opening, bool mayReturn)
    {
        private readonly GroupDecoder _decoder = new();
        private readonly List<OutcomeRecord> _outcomes = [];
        private readonly List<BatchId> _decisions = [];
        private readonly List<MovedIn> _movedIn = [];
        private readonly List<ActCommitted> _actsWithOthers = [];
        private readonly PreparedRecords _prepared = new();
        private Dictionary<ActorKey, CorruptLogException> _damaged = [];
        private long _next = opening.FirstSequence;
        private long _transaction = opening.Watermarks.Transaction;
        private long _actCounter = opening.Watermarks.ActCounter;
        private long _batch;
        private long _records;
        private long _bytes;

        public Dictionary<ActorKey, PendingActor> Actors { get; } = [];

        public long PendingBytes { get; private set; }

        public long ActorsCheckpointed { get; set; }

        public void Add(LogGroup group)
        {
            // The first group may begin before what is asked for: groups are kept whole.
            if (group.FirstSequence > _next || (group.FirstSequence < _next && _records > 0))
            {
                throw new CorruptLogException($"The log goes on with record {group.FirstSequence} where record {_next} should follow.");
            }

            try
            {
                _decoder.Start(group);
                _decoder.SkipTo(_next);
                while (_decoder.MoveNext())
                {
                    Add(_decoder.Current, _decoder.Sequence);
                    _records++;
                    _bytes += _decoder.RecordBytes;
                    _next = _decoder.Sequence + 1;
                }
            }
            catch (CorruptLogException damage)
            {
                throw new CorruptLogException($"{damage.Message} It is in the group (stream entry, frame) that begins with record {group.FirstSequence} and has {group.Count} records.");
            }
        }

        public void End(long next)
        {
            if (_next < next)
            {
                throw new CorruptLogException($"The log ends before record {_next}; records up to {next - 1} are missing.");
            }
        }

        /// <summary>All but the damaged are stored. These stay, and go to the store again with what follows.</summary>
        public void Checkpointed(Dictionary<ActorKey, CorruptLogException> damaged)
        {
            // The versions stay, to check what follows against.
            foreach (var (actor, pending) in Actors)
            {
                if (!damaged.ContainsKey(actor))
                {
                    pending.Clear();
                }
            }

            _damaged = damaged;
            ActorsCheckpointed -= damaged.Count;
            PendingBytes = 0;
        }

        public RecoverySummary Summary(TimeSpan elapsed) => new()
        {
            HighestTransaction = _transaction,
            HighestActCounter = _actCounter,
            HighestBatch = _batch,
            Records = _records,
            Bytes = _bytes,
            ActorsCheckpointed = ActorsCheckpointed,
            Elapsed = elapsed,
            Outcomes = _outcomes,
            InDoubt = _prepared.Undecided,
            Unversioned = _prepared.Unversioned,
            LastVersions = LastVersions(),
            Decisions = _decisions,
            MovedIn = _movedIn,
            ActsWithOthers = _actsWithOthers,
            SetAside = [.. _damaged.Select(one => new SetAside(one.Key, Actors[one.Key], one.Value.Message))],
        };

        private Dictionary<ActorKey, long> LastVersions()
        {
            Dictionary<ActorKey, long> last = [];
            foreach (var prepared in _prepared.Undecided.Concat(_prepared.Unversioned))
            {
                foreach (var change in prepared.Changes)
                {
                    last[change.Actor] = Actors.GetValueOrDefault(change.Actor)?.To ?? 0;
                }
            }

            return last;
        }

        private void Add(LogRecord record, long sequence)
        {
            switch (record)
            {
                case LocalBatchCommitted batch:
                    _batch = Math.Max(_batch, batch.Batch.Value);
                    _transaction = Math.Max(_transaction, batch.LastTransaction.Value);
                    Add(batch.Changes, sequence);
                    foreach (var outcome in batch.Outcomes)
                    {
                        Add(outcome, sequence);
                    }

                    break;
                case ActCommitted act:
                    _actCounter = Math.Max(_actCounter, act.Transaction.Counter);
                    if (act.Participants.Count > 0)
                    {
                        _actsWithOthers.Add(act);
                    }

                    Add(act.Changes, sequence);
                    if (act.Outcome is not null)
                    {
                        Add(act.Outcome, sequence);
                    }

                    break;
                case Prepared prepared:
                    _batch = Math.Max(_batch, prepared.Batch.Value);
                    _transaction = Math.Max(_transaction, prepared.LastTransaction.Value);
                    _prepared.Add(prepared, sequence);
                    break;
                case ActPrepared:
                    _prepared.Add(record, sequence);
                    break;
                case Decided or ActEnded:
                    if (_prepared.TrySettle(record, sequence, out var settled))
                    {
                        Add(settled.Changes, sequence);
                        foreach (var outcome in settled.Outcomes)
                        {
                            Add(outcome, settled.PreparedAt);
                        }
                    }

                    break;
                case Decision decision:
                    _decisions.Add(decision.Global);
                    break;
                case MovedIn moved:
                    _movedIn.Add(moved);
                    break;
                default:
                    throw new CorruptLogException($"Recovery knows no record of type {record.GetType().Name} ({sequence}).");
            }
        }

        private void Add(IReadOnlyList<ActorChange> changes, long sequence)
        {
            for (var i = 0; i < changes.Count; i++)
            {
                var change = changes[i];
                if (CheckpointRule.Objection(change) is { } wrong)
                {
                    throw new CorruptLogException($"Record {sequence} has a change of actor {change.Actor} that no worker makes: {wrong}.");
                }

                if (!Actors.TryGetValue(change.Actor, out var pending))
                {
                    Actors.Add(change.Actor, pending = new PendingActor());
                }

                var before = (pending.Bytes, pending.To);
                if (!pending.Add(change, mayReturn))
                {
                    throw new CorruptLogException($"Record {sequence} brings actor {change.Actor} to version {change.Version}; the change before it made version {before.To}.");
                }

                PendingBytes += pending.Bytes - before.Bytes;
            }
        }

        private void Add(OutcomeRecord outcome, long sequence)
        {
            // Generated ids too: whoever waited for one when the worker ended was told to ask for it.
            sink.Outcome(outcome, sequence);
            _outcomes.Add(outcome.WithPayloadOfItsOwn());
        }
    }
}
