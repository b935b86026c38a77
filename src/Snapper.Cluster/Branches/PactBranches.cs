using Snapper.Cluster.Wire;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Transactions;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;

namespace Snapper.Cluster.Branches;

/// <summary>
/// This worker's branches of the PACTs of global batches (thesis 4.2.3), where their calls and ends from other workers
/// come in. On the first executor alone.
/// </summary>
internal sealed class PactBranches(IBranchNode node, Worker worker)
{
    private readonly PactBranchTable<PactBranch, (Incarnation From, WireMessage Message)> _table =
        new(static global => new PactBranch(global));

    /// <summary>PACTs that have not ended here.</summary>
    public int Count => _table.Branches.Count;

    /// <inheritdoc cref="PactBranchTable{TBranch,TEarly}.HighestKnown"/>
    public BatchId HighestKnown => _table.HighestKnown;

    /// <inheritdoc cref="PactBranchTable{TBranch,TEarly}.LowestUnplaced"/>
    public BatchId LowestUnplaced => _table.LowestUnplaced;

    /// <summary>This worker's part of a global batch.</summary>
    public void OnPart(GlobalPart part)
    {
        var bound = BoundPart.Bind(part, node.Self, node.Requests.Take, static member => Request.StandIn(member.Pact.RootActor, member.Pact.Declared));
        _table.OnPart(bound.Tickets);
        node.KeepTicking();
        worker.SendToCoordinator(0, new Message { Kind = MessageKind.GlobalPart, Body = bound });
    }

    /// <inheritdoc cref="PactBranchTable{TBranch,TEarly}.OnMaster"/>
    public void OnMaster(long epoch) => _table.OnMaster(epoch);

    /// <summary>A part has its place in this worker's order: what waited for it goes on.</summary>
    public void OnPlaced(Batch batch)
    {
        foreach (var ticket in batch.Tickets)
        {
            var early = _table.OnPlaced(ticket);
            for (var i = 0; i < early?.Count; i++)
            {
                node.Handle(early[i].From, early[i].Message);
            }
        }
    }

    /// <summary>Parts were lost before they had a place (A9).</summary>
    public void OnDropped(List<PactTicket> tickets)
    {
        foreach (var ticket in tickets)
        {
            _table.OnEnded(ticket);
        }
    }

    /// <summary>It was removed from its batch (A5), with all of it (A9).</summary>
    public void OnRemoved(PactTicket ticket)
    {
        if (_table.OnEnded(ticket)?.Attempt is { } attempt)
        {
            attempt.TryAbort(AbortInfo.Removed, evenSealed: true);
            node.First.EndBranch(attempt);
        }
    }

    /// <summary>A part is final here.</summary>
    public void OnFinal(Batch batch)
    {
        foreach (var ticket in batch.Tickets)
        {
            if (_table.OnEnded(ticket)?.Attempt is { } attempt)
            {
                node.First.EndBranch(attempt);
            }
        }
    }

    /// <summary>A call from another worker.</summary>
    public void OnCall(Incarnation from, CallMessage call)
    {
        if (_table.Admit(call.Tid, (from, call)) is { } branch && AttemptOf(branch, call) is { IsAlive: true } attempt)
        {
            node.Calls.Enter(attempt, from, call);
        }
    }

    /// <summary>A PACT has ended on an actor of this worker (A2).</summary>
    public void OnEnded(Incarnation from, BranchEndedMessage ended)
    {
        if (_table.Admit(ended.Tid, (from, ended)) is not { } branch)
        {
            return;
        }

        if (!ended.Committed)
        {
            branch.Attempt?.TryAbort(new AbortInfo(AbortReason.Application, "It was aborted by its root."), evenSealed: true);
        }

        worker.SendToActor(new Message
        {
            Kind = MessageKind.Ended,
            Actor = ended.Actor,
            Tid = branch.Tid,
            Bid = branch.Bid,
            Flag = ended.Committed,
            Count = ended.Calls,
        });
    }

    /// <summary>A branch of a PACT whose root is here has failed: the root ends it.</summary>
    public void OnBranchFailed(BranchFailedMessage failed)
    {
        if (_table.Find(failed.Tid) is { } branch && OwnAttempt(branch) is { } attempt)
        {
            attempt.RootExecutor.RequestAbort(attempt, RemoteCalls.InfoOf(failed.Failure));
        }
    }

    /// <summary>From a root to the worker of an actor: the PACT has ended there. From any thread.</summary>
    public void TellEnded(in Output output)
    {
        var message = output.Message;
        var member = message.Member;
        node.Send(member.Owners[output.Index], new BranchEndedMessage(member.Tid, message.Actor!, message.Flag, message.Count));
    }

    /// <summary>The master undoes what the life of a worker that is over has touched (A9); calls to it are not waited for.</summary>
    public void OnGone(Incarnation peer)
    {
        foreach (var branch in _table.Branches)
        {
            if (branch.Member?.Touches(peer) == true && (branch.Attempt ?? OwnAttempt(branch)) is { } attempt)
            {
                node.Calls.Forget(attempt);
            }
        }
    }

    private Attempt? AttemptOf(PactBranch branch, CallMessage call)
    {
        var ticket = branch.Ticket!;
        if (!ticket.IsRemote)
        {
            return OwnAttempt(branch);
        }

        if (branch.Attempt is null)
        {
            var request = Request.Of(ticket);
            BranchAttempts.Learn(worker, request, call);
            branch.Attempt = new Attempt(
                request, branch.Tid, branch.Bid, branch.Tid, node.First, new DateTimeOffset(call.Facts.StartedAtTicks, TimeSpan.Zero))
            {
                Origin = new BranchOrigin(call.Root, branch.Global),
                Global = branch.Member,
                Marked = ticket.Marked,
                BeganAt = worker.Time.GetTimestamp(),
            };
            request.Attempt = branch.Attempt;
            node.First.BeginBranch(branch.Attempt);
        }

        return branch.Attempt;
    }

    /// <summary>The attempt of a root that is here. Set before anything that could be heard of it.</summary>
    private static Attempt? OwnAttempt(PactBranch branch) =>
        branch.Ticket is { IsRemote: false } ticket && Request.Of(ticket).Attempt is { } attempt && attempt.Tid == branch.Tid ? attempt : null;
}

/// <summary>What stands for a request whose root is elsewhere.</summary>
internal static class BranchAttempts
{
    public static void Learn(Worker worker, Request standIn, CallMessage call)
    {
        var asked = new TransactionRequest
        {
            Actor = call.RootActor,
            Method = call.RootMethod,
            Id = call.Facts.RequestId,
            Caller = call.Facts.Caller,
            TraceParent = call.Facts.TraceParent,
            TraceState = call.Facts.TraceState,
        };
        standIn.Learn(asked, worker.FindType(call.RootActor.Type)?.Find(call.RootMethod));
    }
}
