using System.Globalization;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Storage.Checkpoints;

/// <summary>The checkpoint rule (L7), shared by the stores that checkpoint in process; the Redis script says the same.</summary>
internal static class CheckpointRule
{
    /// <summary>Name that a field must not have: the hash keeps the version there.</summary>
    public const string VersionField = "version";

    /// <summary>Highest version with which a stored state is read, 2^52. No actor is ever changed that often; whatever is higher was put there by hand or by damage.</summary>
    public const long HighestVersion = 1L << 52;

    /// <summary>
    /// Highest version that is checkpointed into: all that Redis' scripts tell from its neighbours, since they compare floating-point numbers. It is far above <see cref="HighestVersion"/> on purpose:
    /// what was read can be changed as often as anybody likes, and the changes, which are committed, are checkpointed. Were it the same, one more change would stop all checkpointing.
    /// </summary>
    public const long HighestCheckpointed = (1L << 53) - 1;

    /// <summary>Words about a checkpoint that builds on changes which the store never saw; null: it may be applied or skipped.</summary>
    public static string? Missing(StateCheckpoint checkpoint, long stored) =>
        stored < checkpoint.From
            ? string.Create(CultureInfo.InvariantCulture, $"actor {checkpoint.Actor} is stored at version {stored}, the checkpoint ({checkpoint.From}, {checkpoint.To}] builds on a later one")
            : null;

    /// <summary>
    /// Words about a stored version behind which none is given, since the log has that one already; null: it may be.
    /// </summary>
    public static string? Lost(ActorKey actor, long stored, IReadOnlyDictionary<ActorKey, long> lastVersions) =>
        lastVersions.GetValueOrDefault(actor) is var last && stored < last
            ? string.Create(
                CultureInfo.InvariantCulture,
                $"actor {actor} is stored at version {stored}, and the log has its version {last}")
            : null;

    /// <summary>Why a change cannot have been made by a worker, and could not be checkpointed; null: it can.</summary>
    public static string? Objection(ActorChange change)
    {
        if (change.Version < 1)
        {
            return $"it makes version {change.Version}";
        }

        for (var f = 0; f < change.Fields.Count; f++)
        {
            if (change.Fields[f].Name == VersionField)
            {
                return "it names the reserved field 'version'";
            }
        }

        return change.Fields.Count == 0 ? "it has no fields" : null;
    }

    /// <summary>Refuses checkpoints that no store could keep: an actor twice in one call, an empty range, a reserved name.</summary>
    public static void Validate(IReadOnlyList<StateCheckpoint> checkpoints)
    {
        var actors = new HashSet<ActorKey>(checkpoints.Count);
        for (var i = 0; i < checkpoints.Count; i++)
        {
            var checkpoint = checkpoints[i];
            if (checkpoint.From < 0 || checkpoint.To <= checkpoint.From)
            {
                throw new ArgumentException($"A checkpoint of actor {checkpoint.Actor} covers ({checkpoint.From}, {checkpoint.To}].");
            }

            if (!actors.Add(checkpoint.Actor))
            {
                throw new ArgumentException($"Actor {checkpoint.Actor} is checkpointed twice in one call.");
            }

            for (var f = 0; f < checkpoint.Fields.Count; f++)
            {
                if (checkpoint.Fields[f].Name == VersionField)
                {
                    throw new ArgumentException($"A checkpoint of actor {checkpoint.Actor} names the reserved field 'version'.");
                }
            }
        }
    }

    /// <summary>The state after a checkpoint that takes effect.</summary>
    public static StoredState Apply(StoredState? stored, StateCheckpoint checkpoint)
    {
        if (stored is null || stored.Fields.Count == 0)
        {
            return new StoredState(checkpoint.To, Copies(checkpoint.Fields));
        }

        var merged = new List<StateField>(stored.Fields.Count + checkpoint.Fields.Count);
        var changed = new Dictionary<string, StateField>(checkpoint.Fields.Count, StringComparer.Ordinal);
        foreach (var field in checkpoint.Fields)
        {
            changed[field.Name] = field;
        }

        foreach (var field in stored.Fields)
        {
            if (!changed.ContainsKey(field.Name))
            {
                merged.Add(field);
            }
        }

        merged.AddRange(Copies(checkpoint.Fields));
        return new StoredState(checkpoint.To, merged);
    }

    /// <summary>The fields that are set, with bytes of their own: the checkpoint's may point into a group that is about to go.</summary>
    private static List<StateField> Copies(IReadOnlyList<StateField> fields)
    {
        var copies = new List<StateField>(fields.Count);
        foreach (var field in fields)
        {
            if (field.Value is { } value)
            {
                copies.Add(new StateField(field.Name, value.ToArray()));
            }
        }

        return copies;
    }
}
