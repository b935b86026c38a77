using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Tests.World;

/// <summary>What a node does with an item.</summary>
internal enum WorkKind : byte
{
    Actor,
    Coordinator,
    Commit,
    Root,
    Invoke,
    InvokeRoot,
    Continue,
    LockGranted,
    Result,
    AbortRequested,
    StartAct,
}

/// <summary>One item of a queue. Index: the actor, or the coordinator.</summary>
internal struct WorkItem
{
    public WorkKind Kind;
    public int Index;
    public Message Message;
    public object? Extra;

}
