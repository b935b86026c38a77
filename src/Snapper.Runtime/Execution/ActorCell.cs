using Snapper.Protocol;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Scheduling;

namespace Snapper.Runtime.Execution;

/// <summary>One resident actor: its machine, once its state is loaded, and what waits for that. Used by its executor alone.</summary>
public sealed class ActorCell(ActorKey key, ActorType? type, Executor executor)
{
    public ActorKey Key { get; } = key;

    /// <summary>This worker hosts its type. Calls of one that it does not host are refused.</summary>
    public bool IsHosted => type is not null;

    /// <summary>Its type.</summary>
    /// <exception cref="ProtocolViolationException">This worker does not host it.</exception>
    public ActorType Type =>
        type ?? throw new ProtocolViolationException($"{Key} was let in, but there is no such type.");

    public Executor Executor { get; } = executor;

    /// <summary>Null while the state is being loaded.</summary>
    public ActorMachine? Machine { get; set; }

    /// <summary>
    /// While the state is being loaded: the machine that the actor had before, for it was declared and not called.
    /// </summary>
    public ActorMachine? Unloaded { get; set; }

    /// <summary>Its schedule, also while its state is being loaded; null: nothing was scheduled before that.</summary>
    public ActorMachine? Schedule => Machine ?? Unloaded;

    /// <summary>Its state is here: calls may enter.</summary>
    public bool IsLoaded => Machine is { IsLoaded: true };

    /// <summary>What arrived while the state was loaded.</summary>
    public List<WorkItem>? Pending { get; set; }

    /// <summary>
    /// Why its stored state cannot be used, as it was found when it was loaded; null: it can, or has been replaced for good. Its machine holds a
    /// <see cref="DamagedState"/>. It is loaded again when it is used again (<see cref="Executor.ReloadEvery"/>): somebody may have put it right.
    /// </summary>
    public string? Broken { get; set; }

    /// <summary>Timestamp of the load that found it <see cref="Broken"/>.</summary>
    public long BrokenAt { get; set; }

    /// <summary>Number of the newest record when it was first found idle; its last change is in one of those.</summary>
    public long SequenceWhenIdle { get; set; }

    /// <summary>Its version when it was found ready to leave with a migration, with <see cref="SequenceWhenIdle"/>; -1: it was not.</summary>
    public long VersionWhenLeaving { get; set; } = -1;

    /// <summary>
    /// The state, as it was weighed, that a transaction has left; null: none was. These bytes are its change: to write
    /// the state once more might fail, each time that it runs again.
    /// </summary>
    public (TransactionId Tid, byte[]? Bytes) Weighed { get; set; }

    /// <summary>Sweeps, and looks for what may leave, since it was last used.</summary>
    public int IdleSweeps { get; set; }

    /// <summary>Size of its state as JSON, as it was loaded or written last.</summary>
    internal int StateBytes { get; set; }

    /// <summary>The next one in the ring of <see cref="ResidentActors"/>; null: it is in none.</summary>
    internal ActorCell? Next { get; set; }

    /// <summary>The one before it there.</summary>
    internal ActorCell? Previous { get; set; }
}
