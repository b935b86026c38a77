using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Runtime.Execution;

/// <summary>What an executor has to do next.</summary>
public enum WorkKind : byte
{
    /// <summary>Step an actor's machine.</summary>
    Actor,

    /// <summary>Step a coordinator.</summary>
    Coordinator,

    /// <summary>Step the commit machine.</summary>
    Commit,

    /// <summary>Tell a transaction's root (Extra: attempt).</summary>
    Root,

    /// <summary>Run the user code of a call (Body: frame).</summary>
    Invoke,

    /// <summary>Run the root call of a numbered PACT (Body: ticket).</summary>
    InvokeRoot,

    /// <summary>The method of a call has returned (Body: frame).</summary>
    Returned,

    /// <summary>A call has ended; tell its caller (Body: frame).</summary>
    Result,

    /// <summary>A lock was granted (Body: frame).</summary>
    LockGranted,

    /// <summary>An ACT that starts, or starts again (Extra: request): it waits for its turn.</summary>
    StartAct,

    /// <summary>Start the ACT whose turn it is (<see cref="WaitingStarts"/>).</summary>
    NextStart,

    /// <summary>An attempt is doomed: end it (Extra: attempt).</summary>
    AbortRequested,

    /// <summary>A request's deadline has passed, or its client has left (Extra: request; Reason).</summary>
    Deadline,

    /// <summary>An actor's state has arrived (Extra: the loaded state).</summary>
    Loaded,

    /// <summary>Continue user code (Extra: callback and its state).</summary>
    Continue,

    /// <summary>A message from another worker (Extra; Index, Message.Value: number and epoch of its sender).</summary>
    Remote,

    /// <summary>The result of a call to another worker (Extra: the call, Body: the result).</summary>
    RemoteResult,

    /// <summary>Run an action of the worker itself (Extra: Action).</summary>
    Run,
}

/// <summary>
/// An item of an executor's queue. What <see cref="Message"/> and <see cref="Extra"/> hold, says <see cref="Kind"/>: the
/// factories put it there, and the members below take it out.
/// </summary>
public struct WorkItem
{
    public WorkKind Kind;
    public int Index;
    public Message Message;
    public object? Extra;

    public readonly CallFrame Frame => (CallFrame)Message.Body!;

    public readonly Request Request => (Request)Extra!;

    public readonly Attempt Attempt => (Attempt)Extra!;

    public readonly ActorCell Cell => (ActorCell)Extra!;

    public readonly Action Action => (Action)Extra!;

    public readonly IRemoteCall RemoteCall => (IRemoteCall)Extra!;

    /// <summary>A call arrives at its actor.</summary>
    public static WorkItem Call(CallFrame frame)
    {
        var item = Of(WorkKind.Actor, frame);
        item.Message.Kind = MessageKind.Call;
        item.Message.Actor = frame.Target;
        return item;
    }

    public static WorkItem Returned(CallFrame frame) => Of(WorkKind.Returned, frame);

    /// <summary>A call has ended; its caller gets the result.</summary>
    public static WorkItem Result(CallFrame frame) => Of(WorkKind.Result, frame);

    /// <summary>The commit machine ends an attempt.</summary>
    public static WorkItem Root(Attempt attempt, in Message message) =>
        new() { Kind = WorkKind.Root, Message = message, Extra = attempt };

    /// <summary>An ACT starts, or starts again.</summary>
    public static WorkItem Start(Request request, bool gateIsOpen = false) =>
        new() { Kind = WorkKind.StartAct, Index = gateIsOpen ? 1 : 0, Extra = request };

    /// <summary>An attempt was aborted: it ends.</summary>
    public static WorkItem AbortRequested(Attempt attempt) => new() { Kind = WorkKind.AbortRequested, Extra = attempt };

    /// <summary>A request's deadline has passed, or its client has left.</summary>
    public static WorkItem Deadline(Request request, AbortReason reason)
    {
        var item = new WorkItem { Kind = WorkKind.Deadline, Extra = request };
        item.Message.Reason = reason;
        return item;
    }

    public static WorkItem Remote(Incarnation from, object message)
    {
        var item = new WorkItem { Kind = WorkKind.Remote, Index = from.Worker, Extra = message };
        item.Message.Value = from.Epoch;
        return item;
    }

    public static WorkItem RemoteResult(IRemoteCall call, object result)
    {
        var item = new WorkItem { Kind = WorkKind.RemoteResult, Extra = call };
        item.Message.Body = result;
        return item;
    }

    public static WorkItem Run(Action action) => new() { Kind = WorkKind.Run, Extra = action };

    private static WorkItem Of(WorkKind kind, CallFrame frame)
    {
        var item = new WorkItem { Kind = kind };
        item.Message.Body = frame;
        return item;
    }
}
