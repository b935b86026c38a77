using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Global;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Tests.World;
using Snapper.Protocol.Transactions;

namespace Snapper.Protocol.Tests.Cluster;

/// <summary>Beginnings and ends of transactions: roots, and branches whose roots are elsewhere.</summary>
internal sealed partial class WorkerNode
{
    private readonly Dictionary<Request, Branch> _roots = [];

    private void StartPact(PactTicket ticket, TransactionId tid, BatchId bid, bool marked)
    {
        var request = (Request)ticket.Request;
        if (!TransactionMachine.MayBegin(request, tid))
        {
            return;
        }

        var branch = BeginRoot(request, tid, bid, tid, marked, ticket.Global);
        if (ticket.Global is { } member)
        {
            branch.GlobalTid = member.Tid;
        }

        branch.Calls[IndexOfDeclared(request, ticket.Root)]++;
        Enter(branch);
    }

    public void StartAct(Request request)
    {
        var tid = TransactionId.Act(++_actCounter, Index + 1);
        var branch = BeginRoot(request, tid, BatchId.None, Retry.AgeOf(request, tid), marked: false, member: null);
        _acts.Add(tid, branch);
        branch.Participants.Add(_world.Keys[_world.IndexOf(request.Script.Actor)]);
        Enter(branch);
    }

    private Branch BeginRoot(Request request, TransactionId tid, BatchId bid, TransactionId age, bool marked, GlobalMember? member)
    {
        var attempt = new Attempt(request, tid, bid, age, Index, _acts) { Marked = marked, Global = member };
        var branch = new Branch(request, this, Index, attempt) { Tid = tid, Bid = bid };
        attempt.Visited = () => [.. branch.Visited.Select(_world.IncarnationOf)];
        request.Attempt = attempt;
        TransactionMachine.Begin(attempt);
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
            }

            _globals.OnPlaced(ticket)?.ForEach(early => _world.Send(Index, early));
        }
    }

    private void Carry(Branch branch, AttemptEffects effects, AbortReason reason = AbortReason.None)
    {
        var request = branch.Request;
        if ((effects & AttemptEffects.TellRoot) != 0)
        {
            TellRoot(branch, reason);
        }

        if ((effects & AttemptEffects.Aborted) != 0)
        {
            _world.Deaths[(int)branch.Attempt!.Reason]++;
        }

        if ((effects & AttemptEffects.AbortElsewhere) != 0)
        {
            _tombstones.Add(branch.Tid);
            AbortElsewhere(branch);
        }

        Dispatch(-1);
        if ((effects & AttemptEffects.Retry) != 0)
        {
            _world.ToRepeat.Add(request);
        }

        if ((effects & AttemptEffects.Answer) != 0)
        {
            _world.AnswerTo(request, Answer.Aborted, request.Abort!.Reason);
        }
    }

    private void RequestAbort(Branch branch, AbortReason reason)
    {
        if (branch.IsRoot)
        {
            var attempt = branch.Attempt!;
            if (attempt.TryAbort(new AbortInfo(reason, "")))
            {
                _world.Tell($"  {branch} is doomed: {reason}");
                _world.Send(Index, () => Carry(branch, _transactions.Aborted(attempt)));
            }
        }
        else if (branch.Part?.TryAbort(new AbortInfo(reason, "")) ?? !branch.IsDead)
        {
            branch.IsDead = true;
            _world.Tell($"  {branch} is doomed: {reason}");
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
        if (isPact)
        {
            if (RootOrPart(_globals.Find(tid)) is { } pact)
            {
                RequestAbort(pact, reason);
            }
        }
        else if (_acts.TryGetValue(tid, out var act))
        {
            Carry(act, _transactions.OnBranchFailed(act.Attempt!, new AbortInfo(reason, "")));
        }
    }

    public void AbortFromOutside(Request request, AbortReason reason)
    {
        if (_roots.TryGetValue(request, out var branch) && branch.Attempt is { RootEnded: false })
        {
            RequestAbort(branch, reason);
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
        var branch = _acts.GetValueOrDefault(tid);
        MachineWorld.Require(branch?.IsRoot != true, $"{branch} is aborted by another worker than its root's");
        var effects = _branches.OnAbort(tid, branch?.Part);
        if (branch is not null)
        {
            Carry(branch, effects);
        }
    }

    /// <summary>What the root of an ACT tells the workers that it visited.</summary>
    private void OnFromRoot(Message message, Incarnation root)
    {
        var branch = _acts.GetValueOrDefault(message.Tid);
        if (message.Kind != MessageKind.ActDecided)
        {
            if (_branches.OnPrepare(message.Tid, branch?.Part, message.Flag, root) is { } yes)
            {
                var vote = new Message { Kind = MessageKind.ActVoted, Tid = message.Tid, Flag = yes };
                var worker = _world.Workers[root.Worker - 1];
                _world.Send(worker.Index, () => worker.ToCommit(vote));
            }

            Dispatch(-1);
        }
        else if (branch is not null)
        {
            Carry(branch, _branches.OnDecided(branch.Part!, message.Flag));
        }
    }

    /// <summary>A PACT has ended on one of its actors here (A2); its root is elsewhere.</summary>
    private void OnBranchEnded(Message message)
    {
        var member = (GlobalMember)message.Body!;
        if (RootOrPart(_globals.Admit(member.Tid, () => OnBranchEnded(message))) is not { } branch)
        {
            return;
        }

        branch.IsDead |= !message.Flag;
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
            OnPactRemoved(ticket, message);
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
            Carry(branch, _branches.OnMessage(branch.Part!, message), TransactionMachine.CauseOf(branch.Part!, message).Reason);
            return;
        }

        Carry(branch, _transactions.OnMessage(branch.Attempt!, message));
    }

    private void OnPartRemoved(PactTicket ticket)
    {
        _globals.OnEnded(ticket);
        if (ticket.IsRemote)
        {
            ((Branch)ticket.Request).IsDead = true;
        }
    }

    private void OnPactRemoved(PactTicket ticket, in Message message)
    {
        if (ticket.IsRemote)
        {
            return;
        }

        var request = (Request)ticket.Request;
        if (request.Attempt is { } attempt && attempt.Tid == message.Tid && _roots.TryGetValue(request, out var branch))
        {
            Carry(branch, _transactions.OnMessage(attempt, message));
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
