using System.Globalization;
using Snapper.Protocol.Identity;
using Snapper.TransactionLog.Records;

namespace Snapper.TransactionLog;

/// <summary>The fold rule (L7), shared by the stores that fold in process; the Redis script says the same.</summary>
internal static class StateFolding
{
    /// <summary>Name that a field must not have: the hash keeps the version there.</summary>
    public const string VersionField = "version";

    /// <summary>Highest version with which a stored state is read, 2^52. No actor is ever changed that often; whatever is higher was put there by hand or by damage.</summary>
    public const long HighestVersion = 1L << 52;

    /// <summary>
    /// Highest version that is folded into: all that Redis' scripts tell from its neighbours, since they compare floating-point numbers. It is far above <see cref="HighestVersion"/> on purpose:
    /// what was read can be changed as often as anybody likes, and the changes, which are committed, are folded. Were it the same, one more change would stop all folding.
    /// </summary>
    public const long HighestFolded = (1L << 53) - 1;

    /// <summary>Words about a fold that builds on changes which the store never saw; null: it may be applied or skipped.</summary>
    public static string? Missing(StateFold fold, long stored) =>
        stored < fold.From
            ? string.Create(CultureInfo.InvariantCulture, $"actor {fold.Actor} is stored at version {stored}, the fold ({fold.From}, {fold.To}] builds on a later one")
            : null;

    /// <summary>Why a change cannot have been made by a worker, and could not be folded; null: it can.</summary>
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

    /// <summary>Refuses folds that no store could keep: an actor twice in one call, an empty range, a reserved name.</summary>
    public static void Validate(IReadOnlyList<StateFold> folds)
    {
        var actors = new HashSet<ActorKey>(folds.Count);
        for (var i = 0; i < folds.Count; i++)
        {
            var fold = folds[i];
            if (fold.From < 0 || fold.To <= fold.From)
            {
                throw new ArgumentException($"A fold of actor {fold.Actor} covers ({fold.From}, {fold.To}].");
            }

            if (!actors.Add(fold.Actor))
            {
                throw new ArgumentException($"Actor {fold.Actor} is folded twice in one call.");
            }

            for (var f = 0; f < fold.Fields.Count; f++)
            {
                if (fold.Fields[f].Name == VersionField)
                {
                    throw new ArgumentException($"A fold of actor {fold.Actor} names the reserved field 'version'.");
                }
            }
        }
    }

    /// <summary>The state after a fold that takes effect.</summary>
    public static StoredState Apply(StoredState? stored, StateFold fold)
    {
        if (stored is null || stored.Fields.Count == 0)
        {
            return new StoredState(fold.To, Copies(fold.Fields));
        }

        var merged = new List<StateField>(stored.Fields.Count + fold.Fields.Count);
        var changed = new Dictionary<string, StateField>(fold.Fields.Count, StringComparer.Ordinal);
        foreach (var field in fold.Fields)
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

        merged.AddRange(Copies(fold.Fields));
        return new StoredState(fold.To, merged);
    }

    /// <summary>The fields that are set, with bytes of their own: the fold's may point into a group that is about to go.</summary>
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
