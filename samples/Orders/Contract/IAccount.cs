using Snapper.Actors;

namespace Orders.Contract;

/// <summary>The account of one customer; the actor's id is the customer.</summary>
public interface IAccount : ITransactionalActor
{
    /// <summary>For how much the customer may have orders that are not paid.</summary>
    Task SetLimit(decimal limit);

    /// <summary>Reserves the price of an order.</summary>
    Task Reserve(decimal amount);

    /// <summary>The card was charged with what was reserved.</summary>
    Task Settle(decimal amount);

    /// <summary>The order was cancelled: what was reserved is free again.</summary>
    Task Release(decimal amount);

    /// <summary>The account.</summary>
    Task<AccountState> Read();
}

/// <summary>The state of an account.</summary>
/// <param name="Limit">Most that may be reserved.</param>
/// <param name="Reserved">For orders that are not paid yet.</param>
/// <param name="Charged">All that the card was charged with.</param>
public sealed record AccountState(decimal Limit, decimal Reserved, decimal Charged);
