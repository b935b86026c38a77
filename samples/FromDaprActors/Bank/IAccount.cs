using Dapr.Actors;

namespace Bank;

/// <summary>An account with money on it.</summary>
public interface IAccount : IActor
{
    /// <summary>What is on it.</summary>
    Task<decimal> Balance();

    /// <summary>Puts money on it.</summary>
    Task Deposit(decimal amount);

    /// <summary>Takes money from it, and puts it on another one.</summary>
    Task Transfer(Transfer transfer);
}

/// <summary>What goes where.</summary>
/// <param name="To">The other account.</param>
/// <param name="Amount">How much.</param>
public sealed record Transfer(string To, decimal Amount);
