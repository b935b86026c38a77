using Snapper.Cluster.Wire;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Directory;
using Snapper.Protocol.Global;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Execution;

namespace Snapper.Cluster.Branches;

/// <summary>
/// PACTs over several workers whose roots are here and that wait for a number of the master (I5, A9), and what is said between this worker and the master. Those that have
/// no number are asked for again at each new master. Thread-safe.
/// </summary>
internal sealed class GlobalRequests(IBranchNode node, Worker worker)
{
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(20);

    private readonly Lock _gate = new();
    private readonly Dictionary<long, PactTicket> _waiting = [];
    private Incarnation _master;
    private long _masterEpoch;
    private long _lastHandle;

    /// <summary>Epoch of the master that this worker listens to (R3); 0: none.</summary>
    public long MasterEpoch => Volatile.Read(ref _masterEpoch);

    /// <summary>Who is master.</summary>
    public Incarnation Master
    {
        get
        {
            lock (_gate)
            {
                return _master;
            }
        }
    }

    /// <summary>PACTs that wait for a number of the master.</summary>
    public int Waiting
    {
        get
        {
            lock (_gate)
            {
                return _waiting.Count;
            }
        }
    }

    /// <summary>Listens to nobody, until it is settled what earlier masters had open here (R3).</summary>
    public void Unfollow()
    {
        lock (_gate)
        {
            _master = default;
            Volatile.Write(ref _masterEpoch, 0);
        }
    }

    /// <summary>Listens to a master from now on. What earlier ones had open on this worker must be settled (R3).</summary>
    public void Follow(Incarnation master, long epoch)
    {
        lock (_gate)
        {
            _master = master;
            Volatile.Write(ref _masterEpoch, epoch);
            List<long>? answered = null;
            foreach (var (handle, ticket) in _waiting)
            {
                if (Request.Of(ticket).IsAnswered)
                {
                    (answered ??= []).Add(handle); // withdrawn when there was nobody to tell
                }
                else if (!MayAsk(ticket))
                {
                    (answered ??= []).Add(handle);
                    RouteLater(ticket);
                }
                else
                {
                    Ask(handle, ticket);
                }
            }

            for (var i = 0; i < answered?.Count; i++)
            {
                _waiting.Remove(answered[i]);
            }
        }
    }

    /// <summary>A PACT of this worker's actors alone is numbered here.</summary>
    public bool IsLocal(PactTicket ticket)
    {
        foreach (var access in ticket.Declared)
        {
            if (node.Ownership.Look(access.Actor).State == OwnershipState.NotOwned)
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Asks the master for a number.</summary>
    public void AskMaster(PactTicket ticket)
    {
        var request = Request.Of(ticket);
        lock (_gate)
        {
            if (!request.IsWithdrawn)
            {
                if (!MayAsk(ticket))
                {
                    RouteLater(ticket);
                    return;
                }

                var handle = ++_lastHandle;
                request.Handle = handle;
                request.IsAtMaster = true;
                _waiting.Add(handle, ticket);
                if (_masterEpoch != 0)
                {
                    Ask(handle, ticket);
                }

                return;
            }
        }

        // It had come back unnumbered, and was to be looked for again: its caller was told that it is not executed, or is now.
        Drop(request);
    }

    /// <summary>
    /// From a freeze of its root on nothing waits at a master (M3): the master sends back what does, before it answers the freeze, and nothing is asked behind that. So no
    /// request waits while its root is with another worker, which may run the same id (I2).
    /// </summary>
    private bool MayAsk(PactTicket ticket) =>
        node.Ownership.Look(ticket.Root).State == OwnershipState.Open;

    /// <summary>Behind it every request of an actor that is frozen here was sent, or waits here.</summary>
    public void Barrier()
    {
        lock (_gate)
        {
        }
    }

    /// <summary>Its time is over, or its caller left.</summary>
    /// <returns>False: it does not wait for the master.</returns>
    public bool Withdraw(Request request)
    {
        lock (_gate)
        {
            if (request.Handle == 0 || !_waiting.ContainsKey(request.Handle))
            {
                if (request.IsAtMaster)
                {
                    return true; // numbered, though perhaps without a place here yet: its root ends it
                }

                request.IsWithdrawn = true;
                return false;
            }

            TellMaster(new GlobalMessage(GlobalMessageKind.Withdraw, node.Self, Value: request.Handle));
            return true;
        }
    }

    /// <summary>The master has given a number to a request.</summary>
    /// <returns>Its ticket; null: there is no such request.</returns>
    public PactTicket? Take(long handle)
    {
        lock (_gate)
        {
            return _waiting.Remove(handle, out var ticket) ? ticket : null;
        }
    }

    /// <summary>A machine of this worker tells the master something; on the first executor.</summary>
    public void Tell(in Message message)
    {
        if (node.TakesUndoAnswer(message))
        {
            return;
        }

        var kind = message.Kind switch
        {
            MessageKind.PartPrepared => GlobalMessageKind.PartPrepared,
            MessageKind.PartMarked => GlobalMessageKind.PartMarked,
            MessageKind.GlobalFailed => GlobalMessageKind.Failed,
            MessageKind.GlobalUndoReport => GlobalMessageKind.UndoReport,
            MessageKind.GlobalUndone => GlobalMessageKind.Undone,
            _ => throw new Snapper.Protocol.ProtocolViolationException($"{message.Kind} is not for the master."),
        };
        var told = new GlobalMessage(kind, node.Self, message.Bid, message.Value, message.Count);
        lock (_gate)
        {
            TellMaster(told);
        }
    }

    /// <summary>The stream of a dead worker is resolved: nobody will ask the master for what that worker had prepared (R4).</summary>
    public void TellResolved(Incarnation dead)
    {
        lock (_gate)
        {
            TellMaster(new GlobalMessage(GlobalMessageKind.StreamResolved, node.Self, About: dead));
        }
    }

    /// <summary>What the master says, but for parts; on the first executor.</summary>
    public void OnMasterSays(GlobalOutput output)
    {
        switch (output.Kind)
        {
            case GlobalOutputKind.SendDecided:
                worker.SendToCommit(new Message { Kind = MessageKind.GlobalDecided, Bid = output.Bid });
                break;
            case GlobalOutputKind.SendUndo:
                worker.SendToCoordinator(0, new Message { Kind = MessageKind.GlobalUndo, Bid = output.Bid, Value = output.Value, Count = output.Count });
                break;
            case GlobalOutputKind.SendUndoGo:
                worker.SendToCommit(new Message { Kind = MessageKind.GlobalUndoGo, Value = output.Value });
                break;
            case GlobalOutputKind.SendBack:
                if (Take(output.Value) is { } back)
                {
                    RouteLater(back);
                }

                break;
            case GlobalOutputKind.SendDropped:
                if (Take(output.Value) is { } dropped)
                {
                    Drop(Request.Of(dropped));
                }

                break;
            default:
                throw new Snapper.Protocol.ProtocolViolationException($"{node.Self}: nothing is done with {output.Kind} of the master.");
        }
    }

    /// <summary>M1: an actor is frozen, moved, or has no owner now; it is looked for again.</summary>
    public void RouteLater(PactTicket ticket)
    {
        TakeBack(Request.Of(ticket));
        worker.After(s_pause, node.First, () => worker.SendToCoordinator(ticket.Coordinator, Message.NewPact(ticket)));
    }

    /// <summary>It is this worker's again to number or to drop.</summary>
    public void TakeBack(Request request)
    {
        lock (_gate)
        {
            request.IsAtMaster = false;
        }
    }

    private void Drop(Request request) => worker.RequestManager.Dropped(request, request.Expired ? AbortReason.Timeout : AbortReason.Cancelled);

    private GlobalPact PactOf(long handle, PactTicket ticket) =>
        new(node.Self, handle, ticket.Root, ticket.Declared, ticket.Marked) { Caller = ticket.Caller };

    private void Ask(long handle, PactTicket ticket) =>
        node.Send(_master, new NewPactMessage(_masterEpoch, PactOf(handle, ticket)));

    private void TellMaster(GlobalMessage message)
    {
        if (_masterEpoch != 0)
        {
            node.Send(_master, new ToMasterMessage(_masterEpoch, message));
        }
    }
}
