using System.Collections.Concurrent;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Transactions;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Storage.Log;

namespace Snapper.Runtime.Requests;

/// <summary>
/// The worker's door: checks ids of requests that were admitted, hands them to coordinators or executors, and answers. Thread-safe.
/// </summary>
public sealed class RequestManager : IRequestManager, IDisposable
{
    /// <summary>What the caller is told when an outcome is known and found neither in the log nor in the store.</summary>
    internal const string OutcomeIsMoving = "The outcome of this id is being moved; ask again.";

    private const string OutcomeOfGenerated =
        "This id was generated, and it is not known any more for which request: ask by id what became of it.";

    // The oldest ids go once a minute.
    private static readonly TimeSpan s_fullRetry = TimeSpan.FromSeconds(10);

    private const string Unreachable = "The log cannot be reached.";

    private readonly Worker _worker;
    private readonly Admission _admission;
    private readonly IdempotencyIndex _ids;

    // Their answers wait for the log to say whose it is.
    private readonly ConcurrentDictionary<Request, bool> _checking = new();
    private readonly DeadlineWheel _wheel;
    private readonly string _idPrefix;
    private long _nextId;
    private int _inFlight;
    private int _looking;

    public RequestManager(Worker worker, string idPrefix)
    {
        _worker = worker;
        _admission = new Admission(worker);
        _ids = new IdempotencyIndex(worker.Options, worker.Time.TimestampFrequency);
        _wheel = new DeadlineWheel(
            worker.Time, worker.Options.TurnTick, OnExpired, worker.Tick, worker.SchedulingPolicy);
        _idPrefix = idPrefix;
    }

    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>Requests whose ids are looked for in the store before they begin.</summary>
    public int Looking => Volatile.Read(ref _looking);

    /// <summary>Requests that have a deadline.</summary>
    public int Deadlines => _wheel.Count;

    public long KeptIds => _ids.Kept;

    /// <summary>The ids of callers.</summary>
    public IdempotencyIndex Ids => _ids;

    public Task<TransactionEnvelope> Submit(TransactionRequest asked, CancellationToken cancellation)
    {
        if (_admission.Check(asked, InFlight, out var admitted) is { } refusal)
        {
            return Refused(asked, refusal, cancellation);
        }

        if (asked.Id is null && StoreFullFor(admitted.Method) is { } full)
        {
            return Task.FromResult(Rejected(asked, new Rejection(RejectionKind.Full, full, s_fullRetry)));
        }

        var now = _worker.Time.GetTimestamp();
        _worker.Callers.Note(asked.CountedFor, now);
        var request = new Request(
            asked, admitted.Method, admitted.Input, asked.Id ?? NewId(), asked.Id is null ? default : RequestHash.Of(asked), admitted.Declared, _worker.Options.AnswersInline)
        {
            ReceivedAt = now,
            Deadline = now + (long)(asked.Timeout.TotalSeconds * _worker.Time.TimestampFrequency),
        };
        return asked.Id is null ? Begin(request, cancellation) : BeginWithKey(request, cancellation);
    }

    public async Task<TransactionEnvelope?> Find(string id, CancellationToken cancellation)
    {
        if (NameRules.RequestIdError(id) is not null)
        {
            return null;
        }

        if (_ids.TryFind(RequestHash.OfId(id), out var running, out var done))
        {
            if (running is not null)
            {
                return running.Envelope(running.IsClosed || running.Phase == TransactionPhase.Ended ? Outcome.InDoubt : Outcome.Running);
            }

            return await Look(id, done.Sequence, cancellation).ConfigureAwait(false);
        }

        return await Look(id, 0, cancellation).ConfigureAwait(false);
    }

    public List<Request> UnderWay() => _wheel.UnderWay();

    public void Dropped(Request request, AbortReason reason)
    {
        request.Abort = AbortInfo.BeforeStart(reason);
        Answer(request, request.Envelope(Outcome.Aborted));
    }

    public void Answer(Request request, TransactionEnvelope envelope)
    {
        if (!request.TryClose())
        {
            return;
        }

        request.Phase = TransactionPhase.Answered;
        _wheel.Remove(request);
        var reason = envelope.Abort?.Reason ?? AbortReason.None;
        if (request.HasCallerKey)
        {
            End(request, reason);
        }

        _worker.NoteEnded(request, envelope.Outcome, reason);
        if (request.HasCallerKey && !AbortReasons.IsKept(reason))
        {
            request.Settle(); // nothing of it begins any more
            _ = AnswerAsOwner(request, envelope);
            return;
        }

        if (!request.TryAnswer(envelope) && !request.HasCallerKey)
        {
            End(request, reason); // it was answered in doubt: its id is kept as a caller's is
        }

        Interlocked.Decrement(ref _inFlight);
    }

    private void End(Request request, AbortReason reason)
    {
        KeptOutcome? kept = AbortReasons.IsKept(reason) && request.Sequence > 0
            ? new KeptOutcome(request.Hash(), request.Sequence)
            : null;
        _ids.End(request.Key, request, kept, _worker.Time.GetTimestamp(), request.IdAccount);
    }

    public bool IsRecordedLate(Request request) =>
        request.IsToldInDoubt && !request.IsClosed
        && _ids.TryFind(request.Key, out var running, out _) && ReferenceEquals(running, request)
        && _worker.Failure is not LogLostFailure
        && _worker.Peers.Ownership?.MayNumber(request.Asked.Actor) != false;

    /// <summary>
    /// Nothing of this sending has effects. Of the id that says nothing: who owns its root now, or this worker's log,
    /// may have run another one, of which a life that was replaced knows nothing.
    /// </summary>
    private async Task AnswerAsOwner(Request request, TransactionEnvelope envelope)
    {
        _checking[request] = true;
        if (_worker.IsOver || _worker.MayHaveRunElsewhere(request.Asked.Actor)
            || !await _worker.IsStillOwner().ConfigureAwait(false)
            || _worker.MayHaveRunElsewhere(request.Asked.Actor))
        {
            envelope = request.Envelope(Outcome.InDoubt);
        }
        else if (_ids.TryFind(request.Key, out _, out _))
        {
            // Another sending of the id came meanwhile, and has committed, or may: the flush that let this answer go
            // may have its record.
            envelope = request.Envelope(Outcome.InDoubt);
        }

        EndCheck(request, envelope);
    }

    private void EndCheck(Request request, TransactionEnvelope envelope)
    {
        if (_checking.TryRemove(request, out _))
        {
            request.TryAnswer(envelope);
            Interlocked.Decrement(ref _inFlight);
        }
    }

    public void Release(Request request)
    {
        if (request.HasCallerKey)
        {
            _ids.End(request.Key, request, null, 0);
        }
    }

    public void AnswerFromElsewhere(Request request, TransactionEnvelope envelope)
    {
        if (!request.TryClose())
        {
            return;
        }

        request.Phase = TransactionPhase.Answered;
        _wheel.Remove(request);
        if (!request.TryAnswer(envelope) && !request.HasCallerKey)
        {
            _ids.End(request.Key, request, null, 0); // it was answered in doubt; who owns the root knows it by its id
        }

        Interlocked.Decrement(ref _inFlight);
    }

    public void InDoubt(Request request)
    {
        if (!request.HasCallerKey)
        {
            _ids.Register(request.Key, request);
        }

        var answered = request.TryAnswerInDoubt(request.Envelope(Outcome.InDoubt));
        if (!answered && !request.HasCallerKey && !request.IsToldInDoubt)
        {
            _ids.End(request.Key, request, null, 0); // the answer was quicker
        }
    }

    /// <summary>
    /// The worker is over: nobody may wait for ever. What had begun is in doubt; asking again by id decides. What had not is certainly not executed if the worker has come to its
    /// end, or if its log takes nothing of this life any more. After any other failure the executors go on until the process ends, and what waits may still begin, and commit.
    /// </summary>
    private void GiveUp(Request request)
    {
        if (request.Phase == TransactionPhase.Waiting && request.Attempts == 0
            && _worker.Failure is null or LogLostFailure { TakesNoMore: true })
        {
            request.Abort = new AbortInfo(AbortReason.Failure, "The worker stopped before the request was executed.");
            Answer(request, request.Envelope(Outcome.Aborted));
            return;
        }

        if (!request.TryClose())
        {
            return;
        }

        _wheel.Remove(request);
        InDoubt(request);
        Interlocked.Decrement(ref _inFlight);
    }

    public void GiveUpAll()
    {
        foreach (var request in _wheel.UnderWay())
        {
            GiveUp(request);
        }

        foreach (var (request, _) in _checking)
        {
            EndCheck(request, request.Envelope(Outcome.InDoubt)); // the log answers no more
        }
    }

    public void Forget(long before) => _ids.Forget(before);

    public void Dispose() => _wheel.Dispose();

    /// <summary>After a start: an outcome that the log holds.</summary>
    public void Recovered(string id, UInt128 requestHash, long sequence) =>
        _ids.End(RequestHash.OfId(id), null, new KeptOutcome(requestHash, sequence), _worker.Time.GetTimestamp());

    private void OnExpired(Request request)
    {
        if (_worker.IsOver)
        {
            GiveUp(request);
        }
        else
        {
            _worker.PostDeadline(request, AbortReason.Timeout);
        }
    }

    private Task<TransactionEnvelope> Begin(Request request, CancellationToken cancellation)
    {
        if (request.IsPact)
        {
            // Before its deadline counts: who finds it passed withdraws the ticket, and this thread may stand still.
            request.Ticket = new PactTicket(request.Asked.Actor, request.Declared!, request)
            {
                Marked = request.Method.Marked || _worker.SchedulingPolicy.PactTakenForMarked(),
                Coordinator = _worker.CoordinatorOf(request),
                Caller = request.Asked.CountedFor,
            };
        }

        Interlocked.Increment(ref _inFlight);
        _wheel.Add(request);
        if (_worker.IsOver)
        {
            GiveUp(request); // it came in while the worker ended
            return request.Answer;
        }

        if (request.Ticket is { } ticket)
        {
            _worker.SendToCoordinator(ticket.Coordinator, Message.NewPact(ticket));
        }
        else
        {
            _worker.ExecutorOf(request.Asked.Actor).PostStart(request, gateIsOpen: false);
        }

        return cancellation.CanBeCanceled ? Watch(request, cancellation) : request.Answer;
    }

    private async Task<TransactionEnvelope> Watch(Request request, CancellationToken cancellation)
    {
        using var registration = cancellation.UnsafeRegister(
            static state =>
            {
                var (worker, request) = ((Worker, Request))state!;
                Leave(worker, request);
            },
            (_worker, request));
        return await request.Answer.ConfigureAwait(false);
    }

    /// <summary>The last caller who leaves cancels it: others may wait for the same id.</summary>
    private static void Leave(Worker worker, Request request)
    {
        if (request.StopWaiting())
        {
            worker.PostDeadline(request, AbortReason.Cancelled);
        }
    }

    private async Task<TransactionEnvelope> BeginWithKey(Request request, CancellationToken cancellation)
    {
        var key = request.Key;
        request.Gains = _worker.Peers.Gains;
        if ((_worker.MayHaveOlderOutcomes || _worker.SchedulingPolicy.ArchiveAskedAnyway()) && !_ids.TryFind(key, out _, out _))
        {
            // Copied out of the log before the last start: only the store knows it. Nothing is registered meanwhile: whoever asks for the id is not told
            // that it runs, and whoever sends it rightly is not refused, while another one looks for it that may be wrong. What begins and ends
            // until the store has answered is found by TryBegin.
            var (earlier, hash, why) = await LookInArchives(request.Id, cancellation).ConfigureAwait(false);
            if (why is not null)
            {
                return InDoubt(request.Asked, why);
            }

            if (earlier is not null)
            {
                return hash == request.RequestHash ? earlier : OfAnother(request.Asked, hash);
            }
        }

        var full = _ids.Refusal(request.Asked.CountedFor, _worker.Time.GetTimestamp(), out var account)
            ?? StoreFullFor(request.Method);
        if (full is not null && !_ids.TryFind(key, out _, out _))
        {
            // Of what was asked for before, the answer needs no more room.
            var refusal = new Rejection(RejectionKind.Full, full, s_fullRetry);
            return _worker.MayBeReplaced || _worker.MayHaveRunElsewhere(request.Asked.Actor)
                ? InDoubt(request.Asked, full, refusal)
                : await RefuseUnknown(request.Asked, refusal).ConfigureAwait(false);
        }

        request.IdAccount = account;
        return _ids.TryBegin(key, request, out var running, out var done)
            ? await Begin(request, cancellation).ConfigureAwait(false)
            : await Join(request, running, done, cancellation).ConfigureAwait(false);
    }

    /// <summary>
    /// Why a new transaction with this root has no room in the store; null: it has, or leaves nothing there.
    /// </summary>
    private string? StoreFullFor(RootMethod method) => method.Method.ReadOnly ? null : _worker.StoreFull;

    private async Task<TransactionEnvelope> Join(Request request, Request? running, KeptOutcome done, CancellationToken cancellation)
    {
        var known = running is null ? done.RequestHash : running.Hash();
        if (known != request.RequestHash)
        {
            return OfAnother(request.Asked, known);
        }

        if (running is not null)
        {
            var waits = running.TryWait();
            try
            {
                var answer =
                    await running.Answer.WaitAsync(request.Asked.Timeout, _worker.Time,
                    cancellation).ConfigureAwait(false);
                if (waits || answer.Abort?.Reason != AbortReason.Cancelled)
                {
                    return answer;
                }
            }
            catch (Exception exception) when (exception is TimeoutException or OperationCanceledException)
            {
                if (waits)
                {
                    Leave(_worker, running);
                }

                return running.Envelope(Outcome.InDoubt);
            }

            // Its callers had left before this one came: it was cancelled for them, and not for this one.
            return await BeginWithKey(request, cancellation).ConfigureAwait(false);
        }

        return await Kept(request.Asked, done, cancellation).ConfigureAwait(false);
    }

    private async Task<TransactionEnvelope> Kept(TransactionRequest asked, KeptOutcome done, CancellationToken cancellation)
    {
        var kept = await Look(asked.Id!, done.Sequence, cancellation).ConfigureAwait(false);
        return kept is null ? InDoubt(asked, OutcomeIsMoving) : kept.Rejection is { } why ? InDoubt(asked, why.Detail) : kept;
    }

    private static string WhyUnknown(Exception exception) => exception is CorruptLogException ? "Outcomes cannot be read: " + exception.Message : Unreachable;

    /// <summary>What is asked by id cannot be answered while the log is away, or damaged: that is no decision about the id.</summary>
    private async Task<TransactionEnvelope?> Look(string id, long sequence, CancellationToken cancellation)
    {
        try
        {
            return await _worker.ReadOutcome(id, sequence, cancellation).ConfigureAwait(false);
        }
        catch (Exception exception) when (StorageFaults.IsPassing(exception)
            || exception is CorruptLogException or ObjectDisposedException) // the last: the process ends
        {
            return new TransactionEnvelope { Id = id, Outcome = Outcome.Rejected, Rejection = new Rejection(RejectionKind.Unavailable, WhyUnknown(exception), Admission.ShortRetry) };
        }
    }

    /// <summary>
    /// Nothing of this sending is executed. An earlier one of the same id may have been, so the id is looked up. An envelope without that look is in doubt and carries the
    /// rejection: a worker that made the id for this sending knows that there was no other.
    /// </summary>
    private Task<TransactionEnvelope> Refused(TransactionRequest asked, Rejection refusal, CancellationToken cancellation)
    {
        if (asked.Id is null || NameRules.RequestIdError(asked.Id) is not null)
        {
            return Task.FromResult(Rejected(asked, refusal));
        }

        if (_ids.TryFind(RequestHash.OfId(asked.Id), out _, out var done))
        {
            return refusal.Kind is RejectionKind.Unavailable or RejectionKind.Overloaded ? Task.FromResult(InDoubt(asked, refusal.Detail))
                : done.RequestHash == RequestHash.Of(asked) ? Kept(asked, done, cancellation) // this version of the worker does not know what it asks for any more
                : done.RequestHash == default ? Task.FromResult(OfAnother(asked, default)) // a generated id
                : Task.FromResult(Rejected(asked, refusal));
        }

        // No other worker has run it, unless this one was replaced (R4), or the root has moved, and it does not know.
        var isUnsure = _worker.MayBeReplaced || _worker.MayHaveRunElsewhere(asked.Actor);
        var looks = _worker.MayHaveOlderOutcomes;
        if (!looks && !isUnsure && _worker.Peers.IsAlone)
        {
            return Task.FromResult(Rejected(asked, refusal));
        }

        // A worker that is closed looks nothing up: its log may be away. What another runs is in no archive at first.
        var isInVain = isUnsure || (looks && refusal.Kind == RejectionKind.Unavailable);
        return isInVain || Looking >= _worker.Options.MaxInFlight
            ? Task.FromResult(InDoubt(asked, refusal.Detail, refusal))
            : LookAndRefuse(asked, refusal, looks, cancellation);
    }

    private async Task<TransactionEnvelope> LookAndRefuse(
        TransactionRequest asked, Rejection refusal, bool looks, CancellationToken cancellation)
    {
        if (looks)
        {
            var (earlier, hash, why) = await LookInArchives(asked.Id!, cancellation).ConfigureAwait(false);
            if (why is not null)
            {
                return InDoubt(asked, why, refusal);
            }

            if (earlier is not null)
            {
                var isKnown = hash == default || refusal.Kind == RejectionKind.Overloaded;
                return hash == RequestHash.Of(asked) ? earlier
                    : isKnown ? OfAnother(asked, hash) : Rejected(asked, refusal);
            }
        }

        return await RefuseUnknown(asked, refusal).ConfigureAwait(false);
    }

    /// <summary>Nothing is known of the id here: the owner of its root alone knows what became of it.</summary>
    private async Task<TransactionEnvelope> RefuseUnknown(TransactionRequest asked, Rejection refusal)
    {
        Interlocked.Increment(ref _looking);
        var isOwner = _worker.Peers.IsAlone || await _worker.IsStillOwner().ConfigureAwait(false);
        Interlocked.Decrement(ref _looking);
        return isOwner ? Rejected(asked, refusal) : InDoubt(asked, refusal.Detail, refusal);
    }

    /// <returns>The outcome of the id and the request that it was of; or why that cannot be known now.</returns>
    private async Task<(TransactionEnvelope? Earlier, UInt128 Hash, string? Why)> LookInArchives(string id, CancellationToken cancellation)
    {
        Interlocked.Increment(ref _looking);
        try
        {
            var (earlier, hash) = await _worker.ReadArchived(id, cancellation).ConfigureAwait(false);
            return (earlier, hash, null);
        }
        catch (Exception exception) when (exception is not Snapper.Protocol.ProtocolViolationException)
        {
            return (null, default, WhyUnknown(exception));
        }
        finally
        {
            Interlocked.Decrement(ref _looking);
        }
    }

    /// <summary>
    /// The id was another request's, or may be this one's: of a generated id whose caller was told "in doubt" behind
    /// its record, that does not say of what it is.
    /// </summary>
    private static TransactionEnvelope OfAnother(TransactionRequest asked, UInt128 known) =>
        known == default ? InDoubt(asked, OutcomeOfGenerated) : Rejected(asked, OtherRequest());

    /// <summary>Of an id that may have an outcome nobody may say that it was not executed.</summary>
    private static TransactionEnvelope InDoubt(TransactionRequest asked, string why, Rejection? refusal = null) =>
        new() { Id = asked.Id!, Outcome = Outcome.InDoubt, Mode = asked.Mode, Doubt = why, Rejection = refusal };

    private static Rejection OtherRequest() =>
        new(RejectionKind.IdConflict, "This id was used for another request.");

    private static TransactionEnvelope Rejected(TransactionRequest asked, Rejection rejection) => new()
    {
        Id = asked.Id ?? string.Empty,
        Outcome = Outcome.Rejected,
        Mode = asked.Mode,
        Rejection = rejection,
    };

    private string NewId() => string.Create(
        System.Globalization.CultureInfo.InvariantCulture, $"{_idPrefix}{Interlocked.Increment(ref _nextId)}");
}
