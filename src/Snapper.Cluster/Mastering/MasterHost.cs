using Snapper.Cluster.Migrating;
using Snapper.Cluster.Node;
using Snapper.Cluster.Recovering;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Global;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Membership;

namespace Snapper.Cluster.Mastering;

/// <summary>
/// The shell of the master's coordinator (thesis 4.2.3): writes its decisions into the master's log and carries its messages. One for each time that this worker is master;
/// on the first executor alone, but for the log's news.
/// </summary>
internal sealed class MasterHost : ILogObserver, IPlacement, IAsyncDisposable
{
    private readonly INode _node;
    private readonly Worker _worker;
    private readonly Mastership _mastership;
    private readonly HashSet<BatchId> _decidedBefore;
    private readonly HashSet<Incarnation> _unsettled;
    private readonly HashSet<Incarnation> _unmarked;
    private readonly Queue<GlobalMessage> _early = new();
    private readonly LogWriter _writer;
    private readonly GlobalCoordinatorMachine _machine;
    private readonly List<GlobalOutput> _outputs = [];
    private readonly Queue<(BatchId Bid, long Sequence)> _decisions = new();
    private long _trimmedBelow;
    private long _trimmable;
    private bool _trimming;

    /// <param name="node">This worker's place among the others.</param>
    /// <param name="worker">This worker.</param>
    /// <param name="seat">The lease, and what was decided before.</param>
    /// <param name="unfenced">The workers that live, or may: none is given numbers before each of them has settled what earlier masters had open, or is fenced (R3).</param>
    /// <param name="unresolved">Lives that are over, and whose streams nobody has resolved yet as far as this worker knows.</param>
    /// <param name="writing">For the decisions.</param>
    public MasterHost(INode node, Worker worker, MasterElection.Taken seat, IReadOnlyList<Incarnation> unfenced, IEnumerable<Incarnation> unresolved, LogWriterOptions writing)
    {
        var mastership = seat.Mastership;
        _decidedBefore = seat.Decided;
        _unsettled = [.. unfenced];
        _unmarked = seat.Decided.Count == 0 ? [] : [.. unfenced, .. unresolved];
        _node = node;
        _worker = worker;
        _mastership = mastership;
        _writer = new LogWriter(mastership.Log, mastership.Opening, this, writing, worker.Time);
        _machine = new GlobalCoordinatorMachine(mastership.MasterEpoch, this, new CoordinatorOptions(worker.Options.TransactionsPerBatch, worker.Options.OpenBatches));
        _trimmedBelow = mastership.Opening.FirstSequence;
    }

    public long Epoch => _mastership.MasterEpoch;

    /// <summary>The master lost its lease, or its log: it decides nothing any more.</summary>
    public bool IsOver { get; private set; }

    /// <summary>
    /// Its log takes nothing any more, or it has no numbers left: the lease is to be given up. From any thread.
    /// </summary>
    public bool GivesUp { get; private set; }

    /// <summary>Somebody may have prepared what an earlier master has decided, and have no durable marker of it: the log keeps all decisions.</summary>
    public bool KeepsEarlierDecisions => _unmarked.Count > 0;

    /// <summary>Batches that are not decided.</summary>
    public int Undecided => _machine.Undecided;

    /// <summary>PACTs that wait for a number.</summary>
    public int Waiting => _machine.Waiting;

    /// <summary>Nothing is numbered before this worker has settled what earlier masters had open (R3). On the first executor.</summary>
    public bool Awaits(Incarnation worker) => _unsettled.Contains(worker);

    /// <summary>Where it stands, for people.</summary>
    public string Describe() => $"epoch {Epoch}, {(IsOver ? "over, " : "")}{Undecided} batches undecided, {Waiting + _early.Count} waiting, not settled: {string.Join(' ', _unsettled)}";

    /// <summary>M1: by the directory as this worker knows it; an incarnation that is not the one its peers know owns nothing.</summary>
    Incarnation IPlacement.OwnerOf(ActorKey actor)
    {
        if (_node.Directory.Find(actor) is not { } entry || Frozen.Holds(actor, entry))
        {
            return default;
        }

        var owner = entry.Owner;
        if (owner == _node.Self)
        {
            return _node.Ownership.Look(actor).State == OwnershipState.Open ? owner : default;
        }

        return _node.Gate.Hub.Known(owner.Worker) == owner ? owner : default; // R4: an entry of a life that is over is nobody's
    }

    /// <summary>A message of a worker; on the first executor.</summary>
    public void OnMessage(Incarnation from, ForMasterMessage message)
    {
        if (message.MasterEpoch != Epoch)
        {
            return;
        }

        switch (message)
        {
            case NewPactMessage asked when _unsettled.Count > 0:
                _early.Enqueue(new GlobalMessage(GlobalMessageKind.NewPact, from, Body: asked.Pact));
                break;
            case NewPactMessage asked:
                Step(new GlobalMessage(GlobalMessageKind.NewPact, from, Body: asked.Pact));
                break;
            case FreezeMessage freeze:
                OnFreeze(from, freeze);
                break;
            case SettledMessage:
                OnSettled(from);
                break;
            case MarkedMessage:
                _unmarked.Remove(from);
                break;
            case ToMasterMessage told:
                Step(told.Message);
                break;
        }
    }

    /// <summary>What must not be numbered for (M3); open plans are in it from the beginning.</summary>
    public FrozenKeys Frozen { get; } = new();

    /// <summary>The life of a worker is over: what it touched and was not decided is lost (A9).</summary>
    public void OnGone(Incarnation peer)
    {
        if (_decidedBefore.Count > 0)
        {
            // One that ended just as this master began was among neither the living nor the unresolved (L8).
            _unmarked.Add(peer);
        }

        Step(new GlobalMessage(GlobalMessageKind.WorkerGone, About: peer));
        OnSettled(peer);
    }

    /// <summary>The stream of a life that is over was resolved: nobody asks any more what became of what it had prepared (R4, L8).</summary>
    public void OnResolved(Incarnation life)
    {
        _unmarked.Remove(life);
        Step(new GlobalMessage(GlobalMessageKind.StreamResolved, About: life));
    }

    /// <summary>Somebody recovers a stream in which a part of a batch was prepared, and asks what became of it (R2).</summary>
    public void OnAsked(Incarnation from, BatchId batch)
    {
        if (Verdict(batch) is { } verdict)
        {
            _node.Send(from, new VerdictMessage(batch.Value, verdict));
        }
        else if (!IsOver)
        {
            Step(new GlobalMessage(GlobalMessageKind.InDoubt, from, batch));
        }
    }

    /// <summary>What became of a batch of an earlier master; null: it is of this one's time.</summary>
    public bool? Verdict(BatchId batch) => new TransactionId(batch.Value).MasterEpoch < Epoch ? _decidedBefore.Contains(batch) : null;

    private void OnFreeze(Incarnation from, FreezeMessage freeze)
    {
        if (freeze.Keys.Count == 0)
        {
            Frozen.Unfreeze(freeze.Plan);
            return;
        }

        Frozen.Freeze(freeze.Plan, freeze.Keys);
        Step(new GlobalMessage(GlobalMessageKind.DirectoryChanged));
        for (var left = _early.Count; left > 0; left--)
        {
            var early = _early.Dequeue();
            if (early.Body is GlobalPact pact && ((IPlacement)this).OwnerOf(pact.RootActor) != pact.Root)
            {
                Do(new GlobalOutput(GlobalOutputKind.SendBack, pact.Root, Value: pact.Handle, Body: pact.RootActor));
            }
            else
            {
                _early.Enqueue(early);
            }
        }

        _node.Send(from, new FrozenMessage(Epoch, freeze.Plan)); // behind all parts that were sent before
    }

    private void OnSettled(Incarnation worker)
    {
        if (_unsettled.Remove(worker) && _unsettled.Count == 0)
        {
            while (_early.TryDequeue(out var early))
            {
                Step(early);
            }
        }
    }

    /// <summary>Takes a step; on the first executor.</summary>
    public void Step(in GlobalMessage message)
    {
        if (IsOver)
        {
            return;
        }

        _machine.Step(message, _outputs);
        for (var i = 0; i < _outputs.Count && !IsOver; i++)
        {
            Do(_outputs[i]);
        }

        _outputs.Clear();
        if (_machine.IsUsedUp)
        {
            GivesUp = true;
        }

        Trim();
    }

    void ILogObserver.Flushed(long ticket) => _node.First.PostRun(() => Step(new GlobalMessage(GlobalMessageKind.Flushed, Value: ticket)));

    void ILogObserver.Unavailable(string detail) => RuntimeLog.LogUnavailable(_worker.Logger, "The master's log: " + detail);

    void ILogObserver.Available() => RuntimeLog.LogAvailable(_worker.Logger);

    void ILogObserver.Lost(AppendStatus status, string detail)
    {
        RuntimeLog.MasterLogLost(_worker.Logger, status.ToString(), detail);
        GivesUp = true;
        _node.First.PostRun(End);
    }

    /// <summary>Another is master, or will be.</summary>
    public void End()
    {
        IsOver = true;
    }

    public async ValueTask DisposeAsync()
    {
        await _writer.DisposeAsync().ConfigureAwait(false);
        await _mastership.Log.DisposeAsync().ConfigureAwait(false);
    }

    private void Do(in GlobalOutput output)
    {
        switch (output.Kind)
        {
            case GlobalOutputKind.Append:
                Append(output.Bid);
                break;
            case GlobalOutputKind.SendVerdict:
                _node.Send(output.To, new VerdictMessage(output.Bid.Value, output.Flag));
                break;
            case GlobalOutputKind.SendPart:
                _node.Send(output.To, new PartMessage(Epoch, (GlobalPart)output.Body!));
                break;
            default:
                _node.Send(output.To, new FromMasterMessage(Epoch, output));
                break;
        }
    }

    private void Append(BatchId bid)
    {
        try
        {
            var ticket = _writer.Enqueue(new Decision { Global = bid }, out var sequence);
            _decisions.Enqueue((bid, sequence));
            _machine.Queued(bid, ticket);
        }
        catch (ObjectDisposedException)
        {
            End(); // this worker stops, and its executors go on for a moment: the next master decides
        }
    }

    /// <summary>
    /// L8: decisions whose markers are all durable are needed no more. Those of earlier masters come before all of this one's: while somebody may have prepared what they decided
    /// and have no durable marker, nothing goes. This worker knows them, but may die before that one has asked.
    /// </summary>
    private void Trim()
    {
        const int Enough = 1024;
        var lowest = _machine.LowestUnmarked;
        while (_decisions.TryPeek(out var oldest) && (lowest == BatchId.None || oldest.Bid < lowest) && oldest.Sequence <= _writer.DurableSequence)
        {
            _decisions.Dequeue();
            _trimmable = oldest.Sequence + 1;
        }

        if (KeepsEarlierDecisions || _trimming || _trimmable - _trimmedBelow < Enough)
        {
            return;
        }

        _trimming = true;
        _ = TrimTo(_trimmable);
    }

    private async Task TrimTo(long below)
    {
        var done = false;
        try
        {
            var result = await _mastership.Log.Trim(_mastership.MasterEpoch, below, default, CancellationToken.None).ConfigureAwait(false);
            done = result.Status is AppendStatus.Appended or AppendStatus.AlreadyThere;
        }
        catch (Exception exception) when (StorageFaults.IsPassing(exception))
        {
            // The next decisions try again.
        }
        finally
        {
            _node.First.PostRun(() =>
            {
                _trimming = false;
                _trimmedBelow = done ? below : _trimmedBelow;
            });
        }
    }
}
