using Snapper.Contracts;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;
using Snapper.Storage.Log.Records;

namespace Snapper.Runtime.Execution;

/// <summary>
/// The shell of the commit machine: makes records of what it queues, answers what is durable, and publishes up to which
/// batch all are final. Runs on one executor.
/// </summary>
public sealed class CommitHost
{
    private static readonly TimeSpan s_slowAfter = TimeSpan.FromMilliseconds(3);

    private readonly Worker _worker;
    private readonly int _keptMax;
    private readonly CommitMachine _machine;
    private readonly Queue<Written> _written = new();
    private readonly BatchTraces _traces;
    private readonly List<Attempt> _queuedActs = [];
    private readonly Dictionary<BatchId, (Prepared Record, long Sequence)> _parts = [];
    private readonly ActAdmission _hold;
    private readonly List<PartyView> _failed = [];
    private volatile PartyView? _undoneFor;
    private readonly ITimer _slowTimer;
    private bool _isSlowTimerSet;
    private long _toldSequence;

    public CommitHost(Worker worker, int ringSize, BatchTraces traces)
    {
        _worker = worker;
        _keptMax = worker.Options.MaxKeptResultBytes;
        var limit = new RecordLimit(worker.Options.MaxTransactionBytes, WeightOf, RecordWeight.Of);
        _machine = new CommitMachine(ringSize, limit) { Trace = worker.Trace };
        _hold = new ActAdmission(worker);
        _traces = traces;
        _slowTimer = worker.Time.CreateTimer(
            _ => worker.SendToCommit(new Message { Kind = MessageKind.LookedForSlow }), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>The transaction with whose failure the newest undo began; null: none did. From any thread.</summary>
    public PartyView? UndoneFor
    {
        get => _undoneFor;
        private set => _undoneFor = value;
    }

    /// <summary>Batches that are not final; on the commit machine's executor.</summary>
    public IReadOnlyList<Batch> Open => _machine.Open;

    public long Undos => _machine.Undos;

    /// <inheritdoc cref="CommitMachine.TakesActsBack"/>
    public bool TakesActsBack => _machine.TakesActsBack;

    /// <summary>The highest batch of which something is final; from any thread, as of about now.</summary>
    public BatchId HighestFinal => _machine.HighestFinal;

    /// <summary>Batches that were announced and are not durable yet; from any thread, as of about now.</summary>
    public int UnfinishedBatches => _machine.UnfinishedBatches;

    /// <summary>ACTs that the commit order remembers; on its executor.</summary>
    public int ActsInOrder => _machine.ActsInOrder;

    /// <summary>
    /// Forgets what the commit order knows of ACTs that are over, behind what their roots have sent by now; on the
    /// first executor.
    /// </summary>
    public void Sweep()
    {
        var over = _machine.FindOver(tid => !_worker.Acts.ContainsKey(tid.Value));
        if (over.Count > 0)
        {
            _worker.Executors[0].PostOutside(WorkItem.Run(() => _machine.Forget(over)));
        }
    }

    private void NoteFailed(TransactionId tid, BatchId bid)
    {
        foreach (var batch in _machine.Open)
        {
            if (batch.Bid == bid && batch.Tickets[batch.MemberOf(tid)].Request is Request request)
            {
                _failed.Add(Worker.PartyOf(request, tid.Value, age: 0));
                return;
            }
        }
    }

    private long WeightOf(Component component)
    {
        var bytes = CommitRecords.WeightOf(component, _keptMax);
        var most = _worker.Options.MaxTransactionBytes;
        if (bytes > most && component.Batch is { IsGlobal: true, Tickets.Length: 1 })
        {
            _worker.WeighsParts = true;
        }

        return _worker.SchedulingPolicy.BatchTakenForTooLarge() ? most + 1 : bytes;
    }

    /// <summary>Number of the newest record that the checkpointer knows, or that recovery has checkpointed; from any thread.</summary>
    public long CheckpointedThrough => Volatile.Read(ref _toldSequence);

    /// <summary>Recovery has checkpointed everything up to here.</summary>
    public void StartAt(long sequence) => Volatile.Write(ref _toldSequence, sequence);

    public void Step(in Message message, OutputBuffer outputs)
    {
        _worker.Trace?.Received(message);
        if (message.Kind == MessageKind.BatchFormed)
        {
            _hold.NoteFormed(message.Bid);
            _traces.Formed(message.Batch, _worker.Time);
            _worker.RingStatistics.Formed(message.Batch);
        }

        _worker.Peers.OnCommitMessage(message);
        if (message.Kind is MessageKind.ActAborted or MessageKind.ActFinished)
        {
            _hold.NoteAttempt(metConflict: message.Kind == MessageKind.ActAborted);
        }

        var undos = _machine.Undos;
        if (message.Kind == MessageKind.PactFailed)
        {
            NoteFailed(message.Tid, message.Bid);
        }

        _machine.Step(message, outputs);
        if (_machine.Undos != undos)
        {
            UndoneFor = _failed.Count > 0 ? _failed[0] : null; // else its batch had outgrown its record
            _failed.Clear();
        }

        NotePhases(message);
        AwaitSlow(message.Kind);
    }

    /// <summary>
    /// Every few milliseconds it is looked at which batches wait for something else than this worker.
    /// </summary>
    private void AwaitSlow(MessageKind kind)
    {
        _isSlowTimerSet &= kind != MessageKind.LookedForSlow;
        if (!_isSlowTimerSet && (_machine.HoldsRecords || _machine.UnreleasedBatches >= _worker.Options.OpenBatches))
        {
            _isSlowTimerSet = true;
            _slowTimer.Change(s_slowAfter, Timeout.InfiniteTimeSpan);
        }
    }

    private void NotePhases(in Message message)
    {
        if (message.Kind == MessageKind.SubBatchCompleted)
        {
            if (_machine.LastCompleted is { } completed)
            {
                _traces.Completed(completed, completed.SubBatchOf(message.Count).Actor, _worker.Time);
            }
            else if (_machine.LeftWithOne is { } nearly)
            {
                _traces.LeftWithOne(nearly, nearly.SubBatchOf(message.Count).Actor, _worker.Time);
            }
        }

        var emptied = _machine.Emptied;
        for (var i = 0; i < emptied.Count; i++)
        {
            NoteEmptied(emptied[i]);
        }
    }

    /// <summary>
    /// Somebody waits in the commit order for a PACT that has not ended (W4); on the commit machine's executor.
    /// </summary>
    public bool HasWaitersBehind(TransactionId tid, BatchId bid) => _machine.HasWaitersBehind(tid, bid);

    /// <summary>
    /// Other threads may know what is undone; before an actor is told (A5): one that is loaded then begins with it.
    /// </summary>
    public void PublishUndone() => _worker.Undone = _machine.Undone;

    /// <summary>
    /// Other threads may know what is final; when its records are queued: an actor without work leaves memory, and
    /// waits for what the log's queue holds by then (L8).
    /// </summary>
    public void PublishFinal()
    {
        _worker.Final = _machine.Final;
        _hold.Release();
    }

    /// <summary>Called behind each step, on its executor; null: nothing waits for the commit order.</summary>
    public Action? Progressed { get; set; }

    /// <summary>Starts the ACTs that died of the locks of those that were just queued.</summary>
    public void StartAwaiting()
    {
        if (_queuedActs.Count == 0)
        {
            return;
        }

        // H4: their ends were sent just now, so that whoever starts finds the locks free.
        foreach (var attempt in _queuedActs)
        {
            _worker.StartAwaiting(attempt);
        }

        _queuedActs.Clear();
    }

    private void NoteEmptied(Batch batch)
    {
        if (batch.IsEmpty)
        {
            _traces.Emptied(batch, _worker.Time);
            return;
        }

        _traces.Queued(batch, _worker.Time);
        if (batch.IsSettled)
        {
            _traces.Committed(batch, _worker.Time);
        }
    }

    /// <inheritdoc cref="ActAdmission.TryHold"/>
    public bool TryHold(Request request) => _hold.TryHold(request);

    /// <summary>Queues the record of a batch or an ACT; what needs none waits for the next flush all the same (L5).</summary>
    public void Append(object item)
    {
        if (item is ActOutcome { Unfit: { } unfit } refused)
        {
            // Its root had ended well; from here on nothing but the commit order can change what becomes of it.
            var request = Request.Of(refused);
            request.Abort = unfit;
            request.Result = null;
            _worker.NoteAbort(request.Attempt!, unfit, repeated: false);
        }

        LogRecord? record = item switch
        {
            CommitSet set => CommitRecords.Of(set, _keptMax, _worker.UnixMs()),
            ActOutcome act => CommitRecords.Of(act, _keptMax, _worker.UnixMs()),
            PreparedPart part => CommitRecords.Prepare(part.Batch, _keptMax, _worker.UnixMs()),
            DecidedPart part => CommitRecords.Of(part),
            PreparedAct part => CommitRecords.Of(part),
            DecidedAct part => CommitRecords.Of(part),
            LateMarker late => late.Marker,
            LateOutcome late => CommitRecords.Of(late, _keptMax, _worker.UnixMs()),
            _ => throw new Snapper.Protocol.ProtocolViolationException($"Nothing is known of how to log a {item.GetType().Name}."),
        };
        long ticket;
        long sequence = 0;
        if (record is null)
        {
            ticket = _worker.Log.EnqueueBarrier();
        }
        else
        {
            ticket = _worker.Log.Enqueue(record, out sequence);
        }

        _written.Enqueue(new Written(record, sequence));
        switch (item)
        {
            case CommitSet queued:
                foreach (var component in queued.Components)
                {
                    NoteSequence(component, sequence);
                }

                if (queued.Batch.OpenComponents == 0)
                {
                    _traces.Queued(queued.Batch, _worker.Time);
                }

                break;
            case PreparedPart prepared:
                _parts.Add(prepared.Batch.Bid, ((Prepared)record!, sequence));
                _traces.InTurn(prepared.Batch, _worker.Time);
                break;
            case DecidedPart decided:
                AppendDecided(decided);
                break;
            case LateOutcome late:
                late.Request.Sequence = sequence;
                break;
            case ActOutcome act:
                NoteSequence(Request.Of(act), act.Committed, sequence);
                if (CommitRecords.IsDecision(act))
                {
                    _worker.Peers.OnDecided(act, sequence);
                }

                if (_worker.Acts.TryRemove(act.Tid.Value, out var attempt))
                {
                    _queuedActs.Add(attempt);
                }

                break;
        }

        _worker.Trace?.Queued(item, record, sequence, ticket);
        _machine.Queued(item, ticket);
    }

    /// <summary>The item is durable: answer its requests, in bid order by the order of the calls (L5).</summary>
    public void Reply(object item)
    {
        var written = _written.Dequeue();
        _worker.Trace?.Answered(item);
        if (written.Record is not null)
        {
            CommitRecords.Settle(item, written.Record);

            // Before the answers: whoever reads after an answer finds at least this state.
            _worker.Checkpoints.OnDurable(written.Record, written.Sequence);
            Volatile.Write(ref _toldSequence, written.Sequence);
        }

        switch (item)
        {
            case CommitSet set:
                if (set.Batch.IsSettled)
                {
                    _traces.Committed(set.Batch, _worker.Time);
                }

                foreach (var component in set.Components)
                {
                    NoteDurable(component);
                    Answer(component);
                }

                break;
            case ActOutcome act:
                Answer(Request.Of(act), act.Committed, null);
                break;
            case LateOutcome late:
                AnswerNow(late.Request, late.Committed);
                break;
            case PreparedPart part:
                _traces.Prepared(part.Batch, _worker.Time);
                break;
            case DecidedPart { Committed: true } part:
                _traces.Committed(part.Batch, _worker.Time);
                NoteDurable(part.Batch.Components[0]);
                break;
            case DecidedAct decided:
                _worker.Peers.OnMarked(decided.Part);
                break;
        }
    }

    private void NoteDurable(Component component)
    {
        for (var i = component.FirstMember; i >= 0; i = component.Batch.NextMember(i))
        {
            _worker.Watch.Timelines.Durable(new TransactionId(component.Batch.Bid.Value + i));
        }
    }

    private void Answer(Component component)
    {
        var batch = component.Batch;
        for (var i = batch.FirstRoot(component); i >= 0; i = batch.NextRoot(i))
        {
            Answer(Request.Of(batch.Tickets[i]), batch.StateOf(i) == MemberState.Committed, batch);
        }
    }

    private void Answer(Request request, bool isCommitted, Batch? batch)
    {
        if (!request.HasCallerKey && request.Sequence == 0 && CommitRecords.IsKept(request, isCommitted))
        {
            request.Settle();
            if (request.IsToldInDoubt)
            {
                // I3: its id is kept as a caller's is. No caller is told the outcome before that has a record.
                _worker.PostToCommits(() => Record(new LateOutcome(request, isCommitted, batch)));
                return;
            }
        }

        AnswerNow(request, isCommitted);
    }

    private void Record(LateOutcome late)
    {
        if (_worker.RequestManager.IsRecordedLate(late.Request))
        {
            Append(late);
        }
        else
        {
            AnswerNow(late.Request, late.Committed); // without a record: its id is free
        }
    }

    private void AnswerNow(Request request, bool isCommitted) => _worker.RequestManager.Answer(
        request, request.Envelope(isCommitted ? Outcome.Committed : Outcome.Aborted));

    /// <summary>
    /// The outcome of this worker's part of a global batch is known. Its requests are answered now: the decision is durable at the master, and their results are in the
    /// <c>Prepared</c> (L5).
    /// </summary>
    private void AppendDecided(DecidedPart decided)
    {
        var batch = decided.Batch;
        _parts.Remove(batch.Bid, out var prepared);
        if (!decided.Committed)
        {
            return;
        }

        NoteSequence(batch.Components[0], prepared.Sequence);
        CommitRecords.Settle(batch.Components[0], prepared.Record);
        _traces.Queued(batch, _worker.Time);
        Answer(batch.Components[0]);
        _worker.Peers.OnFinal(batch);
    }

    private static void NoteSequence(Component component, long sequence)
    {
        var batch = component.Batch;
        for (var i = batch.FirstRoot(component); i >= 0; i = batch.NextRoot(i))
        {
            NoteSequence(Request.Of(batch.Tickets[i]), batch.StateOf(i) == MemberState.Committed, sequence);
        }
    }

    private static void NoteSequence(Request request, bool isCommitted, long sequence) =>
        request.Sequence = CommitRecords.HasOutcome(request, isCommitted) ? sequence : 0;

    private readonly record struct Written(LogRecord? Record, long Sequence);
}
