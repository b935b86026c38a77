namespace Snapper.Apps.SmallBank;

/// <summary>What an account holds.</summary>
/// <param name="Checking">May be below 0 after a check.</param>
/// <param name="Savings">0 or more.</param>
public sealed record AccountState(decimal Checking, decimal Savings);
