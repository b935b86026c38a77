namespace Snapper.Scenarios.Workloads;

/// <summary>Whether a system holds what it should.</summary>
/// <param name="Name">What was looked at.</param>
/// <param name="Summary">The verdict in a sentence.</param>
/// <param name="Problems">What is wrong; empty: it holds.</param>
public sealed record InvariantReport(string Name, string Summary, IReadOnlyList<string> Problems)
{
    /// <summary>Nothing is wrong.</summary>
    public bool Passed => Problems.Count == 0;
}
