using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;

namespace Snapper.Server.Api.Requests;

/// <summary>The body of <c>POST /v1/migrations</c>. What it can be refused for without asking anybody is said here, of a dry run as of the real thing.</summary>
internal sealed record MigrationBody(
    IReadOnlyList<MigrationBody.Named?>? Actors, IReadOnlyList<int>? Partitions, string? Worker, string? To, string? Reason, string? Id, bool DryRun = false,
    bool Rebalance = false)
{
    private const int NamedInWords = 5;
    private const int LongestId = 100;
    private const int LongestReason = 1024;

    /// <summary>An actor as a body names it.</summary>
    public sealed record Named(string? Type, string? Id);

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
    public string Words()
    {
        var what = Actors is { } actors ? string.Join(", ", actors.Take(NamedInWords).Select(actor => $"{actor!.Type}/{actor.Id}")) + (actors.Count > NamedInWords ? $" and {actors.Count - NamedInWords} more" : "")
            : Partitions is { } partitions ? "partitions " + string.Join(", ", partitions.Take(NamedInWords)) + (partitions.Count > NamedInWords ? $" and {partitions.Count - NamedInWords} more" : "")
            : Worker ?? "all workers";
        return To is null ? what : $"{what} to {To}";
    }

    /// <summary>What is wrong with it; null: nothing.</summary>
    public string? Problem()
    {
        if ((Actors is null ? 0 : 1) + (Partitions is null ? 0 : 1) + (Worker is null ? 0 : 1) + (Rebalance ? 1 : 0) != 1)
        {
            return "Exactly one of actors, partitions, worker and rebalance must be there.";
        }

        if (Rebalance && To is not null)
        {
            return "to cannot be there with rebalance: every worker gets its share.";
        }

        if (Id == "proposals")
        {
            return "id must not be 'proposals': that address is taken.";
        }

        if (Id is "." or "..")
        {
            return $"id must not be '{Id}': in an address that stands for another.";
        }

        if (Id is not null && !IsId(Id))
        {
            return $"id must have 1 to {LongestId} printable ASCII characters, without spaces.";
        }

        return Reason?.Length > LongestReason ? $"reason has {Reason.Length} characters, more than {LongestReason}." : ActorsProblem() ?? PartitionsProblem();
    }

    /// <summary>What it asks for. Only when there is no <see cref="Problem"/>.</summary>
    public MigrationAsk ToAsk()
    {
        List<ActorKey>? actors = null;
        foreach (var actor in Actors ?? [])
        {
            (actors ??= []).Add(new ActorKey(actor!.Type!, actor.Id!));
        }

        return new MigrationAsk(Id, actors, Partitions, Worker, To, Reason ?? "", DryRun, Rebalance);
    }

    private string? ActorsProblem()
    {
        if (Actors is { Count: 0 })
        {
            return "actors is empty: it names nothing to move.";
        }

        var seen = new HashSet<Named>();
        foreach (var actor in Actors ?? [])
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

    private string? PartitionsProblem()
    {
        if (Partitions is { Count: 0 })
        {
            return "partitions is empty: it names nothing to move.";
        }

        var seen = new HashSet<int>();
        foreach (var partition in Partitions ?? [])
        {
            if (!seen.Add(partition))
            {
                return $"The partition {partition} is named twice.";
            }
        }

        return null;
    }
}
