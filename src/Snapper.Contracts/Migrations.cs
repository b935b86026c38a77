using System.Text.Json.Serialization;

namespace Snapper.Contracts;

/// <summary>
/// <c>POST /v1/migrations</c>: what shall move between workers while transactions run. Exactly one of actors,
/// partitions, worker and rebalance says what.
/// </summary>
public sealed record MigrationRequest
{
    /// <summary>Single actors.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public IReadOnlyList<ActorReference>? Actors { get; init; }

    /// <summary>Whole partitions, 0..4,095.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public IReadOnlyList<int>? Partitions { get; init; }

    /// <summary>Everything of this worker: drains it.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? Worker { get; init; }

    /// <summary>As many partitions as it takes for every worker that lives to have its share.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool Rebalance { get; init; }

    /// <summary>The worker that gets them; null: spread over the others. Not with <see cref="Rebalance"/>.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? To { get; init; }

    /// <summary>Kept with the migration, for people; at most 1,024 UTF-16 code units.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? Reason { get; init; }

    /// <summary>
    /// 1..100 printable ASCII characters without spaces; null: one is made. The same again changes nothing, and answers
    /// as the first time.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? Id { get; init; }

    /// <summary>Only say what would move.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool DryRun { get; init; }

    /// <summary>Exactly one of actors, partitions, worker and rebalance is there.</summary>
    [JsonIgnore]
    public bool NamesOneThing =>
        (Actors is null ? 0 : 1) + (Partitions is null ? 0 : 1) + (Worker is null ? 0 : 1) + (Rebalance ? 1 : 0) == 1;
}

/// <summary><c>GET /v1/migrations</c>.</summary>
public sealed record MigrationsView
{
    /// <summary>Those that are under way, and those that ended last.</summary>
    public IReadOnlyList<MigrationStatus> Migrations { get => field ?? []; init; }
}

/// <summary>A migration.</summary>
/// <param name="Id">Names it.</param>
/// <param name="State"><c>planned</c>, <c>done</c>, <c>cancelled</c>, or <c>partly</c>: some of its parts are done and
/// none is open.</param>
/// <param name="Keys">Partitions and single actors in all.</param>
/// <param name="Reason">As asked for.</param>
public sealed record MigrationStatus(string Id = "", string State = "", int Keys = 0, string Reason = "")
{
    /// <summary>One per source, target and 1,024 keys.</summary>
    public IReadOnlyList<MigrationPart> Parts { get => field ?? []; init; }

    /// <summary>Nothing of it is under way any more.</summary>
    [JsonIgnore]
    public bool IsOver => State != "planned";
}

/// <summary>One source and one target of a migration.</summary>
/// <param name="Plan">Names it.</param>
/// <param name="From">The worker that has them, or had.</param>
/// <param name="To">The worker that gets them.</param>
/// <param name="Keys">How many partitions and single actors.</param>
/// <param name="State"><c>planned</c>, <c>done</c> or <c>cancelled</c>.</param>
/// <param name="Created">When it was planned; null: it was not (a dry run).</param>
/// <param name="Ended">When it was done or cancelled; null: not yet.</param>
/// <param name="Why">Why it was cancelled; else null.</param>
public sealed record MigrationPart(
    string Plan = "", string From = "", string To = "", int Keys = 0, string State = "",
    [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] DateTimeOffset? Created = null,
    [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] DateTimeOffset? Ended = null,
    [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] string? Why = null)
{
    /// <summary>What has been done, in order, as far as the source has noted it.</summary>
    public IReadOnlyList<MigrationPhase> Phases { get => field ?? []; init; }

    /// <summary>Requests of the source that wait because something in it is frozen; counted several times a
    /// second.</summary>
    public int FrozenRequests { get; init; }

    /// <summary>The most that were counted at a time.</summary>
    public int MostFrozenRequests { get; init; }
}

/// <summary>
/// When a phase began, by the source's clock: <c>planned</c>, <c>freezing</c>, <c>draining</c>, <c>handingover</c>,
/// <c>done</c>, <c>cancelled</c>.
/// </summary>
public sealed record MigrationPhase(string Phase = "", DateTimeOffset At = default);

/// <summary><c>GET /v1/migrations/proposals</c>: what the policy that proposes moves sees.</summary>
/// <param name="Mode"><c>off</c>, <c>propose</c> or <c>execute</c>.</param>
/// <param name="IntervalMs">How often it looks, in milliseconds.</param>
public sealed record MigrationProposals(string Mode = "", double IntervalMs = 0)
{
    /// <summary>What each worker that lives carried in the last interval.</summary>
    public IReadOnlyList<WorkerLoad> Workers { get => field ?? []; init; }

    /// <summary>The best first.</summary>
    public IReadOnlyList<ProposedMove> Proposals { get => field ?? []; init; }

    /// <summary>How many the worker that was asked has carried out as master.</summary>
    public long Moves { get; init; }
}

/// <summary>The load of a worker: touches of its actors by transactions, per second.</summary>
public sealed record WorkerLoad(string Worker = "", double PerSecond = 0);

/// <summary>A move that would help.</summary>
/// <param name="Partition">Of a partition; null: of an actor.</param>
/// <param name="Type">Type of the actor; null: of a partition.</param>
/// <param name="Id">Its id; null as above.</param>
/// <param name="From">Who owns it.</param>
/// <param name="To">Who should.</param>
/// <param name="PerSecond">The load that moves, or that is spared the way between workers.</param>
/// <param name="Why">For people.</param>
/// <param name="Confirmed">How many looks in a row have made it.</param>
/// <param name="Ripe">It has been made often enough to be carried out.</param>
public sealed record ProposedMove(
    [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] int? Partition = null,
    [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] string? Type = null,
    [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] string? Id = null,
    string From = "", string To = "", double PerSecond = 0, string Why = "", int Confirmed = 0, bool Ripe = false);
