using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Simulation.Rules;

/// <summary>All rules of one life of a worker: hears what it does and tells each rule what concerns it.</summary>
internal sealed class IncarnationRules : IWorkerTrace
{
    private readonly CommitOrderRules _commits;
    private readonly UndoRules _undo;
    private readonly ActorOrderRules _actors;
    private readonly OutcomeRules _outcomes;
    private readonly StorageRules _storage;
    private readonly StorageRules.LifeOnLog _onLog;

    public IncarnationRules(StorageRules storage, Action<string> violated)
    {
        _storage = storage;
        _onLog = storage.BeginLife();
        _commits = new CommitOrderRules(violated);
        _undo = new UndoRules(violated);
        _actors = new ActorOrderRules(_undo, violated);
        _outcomes = new OutcomeRules(_actors, violated);
    }

    /// <summary>Nothing is under way.</summary>
    public void AtRest() => _outcomes.AtRest();

    /// <summary>Recovery is over.</summary>
    public void Recovered(WorkerHost host) => _storage.Recovered(_onLog, host);

    public void Received(in Message message)
    {
        _storage.Steps(_onLog);
        _commits.Received(message);
        _undo.Received(message);
        if (message.Kind == MessageKind.BatchFormed)
        {
            var batch = message.Batch;
            for (var i = 0; i < batch.Tickets.Length; i++)
            {
                _storage.Numbered(_onLog, batch.Bid.Value + i);
            }
        }
    }

    public void Queued(object item, LogRecord? record, long sequence, long ticket)
    {
        _commits.Queued(item, record, sequence, ticket);
        if (item is CommitSet set)
        {
            _undo.Queued(set);
            _actors.Queued(set);
            _outcomes.Queued(set, (LocalBatchCommitted?)record);
        }
        else if (item is LateOutcome late)
        {
            _outcomes.Queued(late, record);
        }
        else
        {
            var act = (ActOutcome)item;
            _undo.Queued(act);
            _actors.Queued(act);
            _outcomes.Queued(act, (ActCommitted?)record);
        }

        _storage.Queued(_onLog, record, sequence);
    }

    public void Answered(object item)
    {
        _commits.Answered(item);
        _storage.Answered(_onLog);
        _outcomes.Answered(item);
    }

    public void Loaded(ActorKey actor, StoredState? stored, object? state)
    {
        if (state is DamagedState { HasVersion: false })
        {
            _storage.Unreadable(_onLog, actor);
            _actors.Unreadable(actor, state);
            return;
        }

        _storage.Loaded(_onLog, actor, stored);
        _actors.Loaded(actor, stored, state, _storage.IsReplaced(_onLog), _storage.IsBehind(_onLog));
    }

    public void Failed(TransactionId tid) => _outcomes.Failed(tid);

    public void Arrived(ActorKey actor, in Message message) => _actors.Arrived(actor, message);

    public void LetIn(ActorKey actor, IActorCall call)
    {
        if (call.Tid.IsAct && call.Caller is null)
        {
            _storage.Numbered(_onLog, call.Tid.Value);
        }

        _actors.LetIn(actor, call);
    }

    public void Read(ActorKey actor, IActorCall call, object? state) => _actors.Read(actor, call, state);

    public void Wrote(ActorKey actor, IActorCall call, object state) => _actors.Wrote(actor, call, state);

    public void Asked(ActorKey actor, IActorCall call, LockMode mode, LockAnswer answer) => _actors.Asked(actor, call, mode, answer);

    public void Granted(ActorKey actor, IActorCall call, LockMode mode) => _actors.Granted(actor, call, mode);

    public void Completed(ActorKey actor, BatchId bid, Change? change) => _actors.Completed(actor, bid, change);

    public void Outgrown(Component component) => _undo.Outgrown(component);

    public void Removing(IReadOnlyList<TransactionId> tids) => _undo.Removing(tids);

    public void UndoOver() => _undo.Over();
}
