using Snapper.Protocol;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Commitment;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Runtime.Execution;

/// <summary>What is done with an item, and with the effects of a machine's step.</summary>
public sealed partial class Executor
{
    private readonly OutputBuffer _outputs = new();

    private void Handle(in WorkItem item)
    {
        switch (item.Kind)
        {
            case WorkKind.Actor:
                StepActor(item);
                break;
            case WorkKind.Coordinator:
                if (item.Index == 0 && item.Message.Kind == MessageKind.Token)
                {
                    Worker.RingStatistics.TokenCame();
                }

                Worker.Coordinators[item.Index].Step(item.Message, _outputs);

                // What the first coordinator says of an undo of the master comes behind what it has formed before (A9).
                if (!Worker.SchedulingPolicy.IsFixed && (item.Index != 0 || Worker.Peers.IsAlone) && FormsBatch())
                {
                    SendLate();
                }

                Dispatch(null);
                break;
            case WorkKind.Commit:
                Worker.Commits.Step(item.Message, _outputs);
                Worker.Commits.PublishUndone();
                Dispatch(null);
                Worker.Commits.PublishFinal();
                Worker.Commits.StartAwaiting();
                Worker.Commits.Progressed?.Invoke();
                break;
            case WorkKind.Root:
                OnRootMessage(item.Attempt, item.Message);
                break;
            case WorkKind.Invoke:
                ContinueTurn(item.Frame.Attempt.Request);
                item.Frame.Run();
                break;
            case WorkKind.InvokeRoot:
                ContinueTurn(Request.Of(item.Message.Ticket));
                StartPact(item.Message.Ticket, item.Message.Tid, item.Message.Bid, item.Message.Flag, item.Cell);
                break;
            case WorkKind.Returned:
                item.Frame.Returned();
                break;
            case WorkKind.Result:
                ContinueTurn(item.Frame.Attempt.Request);
                OnResult(item.Frame);
                break;
            case WorkKind.LockGranted:
                ContinueTurn(item.Frame.Attempt.Request);
                item.Frame.LockGranted();
                break;
            case WorkKind.NextStart:
                StartNext();
                break;
            case WorkKind.AbortRequested:
                EndAborted(item.Attempt);
                break;
            case WorkKind.Deadline:
                OnDeadline(item.Request, item.Message.Reason);
                break;
            case WorkKind.Loaded:
                OnLoaded((Loading)item.Extra!);
                break;
            case WorkKind.Continue:
                Continue((Continuation)item.Extra!);
                break;
            case WorkKind.Remote:
                Worker.Peers.Handle(new Incarnation(item.Index, item.Message.Value), item.Extra!);
                break;
            case WorkKind.RemoteResult:
                item.RemoteCall.OnResult(this, item.Message.Body!);
                break;
            case WorkKind.Run:
                item.Action();
                break;
            default:
                throw new ProtocolViolationException($"Executor {Index}: unknown work {item.Kind}.");
        }
    }

    private void Continue(Continuation continuation)
    {
        if (!continuation.Frame.MayContinue())
        {
            return;
        }

        ContinueTurn(continuation.Frame.Attempt.Request);
        var outer = BeginUserCode(continuation.Frame);
        Exception? failure = null;
        try
        {
            continuation.Callback(continuation.State);
        }
        catch (Exception exception) when (exception is not DisownedException)
        {
            failure = exception; // of an async void method, say: it dooms its transaction, not the worker (A10)
        }

        EndUserCode(outer);
        if (failure is not null)
        {
            continuation.Frame.Fail(failure);
        }
    }

    private void OnResult(CallFrame frame)
    {
        var caller = frame.CallerFrame!;
        var outer = BeginUserCode(caller);
        frame.Deliver();
        EndUserCode(outer);
        if (frame.HasEnded)
        {
            caller.ChildEnded(frame.CallsUnder);
        }
    }

    private bool FormsBatch()
    {
        for (var i = 0; i < _outputs.Count; i++)
        {
            if (_outputs[i].Message.Kind == MessageKind.BatchFormed)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Carries out the effects of a step, in order. Runs no user code and steps no machine: those are queued.</summary>
    private void Dispatch(ActorCell? cell)
    {
        for (var i = 0; i < _outputs.Count; i++)
        {
            ref readonly var output = ref _outputs[i];
            switch (output.Kind)
            {
                case OutputKind.SendToActor:
                    Worker.SendToActor(output.Message);
                    break;
                case OutputKind.SendToCoordinator:
                    Worker.SendToCoordinator(output.Index, output.Message);
                    break;
                case OutputKind.SendToCommit:
                    SendToCommit(output.Message, cell);
                    break;
                case OutputKind.SendToRoot:
                    Worker.SendToRoot(output.Message);
                    break;
                case OutputKind.Invoke:
                    _local.Enqueue(new WorkItem { Kind = WorkKind.Invoke, Message = output.Message });
                    break;
                case OutputKind.InvokeRoot:
                    _local.Enqueue(new WorkItem { Kind = WorkKind.InvokeRoot, Message = output.Message, Extra = cell });
                    break;
                case OutputKind.GrantLock:
                    _local.Enqueue(new WorkItem { Kind = WorkKind.LockGranted, Message = output.Message });
                    break;
                case OutputKind.Refuse:
                    OnRefused(output.Message);
                    break;
                case OutputKind.Append:
                    Worker.Commits.Append(output.Message.Body!);
                    break;
                case OutputKind.Reply:
                    Worker.Commits.Reply(output.Message.Body!);
                    break;
                case OutputKind.SendToMaster:
                case OutputKind.SendToBranch:
                case OutputKind.SendToParticipant:
                case OutputKind.SendToRootWorker:
                case OutputKind.NotNumbered:
                    Worker.Peers.Send(output);
                    break;
                case OutputKind.Dropped:
                    Worker.RequestManager.Dropped(Request.Of(output.Message.Ticket), output.Message.Reason);
                    break;
                default:
                    throw new ProtocolViolationException($"Executor {Index}: unknown effect {output.Kind}.");
            }
        }

        _outputs.Clear();
    }

    /// <summary>L4: a change becomes bytes here, on its actor's executor, before it leaves it.</summary>
    private void SendToCommit(in Message message, ActorCell? cell)
    {
        if (message.Body is not Change change || cell is null)
        {
            Worker.SendToCommit(message);
            return;
        }

        var encoded = message;
        if (WeighedOf(cell, message) is not { } bytes && TryEncode(cell, change.State, out bytes) is { } unfit)
        {
            StateUnfit(message, cell, unfit);
            return;
        }

        _residents.Resize(cell, bytes.Length);
        encoded.Body = ReferenceEquals(change.State, AbsentState.Instance) ? change : new Change(change.Actor, change.Version, bytes);
        Worker.SendToCommit(encoded);
    }

    /// <summary>The bytes that the last writer of a sub-batch was weighed by; null: it was not.</summary>
    private byte[]? WeighedOf(ActorCell cell, in Message message)
    {
        if (cell.Weighed.Bytes is not { } bytes || message.Kind != MessageKind.SubBatchCompleted)
        {
            return null;
        }

        if (Machine(cell).WritersOf(message.Bid) is [.., var last] && last == cell.Weighed.Tid)
        {
            return bytes;
        }

        cell.Weighed = default;
        return null;
    }

    /// <summary>The state is too large, or cannot be written at all.</summary>
    private void StateUnfit(in Message message, ActorCell cell, string why)
    {
        if (message.Kind == MessageKind.ActChanges)
        {
            var refusal = message;
            refusal.Flag = true;
            refusal.Body = new AbortInfo(AbortReason.Application, why, cell.Key);
            Worker.SendToCommit(refusal);
            return;
        }

        // Nobody can tell which transaction of the sub-batch went too far: those that wrote run again and are weighed one by one.
        cell.Type.WasUnfit = true;
        foreach (var tid in Machine(cell).WritersOf(message.Bid))
        {
            Worker.SendToCommit(new Message { Kind = MessageKind.PactFailed, Tid = tid, Bid = message.Bid });
        }
    }

    private static void OnRefused(in Message message)
    {
        var frame = (CallFrame)message.Body!;
        var text = message.Reason switch
        {
            AbortReason.Undeclared => $"{frame.CallerFrame?.Where() ?? "The request"} made more calls on {frame.Target} than were declared.",
            _ => $"The call of {frame.Where()} came too late: its transaction had ended.",
        };
        frame.Refuse(message.Reason, text);
    }
}
