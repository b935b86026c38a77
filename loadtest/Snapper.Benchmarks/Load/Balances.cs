namespace Snapper.Benchmarks.Load;

/// <summary>Money is neither made nor lost by transfers.</summary>
public static class Balances
{
    /// <summary>What an account that was never touched holds.</summary>
    public const decimal Initial = 10_000m;

    /// <summary>What is wrong with the sum of all accounts; null: nothing.</summary>
    public static string? Judge(decimal sum, int accounts) => sum == accounts * Initial
        ? null
        : FormattableString.Invariant($"{accounts} accounts hold {sum} in all, and must hold {accounts * Initial}");
}
