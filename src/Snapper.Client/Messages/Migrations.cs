using System.Text.Json.Serialization;
using Snapper.Protocol.Identity;

namespace Snapper.Client.Messages;

/// <summary>What shall move between workers while transactions run. Exactly one of actors, partitions, worker and rebalance says what.</summary>
public sealed record MigrationRequest
{
    /// <summary>Single actors.</summary>
    public IReadOnlyList<ActorKey>? Actors { get; init; }

    /// <summary>Whole partitions, 0..4,095.</summary>
    public IReadOnlyList<int>? Partitions { get; init; }

    /// <summary>Everything of this worker: drains it.</summary>
    public string? Worker { get; init; }

    /// <summary>As many partitions as it takes for every worker that lives to have its share.</summary>
    public bool Rebalance { get; init; }

    /// <summary>The worker that gets them; null: spread over the others. Not with <see cref="Rebalance"/>.</summary>
    public string? To { get; init; }

    /// <summary>Kept with the migration, for people.</summary>
    public string? Reason { get; init; }

    /// <summary>1..100 characters; null: the client makes one. The same again changes nothing, and answers as the first time.</summary>
    public string? Id { get; init; }

    /// <summary>Only say what would move.</summary>
    public bool DryRun { get; init; }
}

/// <summary>A migration.</summary>
/// <param name="Id">Names it.</param>
/// <param name="State"><c>planned</c>, <c>done</c>, <c>cancelled</c>, or <c>partly</c>: some of its parts are done and none is open.</param>
/// <param name="Keys">Partitions and single actors in all.</param>
/// <param name="Reason">As asked for.</param>
/// <param name="Parts">One per source, target and 1,024 keys.</param>
public sealed record MigrationStatus(string Id, string State, int Keys, string Reason, IReadOnlyList<MigrationPart> Parts)
{
    /// <summary>Nothing of it is under way any more.</summary>
    [JsonIgnore]
    public bool IsOver => State != "planned";
}

/// <summary>A part of a migration.</summary>
/// <param name="Plan">Names it.</param>
/// <param name="From">The worker that has them, or had.</param>
/// <param name="To">The worker that gets them.</param>
/// <param name="Keys">How many.</param>
/// <param name="State"><c>planned</c>, <c>done</c> or <c>cancelled</c>.</param>
/// <param name="Created">When it was planned.</param>
/// <param name="Ended">When it was done or cancelled.</param>
/// <param name="Why">Why it was cancelled.</param>
/// <param name="Phases">What has been done, as far as its source has noted it.</param>
/// <param name="FrozenRequests">Requests of the source that wait because something in it is frozen.</param>
/// <param name="MostFrozenRequests">The most that were counted at a time.</param>
public sealed record MigrationPart(
    string Plan, string From, string To, int Keys, string State, DateTimeOffset? Created, DateTimeOffset? Ended, string? Why, IReadOnlyList<MigrationPhase> Phases,
    int FrozenRequests = 0, int MostFrozenRequests = 0);

/// <summary>A step of a part, and when it began.</summary>
public sealed record MigrationPhase(string Phase, DateTimeOffset At);

/// <summary>A worker as the others know it.</summary>
/// <param name="Worker">Its name, <c>w2</c>.</param>
/// <param name="Epoch">Of its life.</param>
/// <param name="State"><c>live</c>, <c>expired</c>, <c>fenced</c> or <c>left</c>.</param>
/// <param name="Master">It numbers what touches several workers.</param>
/// <param name="LeaseMs">What is left of its lease.</param>
/// <param name="Entries">Partitions and single actors that it owns.</param>
/// <param name="Url">Its own address.</param>
/// <param name="Version">Of its program.</param>
/// <param name="Expirations">How often a life of it was fenced after its lease had run out.</param>
/// <param name="Evictions">How often a life of it was fenced alive, because it could not be reached.</param>
public sealed record ClusterMember(
    string Worker, long Epoch, string State, bool Master, double LeaseMs, long Entries, string Url, string Version, long Expirations, long Evictions);
