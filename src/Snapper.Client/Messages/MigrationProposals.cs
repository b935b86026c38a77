namespace Snapper.Client.Messages;

/// <summary>What the policy that proposes moves sees.</summary>
/// <param name="Mode"><c>off</c>, <c>propose</c> or <c>execute</c>.</param>
/// <param name="IntervalMs">How often it looks.</param>
/// <param name="Workers">What each worker carried in the last interval.</param>
/// <param name="Proposals">The best first.</param>
/// <param name="Moves">How many the worker that was asked has carried out as master.</param>
public sealed record MigrationProposals(string Mode, double IntervalMs, IReadOnlyList<WorkerLoad> Workers, IReadOnlyList<ProposedMove> Proposals, long Moves);

/// <summary>The load of a worker: touches of its actors by transactions, per second.</summary>
public sealed record WorkerLoad(string Worker, double PerSecond);

/// <summary>A move that would help.</summary>
/// <param name="Partition">Of a partition; null: of an actor.</param>
/// <param name="Type">Type of the actor; null: of a partition.</param>
/// <param name="Id">Its id.</param>
/// <param name="From">Who owns it.</param>
/// <param name="To">Who should.</param>
/// <param name="PerSecond">The load that moves, or that is spared the way between workers.</param>
/// <param name="Why">For people.</param>
/// <param name="Confirmed">How many looks in a row have made it.</param>
/// <param name="Ripe">It has been made often enough to be carried out.</param>
public sealed record ProposedMove(int? Partition, string? Type, string? Id, string From, string To, double PerSecond, string Why, int Confirmed, bool Ripe);
