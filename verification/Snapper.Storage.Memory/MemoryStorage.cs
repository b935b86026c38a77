using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Storage.Memory;

/// <summary>
/// What a memory log and its state store keep: <b>not durable</b>, gone with the process. Handing the same object to new
/// instances is how tests and the simulator restart a worker.
/// </summary>
public sealed class MemoryStorage
{
    /// <summary>Storage of one worker alone.</summary>
    public MemoryStorage()
        : this(new Lock(), [], [], Guid.NewGuid().ToString("N"))
    {
    }

    /// <summary>Storage of one worker of several: the states are everybody's, and one gate makes a step over all of them atomic.</summary>
    internal MemoryStorage(
        Lock gate, Dictionary<ActorKey, StoredState> states, HashSet<ActorKey> damagedPlaces, string id)
    {
        Gate = gate;
        States = states;
        DamagedPlaces = damagedPlaces;
        Id = id;
    }

    internal Lock Gate { get; }

    internal string Id { get; private init; }

    internal long Epoch { get; set; }

    /// <summary>The next opening gives an epoch above this one; above whatever a server lost that was in this one's place.</summary>
    internal long HighestEpoch { get => Math.Max(field, Epoch); private set; }

    internal long NextSequence { get; set; } = 1;

    internal LogWatermarks Watermarks { get; set; }

    /// <summary>Checkpoints, trims and savings of outcomes so far.</summary>
    internal long Changes { get; set; }

    /// <summary>How often a writer was found to know more than is here.</summary>
    internal long Losses { get; private set; }

    internal List<LogGroup> Groups { get; } = [];

    internal Dictionary<ActorKey, StoredState> States { get; }

    /// <summary>
    /// Actors whose places among the states are damaged, as by a key of another type: neither read nor written.
    /// </summary>
    internal HashSet<ActorKey> DamagedPlaces { get; }

    /// <summary>Copied outcomes, each with the minute by which it is filed.</summary>
    internal Dictionary<string, (OutcomeRecord Outcome, long Minute)> Outcomes { get; } = new(StringComparer.Ordinal);

    /// <summary>How much of the newest minute had passed at the last copying.</summary>
    internal long CopiedPassedMs { get; set; }

    /// <summary>How often outcomes were copied.</summary>
    internal long Copied { get; set; }

    internal long FirstSequence => Groups.Count == 0 ? NextSequence : Groups[0].FirstSequence;

    /// <summary>Raises the epoch. Needs the gate.</summary>
    internal LogOpening Raise()
    {
        Epoch = HighestEpoch + 1;
        return new LogOpening(Epoch, NextSequence, FirstSequence, Watermarks) { Losses = Losses };
    }

    /// <summary>Groups that hold this record or a later one, as they are now.</summary>
    internal LogGroup[] GroupsFrom(long sequence)
    {
        lock (Gate)
        {
            return Groups.FindAll(g => g.FirstSequence + g.Count > sequence).ToArray();
        }
    }

    /// <summary>Everything as it is now, for a simulated server that comes back with an older copy.</summary>
    internal MemoryStorage Copy()
    {
        lock (Gate)
        {
            var copy = new MemoryStorage { Id = Id };
            copy.TakeLog(this);
            foreach (var (actor, state) in States)
            {
                copy.States.Add(actor, state);
            }

            copy.DamagedPlaces.UnionWith(DamagedPlaces);

            return copy;
        }
    }

    /// <summary>Becomes what another storage is, but for the states. Needs the gate.</summary>
    internal void TakeLog(MemoryStorage other)
    {
        (Epoch, NextSequence, Watermarks, Changes, Copied) = (other.Epoch, other.NextSequence, other.Watermarks, other.Changes, other.Copied);
        Groups.Clear();
        Groups.AddRange(other.Groups);
        Outcomes.Clear();
        foreach (var (id, outcome) in other.Outcomes)
        {
            Outcomes.Add(id, outcome);
        }
    }

    /// <summary>Whatever was opened before is over, and no opening has the epoch of an earlier one. Needs the gate.</summary>
    internal void LeapFrom(long above)
    {
        HighestEpoch = above;
        Epoch = Epoch > 0 ? HighestEpoch : 0;
    }

    /// <summary>A writer knows more than is here. Needs the gate.</summary>
    internal void NoteLoss() => Losses++;

    /// <summary>Null: the epoch is the current one.</summary>
    internal AppendResult? Fence(long epoch, MemoryGuard? guard = null) =>
        guard is { IsCurrent: false } ? new AppendResult(AppendStatus.RescuerFenced, $"the rescuer's epoch {guard.Epoch} is not the current one, {guard.Storage.Epoch}")
        : epoch == Epoch ? null : new AppendResult(AppendStatus.Fenced, $"epoch {epoch} is not the current one, {Epoch}");
}

/// <summary>The opening of a rescuer's own log (R4).</summary>
internal sealed record MemoryGuard(MemoryStorage Storage, long Epoch)
{
    /// <summary>Needs the gate.</summary>
    public bool IsCurrent => Storage.Epoch == Epoch;
}
