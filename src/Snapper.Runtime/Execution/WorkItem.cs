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

    /// <summary>Tell a transaction's root.</summary>
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

    /// <summary>Start an ACT, or start it again (Body: request).</summary>
    StartAct,

    /// <summary>An attempt is doomed: end it (Body: attempt).</summary>
    AbortRequested,

    /// <summary>A request's deadline has passed, or its client has left (Body: request; Reason).</summary>
    Deadline,

    /// <summary>An actor's state has arrived (Body: cell; Extra: the loaded state).</summary>
    Loaded,

    /// <summary>Continue user code (Body: callback, Extra: its state).</summary>
    Continue,

    /// <summary>A message from another worker (Extra; Index, Message.Value: number and epoch of its sender).</summary>
    Remote,

    /// <summary>The result of a call to another worker (Extra: the call, Body: the result).</summary>
    RemoteResult,

    /// <summary>Run an action of the worker itself (Body: Action).</summary>
    Run,
}

public struct WorkItem
{
    public WorkKind Kind;
    public int Index;
    public Message Message;
    public object? Extra;
}
