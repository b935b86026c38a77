namespace Snapper.Contracts;

/// <summary>Answer of <c>POST /v1/imports</c>. Each actor of the request is in one of the three.</summary>
public sealed record ImportsView
{
    /// <summary>How many have their state now.</summary>
    public int Imported { get; init; }

    /// <summary>How many had one already, and were left as they are.</summary>
    public int Present { get; init; }

    /// <summary>Those that were not imported.</summary>
    public IReadOnlyList<ImportFailure> Failed { get => field ?? []; init; }
}

/// <summary>An actor that was not imported, and why.</summary>
public sealed record ImportFailure
{
    /// <summary>Its id.</summary>
    public string Id { get; init; } = "";

    /// <summary>
    /// The end of the problem's type: <c>invalid-request</c>, <c>aborted</c>, <c>overloaded</c> and so on.
    /// </summary>
    public string Reason { get; init; } = "";

    /// <summary>For people.</summary>
    public string Detail { get; init; } = "";

    /// <summary>The same may work at another time.</summary>
    public bool Retryable { get; init; }
}
