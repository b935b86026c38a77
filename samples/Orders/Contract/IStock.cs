using Snapper.Actors;

namespace Orders.Contract;

/// <summary>The stock of one article; the actor's id is the article.</summary>
public interface IStock : ITransactionalActor
{
    /// <summary>Adds a delivery, and sets the price.</summary>
    Task<int> Receive(Delivery delivery);

    /// <summary>Takes so many out, and returns what they cost.</summary>
    Task<decimal> Take(int count);

    /// <summary>Puts so many back.</summary>
    Task PutBack(int count);

    /// <summary>What is left.</summary>
    Task<StockState> Read();
}

/// <summary>What comes into the stock.</summary>
public sealed record Delivery(int Count, decimal Price);

/// <summary>The state of an article.</summary>
public sealed record StockState(int Left, decimal Price);
