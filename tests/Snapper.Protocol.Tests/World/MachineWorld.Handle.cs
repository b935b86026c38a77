using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Tests.World;

/// <summary>What is done with an item, and with the outputs of a machine's step.</summary>
internal sealed partial class MachineWorld
{
    private readonly Queue<(object Item, long Ticket)> _unanswered = new();
    private long _ticket;
    private long _flushed;

    /// <summary>Tickets that are queued and not flushed.</summary>
    public long Unflushed => _ticket - _flushed;

    /// <summary>The log writes what is queued, up to a number of tickets.</summary>
    public void Flush(long tickets)
    {
        _current = Outside;
        _flushed = Math.Min(_ticket, _flushed + tickets);
        Trace?.Invoke($"log: flushed up to ticket {_flushed}");
        SendToCommit(new Message { Kind = MessageKind.Flushed, Value = _flushed });
    }

    private void Handle(int node, WorkItem item)
    {
        _current = node;
        Now++;
        switch (item.Kind)
        {
            case WorkKind.Actor:
                Tell(Keys[item.Index].Id, item.Message);
                _actors[item.Index].Step(item.Message, _commit.Final, _outputs);
                Dispatch(item.Index);
                break;
            case WorkKind.Coordinator:
                Tell($"ring{item.Index}", item.Message);
                _coordinators[item.Index].Step(item.Message, _outputs);
                Dispatch(-1);
                break;
            case WorkKind.Commit:
                Tell("commit", item.Message);
                NoteDecision(item.Message);
                _commit.Step(item.Message, _outputs);
                Dispatch(-1);
                break;
            case WorkKind.Root:
                OnRootMessage(item.Message, (Attempt)item.Extra!);
                break;
            case WorkKind.Invoke:
                Run((Frame)item.Extra!);
                break;
            case WorkKind.InvokeRoot:
                StartPact((PactTicket)item.Message.Body!, item.Message.Tid, item.Message.Bid, item.Message.Flag);
                break;
            case WorkKind.Continue:
                Run((Frame)item.Extra!);
                break;
            case WorkKind.LockGranted:
                OnLockGranted((Frame)item.Extra!);
                break;
            case WorkKind.Result:
                OnResult((Frame)item.Extra!);
                break;
            case WorkKind.AbortRequested:
                Carry((Attempt)item.Extra!, _transactions.Aborted((Attempt)item.Extra!));
                break;
            case WorkKind.StartAct:
                StartAct((Request)item.Extra!);
                break;
            default:
                throw new InvalidOperationException($"Unknown work {item.Kind}.");
        }
    }

    private void Dispatch(int actor)
    {
        for (var i = 0; i < _outputs.Count; i++)
        {
            ref readonly var output = ref _outputs[i];
            Tell(output);
            switch (output.Kind)
            {
                case OutputKind.SendToActor:
                    SendToActor(IndexOf(output.Message.Actor!), output.Message);
                    break;
                case OutputKind.SendToCoordinator:
                    Send(_coordinatorNode[output.Index], new WorkItem { Kind = WorkKind.Coordinator, Index = output.Index, Message = output.Message });
                    break;
                case OutputKind.SendToCommit:
                    SendToCommit(output.Message);
                    break;
                case OutputKind.SendToRoot:
                    SendToRoot(output.Message);
                    break;
                case OutputKind.Invoke:
                    Send(_actorNode[actor], new WorkItem { Kind = WorkKind.Invoke, Extra = output.Message.Body });
                    break;
                case OutputKind.InvokeRoot:
                    Send(_actorNode[actor], new WorkItem { Kind = WorkKind.InvokeRoot, Index = actor, Message = output.Message });
                    break;
                case OutputKind.GrantLock:
                    CheckLocks((Frame)output.Message.Body!);
                    Send(_actorNode[actor], new WorkItem { Kind = WorkKind.LockGranted, Extra = output.Message.Body });
                    break;
                case OutputKind.Refuse:
                    RequestAbort(((Frame)output.Message.Body!).Attempt, output.Message.Reason);
                    break;
                case OutputKind.Append:
                    Append(output.Message.Body!);
                    break;
                case OutputKind.Reply:
                    Reply(output.Message.Body!);
                    break;
                case OutputKind.Dropped:
                    var request = (Request)((PactTicket)output.Message.Body!).Request;
                    AnswerTo(request, Answer.Aborted, output.Message.Reason);
                    break;
                default:
                    throw new InvalidOperationException($"Unknown effect {output.Kind}.");
            }
        }

        _outputs.Clear();
    }

    private void SendToRoot(in Message message)
    {
        Attempt? attempt;
        if (message.Body is PactTicket ticket)
        {
            attempt = ((Request)ticket.Request).Attempt;
            if (attempt is null || attempt.Tid != message.Tid)
            {
                return; // not begun yet: its number is taken from it, so it will not begin
            }
        }
        else if (!_acts.TryGetValue(message.Tid, out attempt))
        {
            if (message.Kind == MessageKind.Removed)
            {
                SendToCommit(new Message { Kind = MessageKind.BranchAbortAcknowledged, Tid = message.Tid });
            }

            return;
        }

        Send(attempt.Node, new WorkItem { Kind = WorkKind.Root, Message = message, Extra = attempt });
    }

    private void Append(object item)
    {
        Require(item is not CommitSet sized || sized.Components.Sum(LiveMembers) <= RecordMembers, "a record is within its limit (L6)");
        if (item is CommitSet set)
        {
            foreach (var component in set.Components)
            {
                JudgeComponent(component);
            }
        }
        else
        {
            var act = (ActOutcome)item;
            JudgeAct(act);
            _acts.Remove(act.Tid);
        }

        _ticket++;
        _unanswered.Enqueue((item, _ticket));
        _commit.Queued(item, _ticket);
    }

    private void Reply(object item)
    {
        var (expected, ticket) = _unanswered.Dequeue();
        Require(ReferenceEquals(expected, item), "L5: answers leave in the order of their records");
        Require(ticket <= _flushed, $"L5: ticket {ticket} is answered, the log is flushed up to {_flushed}");
        if (item is CommitSet set)
        {
            foreach (var component in set.Components)
            {
                AnswerComponent(component);
            }
        }
        else
        {
            var act = (ActOutcome)item;
            var request = (Request)act.Request;
            AnswerTo(request, act.Committed ? Answer.Committed : Answer.Aborted, request.Attempt!.Reason);
        }
    }

    private void AnswerTo(Request request, Answer answer, AbortReason reason)
    {
        Require(request.Answer == Answer.None, $"{request.Name} is answered once");
        request.Answer = answer;
        request.Reason = reason;
        request.AnsweredAt = ++Now;
        Trace?.Invoke(answer == Answer.Committed ? $"  => {request.Name} committed" : $"  => {request.Name} aborted: {reason}");
    }

    private void AnswerComponent(Component component)
    {
        var batch = component.Batch;
        for (var i = component.FirstMember; i >= 0; i = batch.NextMember(i))
        {
            var state = batch.StateOf(i);
            if (state != MemberState.Removed)
            {
                var request = (Request)batch.Tickets[i].Request;
                var attempt = request.Attempt!;
                Require(attempt.Tid.Value == batch.Bid.Value + i, $"{request.Name} is answered by its own attempt");
                AnswerTo(request, state == MemberState.Committed ? Answer.Committed : Answer.Aborted, attempt.Reason);
            }
        }
    }
}
