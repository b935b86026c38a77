using Snapper.Cluster.Control;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Requests;

/// <summary>What the body of <c>POST /v1/migrations</c> can be refused for without asking anybody: of a dry run as of the real thing.</summary>
internal static class MigrationBody
{
    private const int NamedInWords = 5;
    private const int LongestId = 100;
    private const int LongestReason = 1024;

    /// <summary>Whether a migration may have this id: 1 to 100 printable ASCII characters without spaces, and none of the names that its address cannot end with.</summary>
    public static bool IsId(string id)
    {
        foreach (var c in id)
        {
            if (c is <= ' ' or > '~')
            {
                return false;
            }
        }

        return id.Length is > 0 and <= LongestId && id is not ("proposals" or "." or "..");
    }

    /// <summary>What it moves, in short, for the audit.</summary>
    public static string Words(this MigrationRequest asked)
    {
        var what = asked.Actors is { } actors ? string.Join(", ", actors.Take(NamedInWords).Select(actor => $"{actor!.Type}/{actor.Id}")) + (actors.Count > NamedInWords ? $" and {actors.Count - NamedInWords} more" : "")
            : asked.Partitions is { } partitions ? "partitions " + string.Join(", ", partitions.Take(NamedInWords)) + (partitions.Count > NamedInWords ? $" and {partitions.Count - NamedInWords} more" : "")
            : asked.Worker ?? "all workers";
        return asked.To is null ? what : $"{what} to {asked.To}";
    }

    /// <summary>What is wrong with it; null: nothing.</summary>
    public static string? Problem(this MigrationRequest asked)
    {
        if (!asked.NamesOneThing)
        {
            return "Exactly one of actors, partitions, worker and rebalance must be there.";
        }

        if (asked.Rebalance && asked.To is not null)
        {
            return "to cannot be there with rebalance: every worker gets its share.";
        }

        if (asked.Id == "proposals")
        {
            return "id must not be 'proposals': that address is taken.";
        }

        if (asked.Id is "." or "..")
        {
            return $"id must not be '{asked.Id}': in an address that stands for another.";
        }

        if (asked.Id is not null && !IsId(asked.Id))
        {
            return $"id must have 1 to {LongestId} printable ASCII characters, without spaces.";
        }

        return asked.Reason?.Length > LongestReason ? $"reason has {asked.Reason.Length} characters, more than {LongestReason}." : ActorsProblem(asked) ?? PartitionsProblem(asked);
    }

    /// <summary>What it asks for. Only when there is no <see cref="Problem"/>.</summary>
    public static MigrationAsk ToAsk(this MigrationRequest asked)
    {
        List<ActorKey>? actors = null;
        foreach (var actor in asked.Actors ?? [])
        {
            (actors ??= []).Add(new ActorKey(actor!.Type!, actor.Id!));
        }

        return new MigrationAsk(asked.Id, actors, asked.Partitions, asked.Worker, asked.To, asked.Reason ?? "", asked.DryRun, asked.Rebalance);
    }

    private static string? ActorsProblem(MigrationRequest asked)
    {
        if (asked.Actors is { Count: 0 })
        {
            return "actors is empty: it names nothing to move.";
        }

        var seen = new HashSet<ActorReference>();
        foreach (var actor in asked.Actors ?? [])
        {
            if (actor is null)
            {
                return "An actor is null: it must be {\"type\", \"id\"}.";
            }

            if ((NameRules.ActorTypeError(actor.Type ?? "") ?? NameRules.ActorIdError(actor.Id ?? "")) is { } wrong)
            {
                return $"An actor is wrong: {wrong}.";
            }

            if (!seen.Add(actor))
            {
                return $"The actor {actor.Type}/{actor.Id} is named twice.";
            }
        }

        return null;
    }

    private static string? PartitionsProblem(MigrationRequest asked)
    {
        if (asked.Partitions is { Count: 0 })
        {
            return "partitions is empty: it names nothing to move.";
        }

        var seen = new HashSet<int>();
        foreach (var partition in asked.Partitions ?? [])
        {
            if (!seen.Add(partition))
            {
                return $"The partition {partition} is named twice.";
            }
        }

        return null;
    }
}
