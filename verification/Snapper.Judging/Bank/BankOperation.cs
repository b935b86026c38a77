using Snapper.Judging.Histories;

namespace Snapper.Judging.Bank;

/// <summary>The transactions of SmallBank, as this project's server offers them.</summary>
public enum BankMethod
{
    /// <summary>Reads both balances.</summary>
    Balance,

    /// <summary>Adds to checking.</summary>
    DepositChecking,

    /// <summary>Takes from savings, which may not go below 0.</summary>
    TransactSavings,

    /// <summary>Takes from checking, and 1 more when both balances together do not cover it.</summary>
    WriteCheck,

    /// <summary>Moves everything into another account's checking.</summary>
    Amalgamate,

    /// <summary>Moves an amount from checking to another checking.</summary>
    SendPayment,

    /// <summary>As <see cref="SendPayment"/>.</summary>
    Transfer,

    /// <summary>Moves an amount to each of several accounts; repeated ones and the payer itself count one by one.</summary>
    MultiTransfer,
}

/// <summary>One SmallBank transaction as its client observed it.</summary>
public sealed record BankOperation
{
    /// <summary>Name for reports.</summary>
    public required string Id { get; init; }

    /// <summary>What was asked for.</summary>
    public required BankMethod Method { get; init; }

    /// <summary>The account asked.</summary>
    public required string Account { get; init; }

    /// <summary>The receiving accounts; empty for methods without any.</summary>
    public IReadOnlyList<string> To { get; init; } = [];

    /// <summary>The amount, not negative; 0 for <see cref="BankMethod.Balance"/> and <see cref="BankMethod.Amalgamate"/>.</summary>
    public decimal Amount { get; init; }

    /// <summary>What the client knows.</summary>
    public required ObservedOutcome Outcome { get; init; }

    /// <summary>What a committed one answered: the new balance, the amount moved (<see cref="BankMethod.Amalgamate"/>) or the total (<see cref="BankMethod.Balance"/>).</summary>
    public decimal? Result { get; init; }
}

/// <summary>Both balances of one account.</summary>
public readonly record struct AccountBalance(decimal Checking, decimal Savings)
{
    /// <summary>Both together.</summary>
    public decimal Total => Checking + Savings;
}
