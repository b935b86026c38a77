using Snapper.Protocol.Identity;
using Snapper.TransactionLog.Records;

namespace Snapper.TransactionLog;

/// <summary>Checkpointed state of actors and outcomes that were copied out of the log; beside the log in the same server or folder.</summary>
public interface IStateStore : IAsyncDisposable
{
    /// <summary>The checkpointed state of an actor; null when it was never folded.</summary>
    Task<StoredState?> Load(ActorKey actor, CancellationToken cancellation);

    /// <summary>Folds changes into the actors' states (L7): one takes effect only if <c>From &lt;= stored version &lt; To</c>. Checks the epoch.</summary>
    Task<AppendResult> Fold(long epoch, IReadOnlyList<StateFold> folds, CancellationToken cancellation);

    /// <summary>Copies outcomes of caller keys out of the log, to be found until their window ends (I3).</summary>
    Task<AppendResult> SaveOutcomes(long epoch, IReadOnlyList<OutcomeRecord> outcomes, CancellationToken cancellation);

    /// <summary>An outcome that was copied out and is inside its window; null: none.</summary>
    Task<OutcomeRecord?> FindOutcome(string requestId, CancellationToken cancellation);
}

/// <summary>State of an actor as stored.</summary>
public sealed record StoredState(long Version, IReadOnlyList<StateField> Fields);

/// <summary>The changes of an actor between two versions; whole states have <c>From</c> 0.</summary>
public readonly record struct StateFold(ActorKey Actor, long From, long To, IReadOnlyList<StateField> Fields);
