using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;

namespace Snapper.Storage.States;

/// <summary>Checkpointed state of actors and outcomes that were copied out of the log; beside the log in the same server or folder.</summary>
public interface IStateStore : IAsyncDisposable
{
    /// <summary>The checkpointed state of an actor; null when it was never checkpointed.</summary>
    Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation);

    /// <summary>Checkpoints changes into the actors' states (L7): one takes effect only if <c>From &lt;= stored version &lt; To</c>. Checks the epoch.</summary>
    Task<AppendResult> Checkpoint(long epoch, IReadOnlyList<StateCheckpoint> checkpoints, CancellationToken cancellation);

    /// <summary>Copies outcomes of caller keys out of the log, to be found for the window from now on at least (I3), however long ago they were queued.</summary>
    Task<AppendResult> SaveOutcomes(long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation);

    /// <summary>Drops copied outcomes whose window has ended; once a minute. Checks the epoch if there are any.</summary>
    Task<AppendResult> DropOutcomes(long epoch, CancellationToken cancellation);

    /// <summary>An outcome that was copied out and was not dropped since; null: none.</summary>
    Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation);
}

/// <summary>The copied outcomes of another worker, whose log may have no owner any more: then others drop them.</summary>
public interface IOutcomeArchive
{
    /// <summary>Whether it holds anything, and how often something was copied, in all lives.</summary>
    Task<ArchiveStanding> Look(CancellationToken cancellation);

    /// <summary>Drops all that it holds, unless something was copied since it stood like this.</summary>
    Task Clear(ArchiveStanding seen, CancellationToken cancellation);
}

/// <summary>How the copied outcomes of a worker stand.</summary>
/// <param name="HoldsAny">There are some.</param>
/// <param name="Copied">How often something was copied; it only rises.</param>
public readonly record struct ArchiveStanding(bool HoldsAny, long Copied);

/// <summary>State of an actor as stored.</summary>
public sealed record StoredState(long Version, IReadOnlyList<StateField> Fields);

/// <summary>The changes of an actor between two versions; whole states have <c>From</c> 0.</summary>
public readonly record struct StateCheckpoint(ActorKey Actor, long From, long To, IReadOnlyList<StateField> Fields);
