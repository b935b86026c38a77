using Snapper.Protocol.Commitment;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Tests.World;

namespace Snapper.Protocol.Tests.Cluster;

/// <summary>Beginnings and ends of transactions: roots, and branches whose roots are elsewhere.</summary>
internal sealed partial class WorkerNode
{
    private readonly Dictionary<Request, Branch> _roots = [];

    private void StartPact(PactTicket ticket, TransactionId tid, BatchId bid, bool marked)
    {
        if (ticket.Tid != tid)
        {
            return; // removed before it began
        }

        var request = (Request)ticket.Request;
        var branch = BeginRoot(request, tid, bid, tid);
        branch.Attempt!.Marked = marked;
        if (ticket.Global is { } member)
        {
            branch.GlobalTid = member.Tid;
            _globals[member.Tid] = branch;
        }

        branch.Calls[IndexOfDeclared(request, ticket.Root)]++;
        Enter(branch);
    }

    public void StartAct(Request request)
    {
        var tid = TransactionId.Act(++_actCounter, Index + 1);
        if (request.Age == TransactionId.None)
        {
            request.Age = tid;
        }

        var branch = BeginRoot(request, tid, BatchId.None, request.Age);
        _acts.Add(tid, branch);
        branch.Participants.Add(_world.Keys[_world.IndexOf(request.Script.Actor)]);
        Enter(branch);
    }

    private Branch BeginRoot(Request request, TransactionId tid, BatchId bid, TransactionId age)
    {
        request.Attempts++;
        var branch = new Branch(request, this, Index) { Tid = tid, Bid = bid };
        branch.Attempt = request.Attempt = new Attempt(request, tid, bid, age, Index);
        _roots[request] = branch;
        return branch;
    }

    private void Enter(Branch branch)
    {
        var script = branch.Request.Script;
        var frame = new ClusterFrame(branch, script, _world.IndexOf(script.Actor), null, new object());
        branch.Calls.CopyTo(frame.Calls, 0); // its own
        _world.Tell($"{Name} {frame} starts as {frame.Tid}");
        var entered = _actors[frame.Actor]!.Enter(frame, _commit.Final, _outputs);
        Dispatch(frame.Actor);
        if (entered)
        {
            Run(frame);
        }
    }

    /// <summary>The part of a global batch has its place: what waited for it goes on.</summary>
    private void Placed(Batch batch)
    {
        for (var i = 0; i < batch.Tickets.Length; i++)
        {
            var ticket = batch.Tickets[i];
            if (ticket.IsRemote)
            {
                var branch = (Branch)ticket.Request;
                branch.Tid = ticket.Tid;
                branch.Bid = ticket.Bid;
                foreach (var early in branch.Early)
                {
                    _world.Send(Index, early);
                }

                branch.Early.Clear();
            }
        }
    }

    private void EndSucceeded(ClusterFrame root)
    {
        var branch = root.Branch;
        var attempt = branch.Attempt!;
        if (attempt.RootEnded)
        {
            return;
        }

        attempt.RootEnded = true;
        if (branch.Request.IsPact)
        {
            RootEnding.EndPact(branch.Request.Ticket!, attempt.Marked, succeeded: true, root.Calls, _outputs);
        }
        else
        {
            branch.IsSealed = true;
            RootEnding.EndAct(OutcomeOf(branch, committed: true), _outputs);
        }

        Dispatch(-1);
    }

    private ActOutcome OutcomeOf(Branch branch, bool committed) =>
        new(branch.Tid, committed, branch.Participants.ToArray(), branch.Request) { Others = [.. branch.Visited.Select(_world.IncarnationOf)] };

    private void RequestAbort(Branch branch, AbortReason reason)
    {
        if (!branch.IsAlive)
        {
            return;
        }

        branch.IsAlive = false;
        _world.Tell($"  {branch} is doomed: {reason}");
        if (branch.IsRoot)
        {
            branch.Attempt!.IsAlive = false;
            branch.Attempt.AbortCause = reason;
            _world.Send(Index, () => EndAborted(branch));
        }
        else
        {
            TellRoot(branch, reason);
        }
    }

    private void OnBounds(Message message)
    {
        if (_acts.ContainsKey(message.Tid))
        {
            ToCommit(message);
        }
    }

    private void TellRoot(Branch branch, AbortReason reason)
    {
        var root = _world.Workers[branch.Root];
        var (isPact, tid) = (branch.Request.IsPact, branch.Request.IsPact ? branch.GlobalTid : branch.Tid);
        _world.Send(root.Index, () => root.OnBranchFailed(isPact, tid, reason));
    }

    /// <summary>A branch on another worker has failed, or must go: its root ends it everywhere.</summary>
    private void OnBranchFailed(bool isPact, TransactionId tid, AbortReason reason)
    {
        var branch = (isPact ? _globals : _acts).GetValueOrDefault(tid);
        if (branch is { IsAlive: true })
        {
            RequestAbort(branch, reason);
        }
        else if (branch is not null && !isPact && branch.Attempt!.AbortCause == AbortReason.Application)
        {
            branch.Attempt.AbortCause = reason; // H7: its own abort is none
            EndAbortedAct(branch);
        }
    }

    public void AbortFromOutside(Request request, AbortReason reason)
    {
        if (_roots.TryGetValue(request, out var branch) && branch.Attempt is { RootEnded: false })
        {
            RequestAbort(branch, reason);
        }
    }

    private void EndAborted(Branch branch)
    {
        var attempt = branch.Attempt!;
        if (!branch.Request.IsPact)
        {
            if (_acts.ContainsKey(branch.Tid))
            {
                EndAbortedAct(branch);
            }
        }
        else if (!attempt.RootEnded)
        {
            attempt.RootEnded = true;
            _world.Deaths[(int)attempt.AbortCause]++;
            RootEnding.EndPact(branch.Request.Ticket!, attempt.Marked, succeeded: false, branch.Calls, _outputs);
            Dispatch(-1);
        }
    }

    private void EndAbortedAct(Branch branch)
    {
        var attempt = branch.Attempt!;
        var ownOutcome = !attempt.RootEnded && attempt.AbortCause == AbortReason.Application;
        attempt.RootEnded = true;
        branch.IsAlive = false;
        _world.Deaths[(int)attempt.AbortCause]++;
        if (ownOutcome)
        {
            branch.IsSealed = true;
            RootEnding.EndAct(OutcomeOf(branch, committed: false), _outputs);
            Dispatch(-1);
            return;
        }

        _acts.Remove(branch.Tid);
        _tombstones.Add(branch.Tid);
        AbortElsewhere(branch);
        if (branch.RemovedByUndo)
        {
            ToCommitLater(new Message { Kind = MessageKind.BranchAbortAcknowledged, Tid = branch.Tid, Body = branch.Participants.ToArray() });
        }
        else
        {
            RootEnding.AbortAct(branch.Tid, branch.Participants, _outputs);
            Dispatch(-1);
        }

        if (attempt.AbortCause == AbortReason.Timeout)
        {
            _world.AnswerTo(branch.Request, Answer.Aborted, AbortReason.Timeout);
        }
        else
        {
            _world.ToRepeat.Add(branch.Request);
        }
    }

    private void ToCommitLater(Message message) => _world.Send(Index, () => ToCommit(message));

    private void AbortElsewhere(Branch branch)
    {
        var tid = branch.Tid;
        foreach (var visited in branch.Visited)
        {
            var worker = _world.Workers[visited];
            _world.Send(worker.Index, () => worker.OnActAbort(tid));
        }
    }

    /// <summary>An ACT is aborted: it ends here, and wherever it went from here (W3: a call may be under way that the root does not know of).</summary>
    private void OnActAbort(TransactionId tid)
    {
        if (!_tombstones.Add(tid) || !_acts.Remove(tid, out var branch))
        {
            return;
        }

        MachineWorld.Require(!branch.IsRoot, $"{branch} is aborted by another worker than its root's");
        branch.IsAlive = false;
        AbortElsewhere(branch);
        if (branch.IsSealed)
        {
            ToCommitLater(new Message { Kind = MessageKind.ActDecided, Tid = tid });
        }
        else
        {
            RootEnding.AbortAct(tid, branch.Participants, _outputs);
            Dispatch(-1);
        }
    }

    /// <summary>What the root of an ACT tells the workers that it visited.</summary>
    private void OnFromRoot(Message message, Incarnation root)
    {
        var branch = _acts.GetValueOrDefault(message.Tid);
        if (message.Kind == MessageKind.ActDecided)
        {
            if (branch is not null)
            {
                _acts.Remove(message.Tid);
                _tombstones.Add(message.Tid);
                branch.IsAlive = false;
                ToCommitLater(message with { Body = null });
            }

            return;
        }

        if (branch is null || (message.Flag && !branch.IsAlive)) // H7: what died by itself votes for its abort, when it rests on nothing that can be undone
        {
            _tombstones.Add(message.Tid); // a call that is under way comes too late

            // An abort that rests on nothing here, or a part that is lost.
            var vote = new Message { Kind = MessageKind.ActVoted, Tid = message.Tid, Flag = branch is null && !message.Flag };
            var worker = _world.Workers[root.Worker - 1];
            _world.Send(worker.Index, () => worker.ToCommit(vote));
            return;
        }

        branch.IsSealed = true;
        branch.IsAlive &= message.Flag; // what is still under way comes too late
        RootEnding.EndAct(new ActOutcome(message.Tid, message.Flag, branch.Participants.ToArray(), branch) { RootWorker = root }, _outputs);
        Dispatch(-1);
    }

    /// <summary>A PACT has ended on one of its actors here (A2); its root is elsewhere.</summary>
    private void OnBranchEnded(Message message)
    {
        var member = (Global.GlobalMember)message.Body!;
        var branch = RemoteBranch(member);
        if (branch.Tid == TransactionId.None && branch.IsAlive)
        {
            branch.Early.Add(() => OnBranchEnded(message));
            return;
        }

        branch.IsAlive &= message.Flag;
        ToActor(_world.IndexOf(message.Actor!), new Message
        {
            Kind = MessageKind.Ended,
            Actor = message.Actor,
            Tid = branch.Tid,
            Bid = branch.Bid,
            Flag = message.Flag,
            Count = message.Count,
        });
    }

    private void OnRootMessage(Message message)
    {
        _world.Tell($"{Name} root of {message.Tid} <- {message.Kind} {message.Reason}");
        if (message.Body is PactTicket ticket)
        {
            OnPactRemoved(ticket, message.Tid);
            return;
        }

        var removed = message.Kind == MessageKind.Removed;
        if (!_acts.TryGetValue(message.Tid, out var branch))
        {
            if (removed)
            {
                ToCommitLater(new Message { Kind = MessageKind.BranchAbortAcknowledged, Tid = message.Tid });
            }

            return;
        }

        if (!branch.IsRoot)
        {
            OnPartMustGo(branch, removed ? AbortReason.Undone : message.Reason, removed);
            return;
        }

        if (branch.IsAlive || branch.Attempt!.AbortCause == AbortReason.Application)
        {
            branch.IsAlive = false;
            branch.RemovedByUndo = removed;
            branch.Attempt!.IsAlive = false;
            branch.Attempt.AbortCause = removed ? AbortReason.Undone : message.Reason;
            EndAbortedAct(branch);
        }
        else if (removed)
        {
            ToCommitLater(new Message { Kind = MessageKind.BranchAbortAcknowledged, Tid = message.Tid });
        }
    }

    private void OnPartMustGo(Branch branch, AbortReason reason, bool removed)
    {
        TellRoot(branch, reason);
        if (!removed)
        {
            return; // the root ends it, here too
        }

        // A5: this worker's undo waits for nobody else.
        branch.IsAlive = false;
        _acts.Remove(branch.Tid);
        _tombstones.Add(branch.Tid);
        AbortElsewhere(branch);
        ToCommitLater(new Message { Kind = MessageKind.BranchAbortAcknowledged, Tid = branch.Tid, Body = branch.Participants.ToArray() });
    }

    private void OnPactRemoved(PactTicket ticket, TransactionId tid)
    {
        if (ticket.IsRemote)
        {
            ((Branch)ticket.Request).IsAlive = false;
            return;
        }

        var request = (Request)ticket.Request;
        if (request.Attempt is { } attempt && attempt.Tid == tid && _roots.TryGetValue(request, out var branch) && branch.Attempt == attempt)
        {
            attempt.RootEnded = true;
            if (branch.IsAlive)
            {
                branch.IsAlive = false;
                attempt.IsAlive = false;
                attempt.AbortCause = AbortReason.Undone;
            }
        }
    }

    /// <summary>H6: a batch has waited too long behind an ACT of several workers: its root ends it, while it can.</summary>
    /// <returns>True: there was one.</returns>
    public bool BreakWaits()
    {
        var any = false;
        foreach (var branch in _acts.Values.ToList())
        {
            if (branch.IsRoot && branch.Visited.Count == 0)
            {
                continue;
            }

            foreach (var participant in branch.Participants)
            {
                if (_actors[_world.IndexOf(participant)]!.HasWaitersBehind(branch.Tid))
                {
                    any = true;
                    if (branch.IsRoot)
                    {
                        var tid = branch.Tid;
                        _world.At(Index, () => OnBranchFailed(isPact: false, tid, AbortReason.Deadlock));
                    }
                    else
                    {
                        _world.At(Index, () => TellRoot(branch, AbortReason.Deadlock));
                    }

                    break;
                }
            }
        }

        return any;
    }

    private static int IndexOfDeclared(Request request, ActorKey actor) => Array.FindIndex(request.Declared!, access => access.Actor.Equals(actor));
}
