using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Transactions;
using Snapper.Runtime.Inspection.Watching;

namespace Snapper.Runtime.Execution;

/// <summary>
/// One attempt of one transaction on this worker: what the executors share that it visits. Once dead, every use of its contexts throws and every late call is refused (W3, A8).
/// </summary>
public sealed class Attempt : TransactionAttempt, IWatchedAttempt
{
    /// <summary>A vote or an answer is one message, and a channel takes none of more than 3 MiB.</summary>
    private const int MaxTouched = 1000;

    private readonly Lock _lock = new();
    private readonly int[]? _calls;
    private List<ActorKey>? _participants;
    private List<int>? _participantCalls;
    private List<Door.DeclaredAccess>? _touchedElsewhere;
    private Dictionary<ActorKey, int>? _participantIndex;
    private Dictionary<ActorKey, long>? _weights;
    private List<Incarnation>? _visited;
    private List<IRemoteCall>? _remoteCalls;
    private volatile bool _wrote;
    private EndWaiters<Request> _endWaiters;
    private int _waiting;
    private long _ceil;

    public Attempt(Request request, TransactionId tid, BatchId bid, TransactionId age, Executor rootExecutor, DateTimeOffset startedAt)
        : base(tid, bid, age)
    {
        Request = request;
        RootExecutor = rootExecutor;
        StartedAt = startedAt;
        if (!tid.IsAct)
        {
            _calls = new int[request.Declared!.Length];
        }
    }

    public Request Request { get; }

    IWatchedRequest IWatchedAttempt.Request => Request;

    public override Transaction Transaction => Request;

    public Executor RootExecutor { get; }

    public DateTimeOffset StartedAt { get; }

    public CallFrame? Root { get; set; }

    /// <summary>Its root is on another worker, and this is its branch here; null: the root is here.</summary>
    public BranchOrigin? Origin { get; init; }

    bool IWatchedAttempt.IsBranch => Origin is not null;

    /// <summary>Its vote tells what it has called here. Set before the vote is queued.</summary>
    public bool IsRecorded { get; set; }

    /// <summary>Workers that have called it here (ACT). Only the first executor uses it.</summary>
    public List<Incarnation>? Callers { get; private set; }

    /// <summary>Notes a worker that has called it here; on the first executor.</summary>
    public void AddCaller(Incarnation worker)
    {
        Callers ??= [];
        if (!Callers.Contains(worker))
        {
            Callers.Add(worker);
        }
    }

    /// <summary>Calls from elsewhere that run here now; while there is none, a branch is not to blame for those who wait (W4).</summary>
    public int ActiveCalls;

    /// <summary>Some actor's state was replaced.</summary>
    public bool Wrote => _wrote;

    /// <summary>Size checks at every write and turn: set for attempts that run again after an undo.</summary>
    public bool EnforceRecordLimit { get; init; }

    /// <summary>What its states weigh so far; only of one that is <see cref="EnforceRecordLimit"/>.</summary>
    public long StatesWeight { get; private set; }

    /// <summary>Somebody looks at it; null: nobody.</summary>
    public AttemptTrace? Trace { get; set; }

    public override ReadOnlySpan<int> Calls => _calls;

    public override bool IsUndecided => RootExecutor.Worker.Acts.ContainsKey(Tid.Value);

    public override bool TryTakeBack() => RootExecutor.Worker.Acts.TryRemove(Tid.Value, out _);

    /// <summary>Position in its root executor's list of running attempts (W4).</summary>
    public LinkedListNode<Attempt>? Running { get; set; }

    /// <summary>When it began, by timestamp.</summary>
    public long BeganAt { get; init; }

    /// <summary>When somebody was last seen waiting behind it, by timestamp (W4).</summary>
    public long BlockingSeen { get; set; }

    /// <summary>Since when somebody has waited behind it, by timestamp; 0: nobody (W4).</summary>
    public long BlockingSince { get; set; }

    /// <summary>Branches that wait for a turn, a lock or a load; while there is one, the attempt is not to blame (W4).</summary>
    public int WaitingBranches => Volatile.Read(ref _waiting);

    /// <summary>The lowest batch known to stand behind it anywhere (H5); a hint, so that two executors may set it at once.</summary>
    public BatchId Ceil
    {
        get => new(Volatile.Read(ref _ceil));
        set => Volatile.Write(ref _ceil, value.Value);
    }

    public void NoteWrite() => _wrote = true;

    /// <summary>Notes what the state weighs that a turn has left; for one that is <see cref="EnforceRecordLimit"/>.</summary>
    public void NoteWeight(ActorKey actor, long bytes)
    {
        lock (_lock)
        {
            _weights ??= [];
            StatesWeight += bytes - _weights.GetValueOrDefault(actor);
            _weights[actor] = bytes;
        }
    }

    public void BranchWaits() => Interlocked.Increment(ref _waiting);

    public void BranchGoesOn() => Interlocked.Decrement(ref _waiting);

    public override bool TrySeal()
    {
        lock (_lock)
        {
            return base.TrySeal();
        }
    }

    public override bool TryAbort(AbortInfo why, bool evenSealed = false)
    {
        lock (_lock)
        {
            return base.TryAbort(why, evenSealed);
        }
    }

    public override void Override(AbortInfo why)
    {
        lock (_lock)
        {
            base.Override(why);
        }
    }

    /// <summary>Remembers a request that met this attempt's locks and died, to be started again when they are gone (W2).</summary>
    /// <returns>False: they are gone already.</returns>
    public bool TryAwaitEnd(Request request)
    {
        lock (_lock)
        {
            return _endWaiters.TryAdd(request);
        }
    }

    /// <summary>The attempt gives its locks back. Who died of them starts again, in this order.</summary>
    public List<Request>? TakeAwaitingEnd()
    {
        lock (_lock)
        {
            return _endWaiters.Take();
        }
    }

    /// <summary>Counts a call of a PACT against its declaration.</summary>
    /// <returns>0: fine; 1: the actor is not declared; 2: more calls than declared.</returns>
    public int CountCall(ActorKey actor) => CountCall(actor, out _);

    /// <summary>Counts a call of a PACT against its declaration. Of a PACT over several workers only the calls made here: its actors count all.</summary>
    /// <param name="actor">The actor.</param>
    /// <param name="index">Its index in the declaration.</param>
    /// <returns>0: fine; 1: the actor is not declared; 2: more calls than declared.</returns>
    public int CountCall(ActorKey actor, out int index)
    {
        var declared = Request.Declared!;
        for (var i = 0; i < declared.Length; i++)
        {
            if (declared[i].Actor.Equals(actor))
            {
                index = i;
                return Interlocked.Increment(ref _calls![i]) > declared[i].Calls ? 2 : 0;
            }
        }

        index = -1;
        return 1;
    }

    /// <summary>Notes an actor that an ACT is about to visit. Under the same lock as dying, so that whoever ends it knows them all.</summary>
    /// <returns>False: the attempt is dead; do not send the call.</returns>
    public bool TryAddParticipant(ActorKey actor)
    {
        lock (_lock)
        {
            if (!IsAlive)
            {
                return false;
            }

            _participants ??= new List<ActorKey>(4);
            _participantCalls ??= new List<int>(4);
            var at = IndexOfParticipant(actor);
            if (at >= 0)
            {
                _participantCalls[at]++;
                return true;
            }

            _participantIndex?.Add(actor, _participants.Count);
            _participants.Add(actor);
            _participantCalls.Add(1);
            return true;
        }
    }

    private int IndexOfParticipant(ActorKey actor)
    {
        const int FewEnoughToScan = 16;
        if (_participantIndex is null && _participants!.Count > FewEnoughToScan)
        {
            _participantIndex = [];
            for (var i = 0; i < _participants.Count; i++)
            {
                _participantIndex.Add(_participants[i], i);
            }
        }

        return _participantIndex is not null
            ? _participantIndex.GetValueOrDefault(actor, -1)
            : _participants!.IndexOf(actor);
    }

    /// <summary>Notes a worker that an ACT is about to call, or that calls under its own have visited. Under the same lock as dying, so that whoever ends it knows them all.</summary>
    /// <returns>False: the attempt is dead; do not send the call.</returns>
    public bool TryAddVisited(Incarnation worker)
    {
        lock (_lock)
        {
            _visited ??= [];
            if (!_visited.Contains(worker))
            {
                _visited.Add(worker);
            }

            return IsAlive;
        }
    }

    /// <summary>Other workers that an ACT has called from here, or that those calls have visited.</summary>
    public override Incarnation[] TakeVisited()
    {
        lock (_lock)
        {
            return _visited is null ? [] : _visited.ToArray();
        }
    }

    /// <summary>An ACT has visited an actor of this worker: it is in (M3).</summary>
    public bool Participates(ActorKey actor)
    {
        lock (_lock)
        {
            return _participants is not null && IndexOfParticipant(actor) >= 0;
        }
    }

    /// <summary>A worker was called from here, or under a call from here.</summary>
    public bool HasVisited(Incarnation worker)
    {
        lock (_lock)
        {
            return _visited?.Contains(worker) == true;
        }
    }

    /// <summary>An ACT that is not this worker's alone.</summary>
    public override bool IsDistributed => Origin is not null || Global is not null || _visited is not null;

    /// <summary>A call that waits for its result from another worker.</summary>
    /// <returns>False: the attempt is dead; do not send it.</returns>
    public bool TryAddCall(IRemoteCall call)
    {
        lock (_lock)
        {
            (_remoteCalls ??= []).Add(call);
            return IsAlive;
        }
    }

    /// <summary>Its calls to other workers, those that are answered included.</summary>
    public IReadOnlyList<IRemoteCall> TakeCalls()
    {
        lock (_lock)
        {
            return _remoteCalls is null ? [] : _remoteCalls.ToArray();
        }
    }

    /// <summary>The actors that an ACT has visited.</summary>
    public override IReadOnlyList<ActorKey> TakeParticipants()
    {
        lock (_lock)
        {
            return _participants is null ? [] : _participants.ToArray();
        }
    }

    /// <summary>What was really called, in the shape of a declaration; of an ACT <see cref="MaxTouched"/> actors, which is more than any declaration may have.</summary>
    public Door.DeclaredAccess[] Touched()
    {
        var touched = new List<Door.DeclaredAccess>();
        if (_calls is not null)
        {
            for (var i = 0; i < _calls.Length; i++)
            {
                if (_calls[i] > 0)
                {
                    touched.Add(new Door.DeclaredAccess(Request.Declared![i].Actor, _calls[i]));
                }
            }
        }
        else
        {
            lock (_lock)
            {
                for (var i = 0; i < (_participants?.Count ?? 0) && i < MaxTouched; i++)
                {
                    touched.Add(new Door.DeclaredAccess(_participants![i], _participantCalls![i]));
                }

                foreach (var elsewhere in _touchedElsewhere ?? [])
                {
                    if (touched.Count < MaxTouched)
                    {
                        touched.Add(elsewhere);
                    }
                }
            }
        }

        return touched.ToArray();
    }

    /// <summary>What an ACT whose root is here has called on another worker; its vote tells it.</summary>
    public void AddTouched(Door.DeclaredAccess[] elsewhere)
    {
        lock (_lock)
        {
            _touchedElsewhere ??= [];
            _touchedElsewhere.AddRange(elsewhere.AsSpan(0, Math.Min(elsewhere.Length, Math.Max(0, MaxTouched - _touchedElsewhere.Count))));
        }
    }
}
