namespace Snapper.Judging.Bank;

/// <summary>The verdict on the money.</summary>
/// <param name="Problems">What is wrong, one sentence each; empty when nothing is.</param>
/// <param name="ExpectedTotal">The total over all accounts that the acknowledged transactions explain, without those of unknown outcome and without check penalties.</param>
/// <param name="ActualTotal">The total found.</param>
public sealed record BankReport(IReadOnlyList<string> Problems, decimal ExpectedTotal, decimal ActualTotal)
{
    /// <summary>True when all money is explained.</summary>
    public bool Passed => Problems.Count == 0;

    /// <inheritdoc/>
    public override string ToString() => Passed
        ? $"All money is explained: {ActualTotal} in all accounts."
        : $"The money does not add up ({ActualTotal} found, {ExpectedTotal} explained by acknowledged transactions):\n  {string.Join("\n  ", Problems)}";
}
