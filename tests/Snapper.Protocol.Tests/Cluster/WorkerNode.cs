using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Coordination;
using Snapper.Protocol.Global;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Scheduling;
using Snapper.Protocol.Transactions;
using Snapper.Protocol.Tests.World;

namespace Snapper.Protocol.Tests.Cluster;

/// <summary>One worker: its machines on one executor, its log, its branches of transactions.</summary>
internal sealed partial class WorkerNode
{
    private readonly ClusterWorld _world;
    private readonly OutputBuffer _outputs = new();
    private readonly ActorMachine?[] _actors;
    private readonly CoordinatorMachine[] _coordinators;
    private readonly CommitMachine _commit;
    private readonly Queue<(object Item, long Ticket)> _unanswered = new();
    private readonly Dictionary<long, PactTicket> _handles = [];
    private readonly PactBranchTable<PactBranch, Action> _globals = new(static global => new PactBranch(global));
    private readonly Dictionary<TransactionId, Branch> _acts = [];
    private readonly Tombstones _tombstones = [];
    private readonly BranchMachine _branches;
    private readonly TransactionMachine _transactions;
    private long _actCounter;
    private long _handle;
    private long _ticket;
    private long _flushed;

    public WorkerNode(ClusterWorld world, int index, int coordinators, CoordinatorOptions options)
    {
        _world = world;
        _transactions = new TransactionMachine(_outputs);
        _branches = new BranchMachine(_tombstones, _outputs);
        Index = index;
        _actors = new ActorMachine?[world.Keys.Length];
        for (var i = 0; i < _actors.Length; i++)
        {
            if (world.Homes[i] == index)
            {
                _actors[i] = new ActorMachine(world.Keys[i], null, 0);
            }
        }

        _coordinators = new CoordinatorMachine[coordinators];
        for (var i = 0; i < coordinators; i++)
        {
            _coordinators[i] = new CoordinatorMachine(i, coordinators, options);
        }

        _commit = new CommitMachine(coordinators);
        ToCoordinator(0, new Message { Kind = MessageKind.Token, Body = new RingToken(TransactionId.None) });
    }

    public int Index { get; }

    public string Name => $"w{Index + 1}";

    public Incarnation Self => IncarnationOf(Index);

    public Incarnation IncarnationOf(int worker) => _world.IncarnationOf(worker);

    public long Unflushed => _ticket - _flushed;

    public CommitMachine Commit => _commit;

    public void Submit(Request request)
    {
        if (!request.IsPact)
        {
            StartAct(request);
            return;
        }

        var ticket = new PactTicket(_world.Keys[_world.IndexOf(request.Script.Actor)], request.Declared!, request)
        {
            Marked = request.Marked,
            Coordinator = request.Ring % _coordinators.Length,
        };
        request.Ticket = ticket;
        Route(ticket);
    }

    /// <summary>A PACT of this worker alone is ordered here, any other by the master (thesis 4.2.2.1).</summary>
    private void Route(PactTicket ticket)
    {
        foreach (var access in ticket.Declared)
        {
            if (_world.Homes[_world.IndexOf(access.Actor)] != Index)
            {
                var pact = new GlobalPact(Self, ++_handle, ticket.Root, ticket.Declared, ticket.Marked)
                {
                    Caller = ticket.Caller,
                };
                _handles.Add(pact.Handle, ticket);
                ToMaster(new GlobalMessage(GlobalMessageKind.NewPact, Self, Body: pact));
                return;
            }
        }

        ToCoordinator(ticket.Coordinator, new Message { Kind = MessageKind.NewPact, Body = ticket });
    }

    public void Withdraw(Request request)
    {
        if (request.Answer != Answer.None)
        {
            return;
        }

        foreach (var (handle, ticket) in _handles)
        {
            if (ReferenceEquals(ticket, request.Ticket))
            {
                ToMaster(new GlobalMessage(GlobalMessageKind.Withdraw, Self, Value: handle));
                return;
            }
        }

        ToCoordinator(request.Ticket!.Coordinator, new Message { Kind = MessageKind.Withdraw, Body = request.Ticket, Reason = AbortReason.Cancelled });
    }

    public void OnDropped(long handle)
    {
        _handles.Remove(handle, out var ticket);
        _world.AnswerTo((Request)ticket!.Request, Answer.Aborted, AbortReason.Cancelled);
    }

    public void OnPart(GlobalPart part)
    {
        var bound = BoundPart.Bind(part, Self, handle => _handles.Remove(handle, out var ticket) ? ticket : null, RemoteBranch);
        _globals.OnPart(bound.Tickets);
        ToCoordinator(0, new Message { Kind = MessageKind.GlobalPart, Body = bound });
    }

    private Branch RemoteBranch(GlobalMember member)
    {
        var request = _world.Requests.Find(request => ReferenceEquals(request.Declared, member.Pact.Declared))!;
        return new Branch(request, this, member.Pact.Root.Worker - 1) { GlobalTid = member.Tid };
    }

    public void Flush(long tickets)
    {
        _flushed = Math.Min(_ticket, _flushed + tickets);
        var flushed = _flushed;
        _world.At(Index, () => ToCommit(new Message { Kind = MessageKind.Flushed, Value = flushed }));
    }

    public void ToCoordinator(int index, in Message message)
    {
        _world.Tell($"{Name} ring{index} <- {message.Kind} {message.Bid}");
        _coordinators[index].Step(message, _outputs);
        Dispatch(-1);
    }

    public void ToCommit(in Message message)
    {
        _world.Tell($"{Name} commit <- {message.Kind} tid={message.Tid} bid={message.Bid} actor={message.Actor?.Id} flag={message.Flag} value={message.Value}");
        if (message.Kind == MessageKind.BatchFormed)
        {
            var batch = (Batch)message.Body!;
            _world.Tell($"  {Name} batch {batch.Bid} {(batch.Part is null ? "local" : $"part of {batch.Part.Bid}")}: {string.Join(' ', batch.Tickets.Select(NameOf))}");
            if (batch.Part is not null)
            {
                Placed(batch);
            }
        }

        if (message is { Kind: MessageKind.GlobalUndo, Body: List<PactTicket> dropped })
        {
            dropped.ForEach(ticket => _globals.OnEnded(ticket));
        }

        _commit.Step(message, _outputs);
        Dispatch(-1);
    }

    public void ToActor(int actor, in Message message)
    {
        _world.Tell($"{Name} {_world.Keys[actor].Id} <- {message.Kind} tid={message.Tid} bid={message.Bid} count={message.Count} {message.Body}");
        _actors[actor]!.Step(message, _commit.Final, _outputs);
        Dispatch(actor);
    }

    public void TellSchedules()
    {
        foreach (var actor in _actors)
        {
            _world.Tell($"{Name} {actor?.Key.Id}: {string.Join(" | ", actor?.Inspect() ?? [])}");
        }
    }

    public void CheckQuiet()
    {
        MachineWorld.Require(_commit.Open.Count == 0, $"{Name}: every batch becomes final");
        MachineWorld.Require(_acts.Count == 0, $"{Name}: every ACT ends, not {string.Join(' ', _acts.Values)}");
        MachineWorld.Require(_globals.Branches.Count == 0, $"{Name}: every PACT of a global batch ends here");
        MachineWorld.Require(_handles.Count == 0, $"{Name}: no PACT waits for the master for ever");
        for (var i = 0; i < _actors.Length; i++)
        {
            if (_actors[i] is { } actor)
            {
                actor.ForgetFinal(_commit.Final);
                MachineWorld.Require(actor.IsReplaceable, $"actor {_world.Keys[i].Id} may leave memory in the end");
                MachineWorld.Require(actor.Version == _world.Versions[i], $"actor {_world.Keys[i].Id} has version {_world.Versions[i]}, not {actor.Version}");
            }
        }
    }

    private void ToMaster(GlobalMessage message) => _world.Send(_world.MasterNode, () => _world.Master.Step(message));

    private void Dispatch(int actor)
    {
        for (var i = 0; i < _outputs.Count; i++)
        {
            ref readonly var output = ref _outputs[i];
            var message = output.Message;
            var index = output.Index;
            switch (output.Kind)
            {
                case OutputKind.SendToActor:
                    var to = _world.IndexOf(message.Actor!);
                    _world.Send(Index, () => ToActor(to, message));
                    break;
                case OutputKind.SendToCoordinator when message.Kind == MessageKind.NewPact:
                    _world.Send(Index, () => Route((PactTicket)message.Body!));
                    break;
                case OutputKind.SendToCoordinator:
                    _world.Send(Index, () => ToCoordinator(index, message));
                    break;
                case OutputKind.SendToCommit:
                    _world.Send(Index, () => ToCommit(message));
                    break;
                case OutputKind.SendToMaster:
                    ToMaster(new GlobalMessage(KindOf(message.Kind), Self, message.Bid, message.Value, message.Count));
                    break;
                case OutputKind.SendToBranch:
                    var member = (GlobalMember)message.Body!;
                    var worker = _world.Workers[member.Owners[index].Worker - 1];
                    _world.Send(worker.Index, () => worker.OnBranchEnded(message));
                    break;
                case OutputKind.SendToParticipant:
                    var other = _world.Workers[((ActOutcome)message.Body!).Others[index].Worker - 1];
                    _world.Send(other.Index, () => other.OnFromRoot(message, Self));
                    break;
                case OutputKind.SendToRootWorker when message.Kind == MessageKind.ActBounds:
                    if (_acts.TryGetValue(message.Tid, out var act) && act.Root != Index)
                    {
                        var owner = _world.Workers[act.Root];
                        _world.Send(owner.Index, () => owner.OnBounds(message));
                    }

                    break;
                case OutputKind.SendToRootWorker:
                    var part = (ActOutcome)message.Body!;
                    var root = _world.Workers[part.RootWorker.Worker - 1];
                    var visited = ((Branch)part.Request).Visited.Select(_world.IncarnationOf).Where(worker => worker != part.RootWorker);
                    var vote = message with { Body = new ActVote(part.Unfit, visited.ToArray()) };
                    _world.Send(root.Index, () => root.ToCommit(vote));
                    break;
                case OutputKind.SendToRoot:
                    if (message.Body is PactTicket removed)
                    {
                        OnPartRemoved(removed);
                    }

                    _world.Send(Index, () => OnRootMessage(message));
                    break;
                case OutputKind.Invoke:
                    _world.Send(Index, () => Run((ClusterFrame)message.Body!));
                    break;
                case OutputKind.InvokeRoot:
                    _world.Send(Index, () => StartPact((PactTicket)message.Body!, message.Tid, message.Bid, message.Flag));
                    break;
                case OutputKind.GrantLock:
                    _world.Send(Index, () => OnLockGranted((ClusterFrame)message.Body!));
                    break;
                case OutputKind.Refuse:
                    RequestAbort(((ClusterFrame)message.Body!).Branch, message.Reason);
                    break;
                case OutputKind.Append:
                    Append(message.Body!);
                    break;
                case OutputKind.Reply:
                    Reply(message.Body!);
                    break;
                case OutputKind.Dropped:
                    _world.AnswerTo((Request)((PactTicket)message.Body!).Request, Answer.Aborted, message.Reason);
                    break;
                default:
                    throw new InvalidOperationException($"Unknown effect {output.Kind}.");
            }
        }

        _outputs.Clear();
    }

    private static GlobalMessageKind KindOf(MessageKind kind) => kind switch
    {
        MessageKind.PartPrepared => GlobalMessageKind.PartPrepared,
        MessageKind.PartMarked => GlobalMessageKind.PartMarked,
        MessageKind.GlobalFailed => GlobalMessageKind.Failed,
        MessageKind.GlobalUndoReport => GlobalMessageKind.UndoReport,
        MessageKind.GlobalUndone => GlobalMessageKind.Undone,
        _ => throw new InvalidOperationException($"{kind} is not for the master."),
    };

    private void Append(object item)
    {
        _world.Tell($"{Name} log: {item.GetType().Name} {(item as CommitSet)?.Batch.Bid}{(item as PreparedPart)?.Batch.Part!.Bid}{(item as DecidedPart)?.Batch.Part!.Bid}");
        _ticket++;
        _unanswered.Enqueue((item, _ticket));
        _commit.Queued(item, _ticket);
        switch (item)
        {
            case CommitSet set:
                foreach (var component in set.Components)
                {
                    JudgeComponent(component);
                }

                break;
            case DecidedPart { Committed: true } decided:
                JudgeComponent(decided.Batch.Components[0]);
                AnswerComponent(decided.Batch.Components[0]); // the decision is durable at the master
                Array.ForEach(decided.Batch.Tickets, ticket => _globals.OnEnded(ticket));
                break;
            case DecidedAct { Committed: true } decided:
                JudgeAct(decided.Part, ((Branch)decided.Part.Request).Request);
                break;
            case ActOutcome act:
                _acts.Remove(act.Tid);
                _tombstones.Add(act.Tid);
                JudgeAct(act, (Request)act.Request);
                break;
        }
    }

    private void Reply(object item)
    {
        var (expected, ticket) = _unanswered.Dequeue();
        MachineWorld.Require(ReferenceEquals(expected, item), "L5: answers leave in the order of their records");
        MachineWorld.Require(ticket <= _flushed, $"L5: ticket {ticket} is answered, the log is flushed up to {_flushed}");
        switch (item)
        {
            case CommitSet set:
                foreach (var component in set.Components)
                {
                    AnswerComponent(component);
                }

                break;
            case ActOutcome act:
                var request = (Request)act.Request;
                _world.AnswerTo(request, act.Committed ? Answer.Committed : Answer.Aborted, request.Attempt!.Reason);
                break;
        }
    }

    private void AnswerComponent(Component component)
    {
        var batch = component.Batch;
        for (var i = component.FirstMember; i >= 0; i = batch.NextMember(i))
        {
            var state = batch.StateOf(i);
            if (state != MemberState.Removed && !batch.Tickets[i].IsRemote)
            {
                var request = (Request)batch.Tickets[i].Request;
                MachineWorld.Require(request.Attempt!.Tid.Value == batch.Bid.Value + i, $"{request.Name} is answered by its own attempt");
                _world.AnswerTo(request, state == MemberState.Committed ? Answer.Committed : Answer.Aborted, request.Attempt.Reason);
            }
        }
    }

    private void JudgeComponent(Component component)
    {
        for (var slot = component.FirstSlot; slot >= 0; slot = component.Batch.NextSlot(slot))
        {
            if (component.Batch.ChangeOf(slot) is { } change)
            {
                _world.Judge(change, writer => IsOf(component, writer));
            }
        }
    }

    private static string NameOf(PactTicket ticket) =>
        $"{(ticket.IsRemote ? ((Branch)ticket.Request).Request : (Request)ticket.Request).Name}({string.Join(' ', ticket.Here.Select(access => $"{access.Actor.Id}:{access.Calls}"))}{(ticket.Marked ? "!" : "")})";

    private static bool IsOf(Component component, Attempt writer)
    {
        var batch = component.Batch;
        for (var i = component.FirstMember; i >= 0; i = batch.NextMember(i))
        {
            if (batch.StateOf(i) == MemberState.Committed)
            {
                var request = batch.Tickets[i].IsRemote ? ((Branch)batch.Tickets[i].Request).Request : (Request)batch.Tickets[i].Request;
                if (ReferenceEquals(writer, request.Attempt))
                {
                    return true;
                }
            }
        }

        return false;
    }

    private void JudgeAct(ActOutcome act, Request request)
    {
        foreach (var change in act.Changes)
        {
            _world.Judge(change, writer => ReferenceEquals(writer, request.Attempt));
        }
    }
}
