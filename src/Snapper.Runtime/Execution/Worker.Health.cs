using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.States;

namespace Snapper.Runtime.Execution;

/// <summary>What can go wrong with a worker, and reading outcomes back.</summary>
public sealed partial class Worker : ILogObserver
{
    private const string Starting = "The worker is starting.";

    private const int LoadFailuresToldEveryMs = 1000;

    private static readonly TimeSpan s_ownerCheck = TimeSpan.FromSeconds(1);

    private readonly WorkerParts _parts;
    private readonly Promise<bool> _over;
    private long _olderOutcomesUntil;
    private volatile string? _unavailable = Starting;
    private volatile string? _writeOutage;
    private volatile string? _probeOutage;
    private volatile string? _storeFull;
    private readonly Lock _loadFailures = new();
    private long? _loadFailureToldAt;
    private int _loadFailuresUntold;
    private readonly ConcurrentDictionary<string, string> _newerStates = new(StringComparer.Ordinal);
    private Exception? _failure;
    private volatile bool _isOver;

    /// <summary>Why requests are refused; null: they are not.</summary>
    public string? Unavailability => _unavailable ?? LogOutage;

    /// <summary>Why nothing new is let in that may write: the store has hardly room; null: it has.</summary>
    public string? StoreFull => _storeFull;

    /// <summary>Why the log cannot be used now, as the writer or the probe found last; null: it can.</summary>
    public string? LogOutage => _writeOutage ?? _probeOutage;

    /// <summary>
    /// Another may own what this worker owned, and have run requests for it: it has failed, or its log is away. A log
    /// that answers says more (<see cref="IsStillOwner"/>).
    /// </summary>
    public bool MayBeReplaced =>
        Failure is not null || Peers.MayBeReplaced;

    /// <summary>
    /// Asks the log whether it is this life's now (L5). Its lease alone does not say so: it may have been evicted
    /// though that lives (R5), and on a machine that stood still no clock has gone on.
    /// </summary>
    /// <returns>False: it is another's, or has not said so within a second.</returns>
    public async Task<bool> IsStillOwner()
    {
        try
        {
            Log.EnqueueBarrier();
            await Log.Drain(CancellationToken.None).WaitAsync(s_ownerCheck, Time).ConfigureAwait(false);
            if (!Options.AnswersInline)
            {
                // Callers go on from here, and not on the thread on which the log has answered: it has groups to send.
                await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
            }

            return !MayBeReplaced;
        }
        catch (Exception exception) when (exception is TimeoutException or LogLostException or ObjectDisposedException)
        {
            return false;
        }
    }

    /// <summary>
    /// What an id did whose root this is another may know alone: who has replaced this worker, or to whom the root has
    /// moved, of which its source hears last.
    /// </summary>
    public bool MayHaveRunElsewhere(ActorKey root) => Failure is LogLostFailure || Peers.MayKnow(root);

    /// <summary>The broken invariant, or the lost log, that stopped the worker; null: none.</summary>
    public Exception? Failure => Volatile.Read(ref _failure);

    /// <summary>It failed or was stopped: what is still under way here will not be answered by its outcome.</summary>
    public bool IsOver => _isOver;

    /// <summary>Completes when <see cref="IsOver"/> becomes true.</summary>
    public Task Over => _over.Task;

    /// <summary>Ids may have outcomes that only the store knows; false once the window since the start has passed.</summary>
    public bool MayHaveOlderOutcomes { get => field && Time.GetTimestamp() < Volatile.Read(ref _olderOutcomesUntil); private set; }

    /// <summary>Actors came here from another worker: outcomes of their requests are in the store.</summary>
    public void NoteGained()
    {
        Volatile.Write(ref _olderOutcomesUntil, Time.GetTimestamp() + TicksOf(Options.IdempotencyWindow));
        MayHaveOlderOutcomes = true;
    }

    private long TicksOf(TimeSpan span) => (long)(span.TotalSeconds * Time.TimestampFrequency);

    /// <summary>Forgets ids whose windows have ended, and then, when no memory needs them, their copies.</summary>
    public Task ForgetOldIds()
    {
        RequestManager.Forget(Time.GetTimestamp() - TicksOf(Options.IdempotencyWindow));
        return Checkpoints.DropOutcomes();
    }

    public long QueuedLogBytes => Log.QueuedBytes;

    public ILogger Logger => _parts.Logger;

    /// <summary>Requests are let in, unless it has failed while it started.</summary>
    public void Open() => Interlocked.CompareExchange(ref _unavailable, null, Starting);

    /// <summary>Requests are refused from now on.</summary>
    public void Close(string why) => _unavailable = why;

    /// <summary>Lets requests in again, unless it was closed for another reason meanwhile.</summary>
    public void Reopen(string closedBecause) => Interlocked.CompareExchange(ref _unavailable, null, closedBecause);

    /// <summary>Waits for the requests under way, those that other workers run included; no longer than <see cref="WorkerOptions.DrainTimeout"/>.</summary>
    public async Task Drain()
    {
        var until = Time.GetTimestamp() + (long)(Options.DrainTimeout.TotalSeconds * Time.TimestampFrequency);
        while ((RequestManager.InFlight > 0 || Peers.Forwarded > 0) && Failure is null && Time.GetTimestamp() < until)
        {
            await Task.Delay(TimeSpan.FromMilliseconds(10), Time, CancellationToken.None).ConfigureAwait(false);
        }
    }

    public void StopLoading() => _stopping.Cancel();

    /// <summary>Nothing moves any more: whoever still waits is answered.</summary>
    public void End()
    {
        _isOver = true;
        RequestManager.GiveUpAll();
        Peers.GiveUpForwarded();
        _over.TrySet(true);
    }

    /// <summary>Never goes on with a state that it cannot explain: no request is let in or answered any more.</summary>
    public void Fail(Exception exception)
    {
        if (Interlocked.CompareExchange(ref _failure, exception, null) is not null)
        {
            return;
        }

        _unavailable = "The worker has stopped: " + exception.Message;
        if (exception is LogLostFailure { Status: AppendStatus.Gap or AppendStatus.Behind })
        {
            RuntimeLog.StoreLost(Logger, Options.Name, exception.Message);
        }

        RuntimeLog.WorkerFailed(Logger, exception, exception.Message);
        End();
        _parts.Failed(exception);
    }

    void ILogObserver.Flushed(long ticket) =>
        SendToCommit(new Snapper.Protocol.Messages.Message { Kind = Snapper.Protocol.Messages.MessageKind.Flushed, Value = ticket });

    void ILogObserver.Unavailable(string detail)
    {
        _writeOutage = "The log cannot be written: " + detail;
        RuntimeLog.LogUnavailable(Logger, detail);
    }

    void ILogObserver.Available()
    {
        _writeOutage = null;
        RuntimeLog.LogAvailable(Logger);
    }

    void ILogObserver.Lost(AppendStatus status, string detail) => NoteLost(status, detail, takesNoMore: true);

    /// <summary>
    /// What is under way, checkpoints, trims and moves go on in a store that is nearly full, and must fit: they are
    /// what makes room in it.
    /// </summary>
    public void NoteStoreMemory(StoreMemory memory)
    {
        if (memory.MaxBytes == 0 || memory.UsedBytes < Options.StoreFullAt * memory.MaxBytes)
        {
            if (_storeFull is not null)
            {
                RuntimeLog.StoreHasRoom(Logger, memory.UsedBytes, memory.MaxBytes);
                _storeFull = null;
            }

            return;
        }

        if (_storeFull is null)
        {
            RuntimeLog.StoreFull(Logger, memory.UsedBytes, memory.MaxBytes);
        }

        _storeFull = string.Create(
            System.Globalization.CultureInfo.InvariantCulture,
            $"Redis uses {100.0 * memory.UsedBytes / memory.MaxBytes:0} % of its maxmemory; from {
                100 * Options.StoreFullAt:0} % on no transaction is begun that may write.");
    }

    /// <summary>The probe got no good answer.</summary>
    public void NoteUnreachable(string detail)
    {
        if (_probeOutage is null)
        {
            RuntimeLog.LogUnavailable(Logger, detail);
        }

        _probeOutage = "The log cannot be reached: " + detail;
    }

    /// <summary>The probe was answered.</summary>
    public void NoteReachable()
    {
        if (_probeOutage is not null)
        {
            _probeOutage = null;
            RuntimeLog.LogAvailable(Logger);
        }
    }

    /// <summary>A check of the epoch found the log lost. Of several workers it may speak of another instance of the server alone, while the writer goes on: nothing is certain then.</summary>
    public void NoteLost(AppendResult check) => NoteLost(check.Status, check.Detail, takesNoMore: check.Status == AppendStatus.Fenced && Peers.IsAlone);

    private void NoteLost(AppendStatus status, string detail, bool takesNoMore) =>
        Fail(new LogLostFailure(status, $"The log is lost to this worker ({status}): {detail}", takesNoMore));

    /// <summary>
    /// In an outage of the store thousands of actors try again each second: one line a second tells of all of them.
    /// </summary>
    public void NoteLoadFailure(ActorKey actor, Exception exception)
    {
        int others;
        lock (_loadFailures)
        {
            if (_loadFailureToldAt is { } told && Time.GetElapsedTime(told).TotalMilliseconds < LoadFailuresToldEveryMs)
            {
                _loadFailuresUntold++;
                return;
            }

            (others, _loadFailuresUntold) = (_loadFailuresUntold, 0);
            _loadFailureToldAt = Time.GetTimestamp();
        }

        RuntimeLog.LoadFailed(Logger, exception, actor.ToString(), others);
    }

    /// <summary>
    /// States that newer programs have written and this one cannot read, one of each type; null: none was met.
    /// </summary>
    public string? NewerStates => _newerStates.IsEmpty
        ? null
        : string.Join(' ', _newerStates.Values.Order(StringComparer.Ordinal));

    /// <summary>The stored state of an actor cannot be used.</summary>
    /// <param name="actor">Whose.</param>
    /// <param name="why">In words.</param>
    /// <param name="newer">A newer program has written it; null: it is damaged.</param>
    public void NoteBrokenState(ActorKey actor, string why, NewerStateException? newer)
    {
        if (newer is not null)
        {
            _newerStates.TryAdd(newer.Type, why);
        }

        RuntimeLog.BrokenState(Logger, actor.ToString(), why);
    }

    public void NoteMarked(RootMethod method, AbortInfo why) => RuntimeLog.MethodMarked(Logger, method.Name, why.Message);

    public void NoteDisowned(CallFrame frame) => RuntimeLog.ExecutorStuck(Logger, frame.Where());

    /// <summary>The outcome of an id from the log or the store; null: neither has it.</summary>
    public async Task<TransactionEnvelope?> ReadOutcome(string id, long sequence, CancellationToken cancellation)
    {
        var record = sequence > 0
            ? await _parts.Outcomes.Find(sequence, id, cancellation).ConfigureAwait(false)
            : await FindArchived(id, cancellation).ConfigureAwait(false);
        return record is null ? null : EnvelopeOf(record);
    }

    public async Task<(TransactionEnvelope? Envelope, UInt128 RequestHash)> ReadArchived(string id, CancellationToken cancellation)
    {
        var record = await FindArchived(id, cancellation).ConfigureAwait(false);
        return record is null ? (null, default) : (EnvelopeOf(record), record.RequestHash);
    }

    /// <summary>An outcome that was copied out of a log: this worker's, or another's where its root may have been then.</summary>
    private async Task<OutcomeRecord?> FindArchived(string id, CancellationToken cancellation)
    {
        return await Store.FindOutcome(id, cancellation).ConfigureAwait(false)
            ?? await Peers.FindOutcome(id, cancellation).ConfigureAwait(false);
    }

    private static TransactionEnvelope EnvelopeOf(OutcomeRecord record)
    {
        var committed = record.Abort == Snapper.Protocol.Messages.AbortReason.None;
        return new TransactionEnvelope
        {
            Id = record.RequestId,
            Outcome = committed ? Outcome.Committed : Outcome.Aborted,
            Mode = record.IsAct ? TransactionMode.Act : TransactionMode.Pact,
            Transaction = record.Transaction.Value,
            Batch = record.Batch.Value,
            Attempts = record.Attempts,
            Result = committed ? record.Payload : default,
            IsResultDropped = record.IsResultDropped,
            Abort = committed ? null : AbortOf(record),
        };
    }

    private static AbortDetails AbortOf(OutcomeRecord record)
    {
        var (message, code) = AbortCode.Split(System.Text.Encoding.UTF8.GetString(record.Payload.Span));
        var isRetryable = AbortReasons.IsRetryable(record.Abort);
        return new AbortDetails(record.Abort, message, isRetryable, record.AbortActor) { Code = code };
    }
}

/// <summary>The worker's log has another owner, or lost what it had acknowledged: recovery decides what is true.</summary>
public sealed class LogLostFailure(AppendStatus status, string message, bool takesNoMore = false) : Exception(message)
{
    /// <summary>The log itself has said that it takes nothing of this life any more, or its writer has stopped: nothing that had not begun can commit.</summary>
    public bool TakesNoMore { get; } = takesNoMore;

    /// <summary>As the log or the state store said it.</summary>
    public AppendStatus Status { get; } = status;
}
