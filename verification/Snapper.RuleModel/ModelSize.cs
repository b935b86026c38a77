namespace Snapper.RuleModel;

/// <summary>How large a scenario of the rule model is.</summary>
/// <param name="Actors">Actors, 1 to 4; they are spread over the workers in turn.</param>
/// <param name="Transactions">Requests of clients, 1 to 8.</param>
/// <param name="Workers">Workers, 1 to 3.</param>
/// <param name="Operations">Most reads and writes of one transaction, 1 to 5.</param>
public readonly record struct ModelSize(int Actors, int Transactions, int Workers, int Operations)
{
    /// <summary>Most actors that a scenario may have.</summary>
    public const int MaxActors = 4;

    /// <summary>Most requests that a scenario may have.</summary>
    public const int MaxTransactions = 8;

    /// <summary>Most workers that a scenario may have.</summary>
    public const int MaxWorkers = 3;

    /// <summary>Most reads and writes that a transaction may have.</summary>
    public const int MaxOperations = 5;

    /// <summary>The sweep that runs use when they name no sizes: small ones are fast, and most circles need only three or four transactions.</summary>
    public static IReadOnlyList<ModelSize> Sweep { get; } =
    [
        new(2, 2, 1, 2), new(2, 3, 1, 2), new(2, 3, 2, 2), new(2, 4, 1, 3), new(2, 4, 2, 2), new(3, 3, 1, 3), new(3, 4, 2, 3),
        new(3, 5, 1, 3), new(3, 4, 3, 3), new(4, 5, 2, 3), new(4, 6, 1, 4), new(4, 6, 2, 4), new(4, 6, 3, 3),
    ];

    /// <summary>Those of the sweep with one worker, and the largest.</summary>
    public static IReadOnlyList<ModelSize> OneWorker { get; } =
        [.. Sweep.Where(static size => size.Workers == 1), new(4, 8, 1, 2), new(4, 8, 1, 5)];

    /// <summary>Those of the sweep with two and three workers, and the largest.</summary>
    public static IReadOnlyList<ModelSize> SeveralWorkers { get; } =
        [.. Sweep.Where(static size => size.Workers > 1), new(4, 8, 2, 3), new(4, 8, 3, 3)];

    internal void Validate()
    {
        Check(Actors, MaxActors, nameof(Actors));
        Check(Transactions, MaxTransactions, nameof(Transactions));
        Check(Workers, MaxWorkers, nameof(Workers));
        Check(Operations, MaxOperations, nameof(Operations));
        if (Workers > Actors)
        {
            throw new ArgumentException($"{Workers} workers need at least as many actors, but there are {Actors}.");
        }
    }

    private static void Check(int value, int max, string name)
    {
        if (value < 1 || value > max)
        {
            throw new ArgumentException($"{name} is {value}; it must lie between 1 and {max}.");
        }
    }

    /// <summary>In words.</summary>
    public override string ToString() => $"{Actors} actors, {Transactions} transactions, {Workers} workers, {Operations} operations";
}
