using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Cluster.Wire;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Requests;

namespace Snapper.Runtime.Cluster.Branches;

/// <summary>
/// This worker's sides of the PACTs of global batches (thesis 4.2.3): calls that come before their part has a place wait for it, calls that come after their end are dropped
/// (A8). On the first executor alone.
/// </summary>
internal sealed class PactBranches(ClusterNode node, Worker worker)
{
    private readonly Dictionary<TransactionId, PactBranch> _branches = [];

    // Parts come in the order of their numbers: what is not known up to here has ended.
    private TransactionId _highest;

    /// <summary>PACTs that have not ended here.</summary>
    public int Count => _branches.Count;

    /// <summary>The highest global batch of which a part has come; any number inside it.</summary>
    public BatchId HighestKnown => new(_highest.Value);

    /// <summary>The lowest global batch whose part has come and has no place; none: there is none.</summary>
    public BatchId LowestUnplaced
    {
        get
        {
            var lowest = BatchId.None;
            foreach (var branch in _branches.Values)
            {
                if (branch.Member is not null && branch.Tid == TransactionId.None && (lowest == BatchId.None || branch.Global.Value < lowest.Value))
                {
                    lowest = new BatchId(branch.Global.Value);
                }
            }

            return lowest;
        }
    }

    /// <summary>This worker's part of a global batch.</summary>
    public void OnPart(GlobalPart part)
    {
        var bound = BoundPart.Bind(part, node.Self, node.Requests.Take, static member => Request.StandIn(member.Pact.RootActor, member.Pact.Declared));
        for (var i = 0; i < part.Members.Length; i++)
        {
            var member = part.Members[i];
            var branch = Of(member.Tid);
            branch.Member = member;
            branch.Ticket = bound.Tickets[i];
            _highest = member.Tid.Value > _highest.Value ? member.Tid : _highest;
        }

        node.KeepTicking();
        worker.SendToCoordinator(0, new Message { Kind = MessageKind.GlobalPart, Body = bound });
    }

    /// <summary>Another is master, and what earlier ones had open here is settled: of PACTs of theirs that are not known by now, no part comes any more (R3).</summary>
    public void OnMaster(long epoch)
    {
        var first = TransactionId.Global(epoch, 0);
        _highest = first.Value > _highest.Value ? first : _highest;
        List<TransactionId>? orphans = null;
        foreach (var branch in _branches.Values)
        {
            if (branch.Member is null && branch.Global.Value <= first.Value)
            {
                (orphans ??= []).Add(branch.Global); // somebody had called ahead of it
            }
        }

        for (var i = 0; i < orphans?.Count; i++)
        {
            _branches.Remove(orphans[i]);
        }
    }

    /// <summary>A part has its place in this worker's order: what waited for it goes on.</summary>
    public void OnPlaced(Batch batch)
    {
        foreach (var ticket in batch.Tickets)
        {
            if (ticket.Global is { } member && _branches.TryGetValue(member.Tid, out var branch))
            {
                branch.Tid = ticket.Tid;
                branch.Bid = ticket.Bid;
                if (branch.Early is { } early)
                {
                    branch.Early = null;
                    foreach (var (from, message) in early)
                    {
                        node.Handle(from, message);
                    }
                }
            }
        }
    }

    /// <summary>Parts were lost before they had a place (A9).</summary>
    public void OnDropped(List<PactTicket> tickets)
    {
        foreach (var ticket in tickets)
        {
            Forget(ticket);
        }
    }

    /// <summary>It was removed from its batch (A5), with all of it (A9).</summary>
    public void OnRemoved(PactTicket ticket)
    {
        if (ticket.Global is { } member && _branches.TryGetValue(member.Tid, out var branch) && branch.Attempt is { } attempt)
        {
            attempt.TryAbort(AbortInfo.Removed, evenSealed: true);
            node.First.EndBranch(attempt);
        }

        Forget(ticket);
    }

    /// <summary>A part is final here.</summary>
    public void OnFinal(Batch batch)
    {
        foreach (var ticket in batch.Tickets)
        {
            if (ticket.Global is { } member && _branches.TryGetValue(member.Tid, out var branch) && branch.Attempt is { } attempt)
            {
                node.First.EndBranch(attempt);
            }

            Forget(ticket);
        }
    }

    /// <summary>A call from another worker.</summary>
    public void OnCall(Incarnation from, CallMessage call)
    {
        if (IsLate(call.Tid))
        {
            return;
        }

        var branch = Of(call.Tid);
        if (branch.Tid == TransactionId.None)
        {
            (branch.Early ??= []).Add((from, call));
            return;
        }

        if (AttemptOf(branch, call) is { IsAlive: true } attempt)
        {
            node.Calls.Enter(attempt, from, call);
        }
    }

    /// <summary>A PACT has ended on an actor of this worker (A2).</summary>
    public void OnEnded(Incarnation from, BranchEndedMessage ended)
    {
        if (IsLate(ended.Tid))
        {
            return;
        }

        var branch = Of(ended.Tid);
        if (branch.Tid == TransactionId.None)
        {
            (branch.Early ??= []).Add((from, ended));
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
        if (_branches.TryGetValue(failed.Tid, out var branch) && OwnAttempt(branch) is { } attempt)
        {
            attempt.RootExecutor.RequestAbort(attempt, RemoteCalls.InfoOf(failed.Failure));
        }
    }

    /// <summary>From a root to the worker of an actor: the PACT has ended there. From any thread.</summary>
    public void TellEnded(in Output output)
    {
        var message = output.Message;
        var member = (GlobalMember)message.Body!;
        node.Send(member.Owners[output.Index], new BranchEndedMessage(member.Tid, message.Actor!, message.Flag, message.Count));
    }

    /// <summary>The master undoes what the life of a worker that is over has touched (A9); calls to it are not waited for.</summary>
    public void OnGone(Incarnation peer)
    {
        foreach (var branch in _branches.Values)
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
            var request = (Request)ticket.Request;
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
        branch.Ticket is { IsRemote: false } ticket && ((Request)ticket.Request).Attempt is { } attempt && attempt.Tid == branch.Tid ? attempt : null;

    private bool IsLate(TransactionId global) => global.Value <= _highest.Value && !_branches.ContainsKey(global);

    private PactBranch Of(TransactionId global)
    {
        if (!_branches.TryGetValue(global, out var branch))
        {
            _branches.Add(global, branch = new PactBranch(global));
        }

        return branch;
    }

    private void Forget(PactTicket ticket)
    {
        if (ticket.Global is { } member)
        {
            _branches.Remove(member.Tid);
        }
    }
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
