using Snapper.Cluster.Wire;
using Snapper.Protocol;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Global;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Execution;
using Snapper.Storage.Log;

namespace Snapper.Cluster.Mastering;

/// <summary>
/// This worker's side of a change of the master (R3): it listens to no earlier one any more, hears of the new one what became of what it has prepared, undoes what was not
/// decided (A9), and says so. What the new master sends meanwhile waits. On the first executor alone.
/// </summary>
internal sealed class MasterSuccession(IMasterNode node, Worker worker)
{
    private static readonly TimeSpan s_answer = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(100);

    private readonly Queue<(long Epoch, WireMessage Message)> _waiting = new();
    private Incarnation _master;
    private long _epoch; // of the master that is followed, or about to be
    private long _undoNumber; // of this worker's own undo; 0: none
    private bool _settling;
    private bool _undoOpen; // of the master that is followed
    private PartMessage? _read; // for which the directory is read, or was
    private bool _isReading;

    /// <summary>The master that this worker follows, or will when it has settled what is open here.</summary>
    public (Incarnation Worker, long Epoch) Latest => (_master, _epoch);

    public void Follow(Incarnation master, long epoch)
    {
        if (epoch <= _epoch)
        {
            return;
        }

        _master = master;
        _epoch = epoch;
        node.ForgetEarlierMasters(epoch);
        node.Requests.Unfollow();
        if (!_settling)
        {
            _settling = true;
            _ = AskAll();
        }
    }

    /// <summary>A part has come.</summary>
    public void OnPart(PartMessage part)
    {
        if (!IsHeard(part.MasterEpoch, part))
        {
            return;
        }

        if (FindUnowned(part.Part) is not { } actor)
        {
            node.Pacts.OnPart(part.Part);
        }
        else if (ReferenceEquals(part, _read))
        {
            worker.Fail(new ProtocolViolationException($"Global batch {part.Part.Bid} was numbered for {actor}, which the directory gives to {node.Directory.Resolve(actor)} and not to {node.Self} (M7)."));
        }
        else
        {
            (_read, _isReading) = (part, true);
            _waiting.Enqueue((part.MasterEpoch, part));
            _ = ReadDirectory();
        }
    }

    /// <summary>The master numbers nothing more for a plan. That comes behind all parts that it numbered before (M3).</summary>
    public void OnFrozen(FrozenMessage frozen)
    {
        if (_isReading)
        {
            _waiting.Enqueue((frozen.MasterEpoch, frozen));
        }
        else
        {
            node.MasterFroze?.Invoke(frozen);
        }
    }

    /// <summary>The master says something.</summary>
    public void OnSaid(FromMasterMessage said)
    {
        if (IsHeard(said.MasterEpoch, said))
        {
            _undoOpen |= said.Output.Kind == GlobalOutputKind.SendUndo;
            node.Requests.OnMasterSays(said.Output);
        }
    }

    /// <summary>R3: an earlier master is refused, and what a later one says waits until this worker follows it.</summary>
    private bool IsHeard(long epoch, WireMessage message)
    {
        if (epoch == node.Requests.MasterEpoch && !_isReading)
        {
            return true;
        }

        if (epoch >= _epoch)
        {
            _waiting.Enqueue((epoch, message));
        }

        return false;
    }

    private ActorKey? FindUnowned(GlobalPart part)
    {
        foreach (var member in part.Members)
        {
            for (var i = 0; i < member.Owners.Length; i++)
            {
                if (member.Owners[i] == node.Self && node.Ownership.Look(member.Pact.Declared[i].Actor).State == OwnershipState.NotOwned)
                {
                    return member.Pact.Declared[i].Actor;
                }
            }
        }

        return null;
    }

    /// <summary>The master may have heard before this worker that an actor is this worker's now (M7). Then the directory says so; until it is read, all that the master says waits.</summary>
    private async Task ReadDirectory()
    {
        while (!worker.IsOver)
        {
            try
            {
                await node.ReadDirectory(worker.Stopping).ConfigureAwait(false);
                node.First.PostRun(() =>
                {
                    _isReading = false;
                    HearWaiting();
                });
                return;
            }
            catch (OperationCanceledException) when (worker.Stopping.IsCancellationRequested)
            {
                return;
            }
            catch (Exception exception) when (StorageFaults.IsPassing(exception))
            {
                await Task.Delay(s_look, worker.Time, CancellationToken.None).ConfigureAwait(false); // until it can be read
            }
            catch (Exception exception)
            {
                worker.Fail(exception);
            }
        }
    }

    /// <summary>A machine of this worker speaks to the master.</summary>
    /// <returns>True: it was the answer to this worker's own undo.</returns>
    public bool Takes(in Message message)
    {
        if (message.Kind == MessageKind.GlobalUndone)
        {
            _undoOpen = false;
        }

        if (_undoNumber == 0 || message.Value != _undoNumber || message.Kind is not (MessageKind.GlobalUndoReport or MessageKind.GlobalUndone))
        {
            return false;
        }

        if (message.Kind == MessageKind.GlobalUndoReport)
        {
            worker.SendToCommit(new Message { Kind = MessageKind.GlobalUndoGo, Value = _undoNumber });
        }
        else
        {
            _undoNumber = 0;
            worker.PostToCommits(Settle); // a later master may have come meanwhile
        }

        return true;
    }

    /// <summary>Asks the master about each part that is prepared here; those that are not can have been decided by nobody.</summary>
    private async Task AskAll()
    {
        try
        {
            var prepared = await Look().ConfigureAwait(false);
            foreach (var batch in prepared)
            {
                bool? verdict = null;
                while (verdict is null)
                {
                    var master = await node.Ask(() => _master).ConfigureAwait(false);
                    verdict = master == node.Self
                        ? await node.Ask(() => node.Master?.Verdict(batch)).ConfigureAwait(false)
                        : await node.Gate.Ask(master, batch.Value, default, s_answer, worker.Time, worker.Stopping).ConfigureAwait(false);
                    if (verdict is null)
                    {
                        await Background.Pause(TimeSpan.FromMilliseconds(20), worker.Time, worker.Stopping).ConfigureAwait(false);
                    }
                }

                node.Gate.EndAsking(batch.Value);
                if (verdict == true)
                {
                    node.First.PostRun(() => worker.SendToCommit(new Message { Kind = MessageKind.GlobalDecided, Bid = batch }));
                }
            }

            node.First.PostRun(() => worker.PostToCommits(UndoRest));
        }
        catch (OperationCanceledException) when (worker.Stopping.IsCancellationRequested)
        {
        }
    }

    /// <summary>L8: what earlier masters have decided stays in the log until every worker has durable markers of it.</summary>
    private async Task TellMarked(Incarnation master, long epoch)
    {
        try
        {
            while (await node.Ask(() => _epoch == epoch && HasPartOfEarlier(epoch)).ConfigureAwait(false))
            {
                await Background.Pause(s_look, worker.Time, worker.Stopping).ConfigureAwait(false);
            }

            await worker.Log.Drain(worker.Stopping).ConfigureAwait(false);
            node.Send(master, new MarkedMessage(epoch));
        }
        catch (Exception) when (worker.IsOver || worker.Stopping.IsCancellationRequested)
        {
            // Whoever resolves this life's stream tells the master.
        }
    }

    private bool HasPartOfEarlier(long epoch)
    {
        foreach (var batch in worker.Commits.Open)
        {
            if (batch.IsGlobal && new TransactionId(batch.Part!.Bid.Value).MasterEpoch < epoch)
            {
                return true;
            }
        }

        return false;
    }

    private Task<List<BatchId>> Look() => node.Ask(() =>
    {
        var prepared = new List<BatchId>();
        foreach (var batch in worker.Commits.Open)
        {
            if (batch is { IsGlobal: true, PartState: PartState.Prepared })
            {
                prepared.Add(batch.Part!.Bid);
            }
        }

        return prepared;
    });

    private void UndoRest()
    {
        var lowest = node.Pacts.LowestUnplaced;
        foreach (var batch in worker.Commits.Open)
        {
            if (batch is { IsGlobal: true, PartState: not PartState.Decided } && (lowest == BatchId.None || batch.Part!.Bid < lowest))
            {
                lowest = batch.Part!.Bid;
            }
        }

        if (lowest == BatchId.None && !_undoOpen)
        {
            Settle();
            return;
        }

        // A9, as the master would; an undo of an earlier master that was not ended goes on as this one.
        _undoNumber = -_epoch;
        worker.SendToCoordinator(0, new Message
        {
            Kind = MessageKind.GlobalUndo,
            Bid = lowest == BatchId.None ? new BatchId(TransactionId.Global(_epoch, 0).Value) : lowest,
            Value = _undoNumber,
        });
    }

    private void Settle()
    {
        _settling = false;
        var (master, epoch) = (_master, _epoch);
        node.Pacts.OnMaster(epoch);
        node.Requests.Follow(master, epoch);
        foreach (var (plan, keys) in node.OpenFreezes)
        {
            node.Send(master, new FreezeMessage(epoch, plan, keys)); // M3: it numbers nothing before it has heard of all of them
        }

        node.Send(master, new SettledMessage(epoch));
        _ = TellMarked(master, epoch);
        HearWaiting();
    }

    private void HearWaiting()
    {
        for (var left = _waiting.Count; left > 0; left--)
        {
            var (of, message) = _waiting.Dequeue();
            if (of >= _epoch)
            {
                node.Handle(_master, message);
            }
        }
    }
}
