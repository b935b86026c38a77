using System.Collections.ObjectModel;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log.Records;

namespace Snapper.Storage.Checkpoints;

/// <summary>What a recovery found. All numbers are 0 for a log that was never written.</summary>
public sealed record RecoverySummary
{
    /// <summary>Highest PACT number ever, trimmed records included; numbering goes on above it (R1).</summary>
    public required long HighestTransaction { get; init; }

    /// <summary>Highest Lamport counter of an ACT ever, trimmed records included.</summary>
    public required long HighestActCounter { get; init; }

    /// <summary>Highest batch in the records read.</summary>
    public required long HighestBatch { get; init; }

    /// <summary>Records read.</summary>
    public required long Records { get; init; }

    /// <summary>Their bytes.</summary>
    public required long Bytes { get; init; }

    /// <summary>Actors whose changes were handed to the state store.</summary>
    public required long ActorsCheckpointed { get; init; }

    /// <summary>Time that it took.</summary>
    public required TimeSpan Elapsed { get; init; }

    /// <summary>Outcomes in the records read, of callers' keys and generated ids, with bytes of their own; the checkpointer copies them out before it trims (L8).</summary>
    public required IReadOnlyList<OutcomeRecord> Outcomes { get; init; }

    /// <summary>The same, with outcomes that became true when what was in doubt was settled: they are copied out before their records are trimmed, like those that were found (I3).</summary>
    public RecoverySummary With(IReadOnlyList<(OutcomeRecord Outcome, long Sequence)> settled)
    {
        ArgumentNullException.ThrowIfNull(settled);
        if (settled.Count == 0)
        {
            return this;
        }

        var outcomes = new List<OutcomeRecord>(Outcomes);
        foreach (var (outcome, _) in settled)
        {
            outcomes.Add(outcome);
        }

        return this with { Outcomes = outcomes };
    }

    /// <summary>Conditional records without marker, in the order of the log: what became of them is to be asked elsewhere (R2).</summary>
    public IReadOnlyList<InDoubt> InDoubt { get; init; } = [];

    /// <summary>What could not be checkpointed, because places in the store are damaged. Everything else is.</summary>
    public IReadOnlyList<SetAside> SetAside { get; init; } = [];

    /// <summary>
    /// Committed changes without a version, since the place of their actor is, or was, damaged (R4).
    /// </summary>
    public IReadOnlyList<InDoubt> Unversioned { get; init; } = [];

    /// <summary>
    /// The last version that the log has of actors with changes in doubt, or without a version: all that is stored of
    /// them is this or a later one, or the store has lost something (L7).
    /// </summary>
    internal IReadOnlyDictionary<ActorKey, long> LastVersions { get; init; } =
        ReadOnlyDictionary<ActorKey, long>.Empty;

    /// <summary>Nothing is to be settled before anything opens.</summary>
    public bool IsSettled => InDoubt.Count == 0 && Unversioned.Count == 0;

    /// <summary>Decisions of a master, in order; only in the master's stream.</summary>
    public IReadOnlyList<BatchId> Decisions { get; init; } = [];

    /// <summary>Actors that came here; each counts if its plan is done (M6).</summary>
    public IReadOnlyList<MovedIn> MovedIn { get; init; } = [];

    /// <summary>ACTs that were decided here for other workers, too: those may ask (R2).</summary>
    public IReadOnlyList<ActCommitted> ActsWithOthers { get; init; } = [];
}
