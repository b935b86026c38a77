using System.Collections.Immutable;
using System.Text.Json.Serialization;
using Snapper.Actors;

namespace Orders.Contract;

/// <summary>One order, from the moment that it is placed.</summary>
public interface IOrder : ITransactionalActor
{
    /// <summary>Takes the articles out of the stock and reserves the price on the customer's account.</summary>
    Task<Placed> Place(PlaceOrder order);

    /// <summary>Gives back what <see cref="Place"/> took; false: it was cancelled before.</summary>
    Task<bool> Cancel(string reason);

    /// <summary>The card was charged.</summary>
    Task Charged(string customer);

    /// <summary>The card was refused.</summary>
    Task Declined();

    /// <summary>The card has its money back.</summary>
    Task Refunded();

    /// <summary>The mail that it is on its way was sent.</summary>
    Task Mailed();

    /// <summary>What the order is now.</summary>
    Task<OrderState> Read();
}

/// <summary>What a customer orders.</summary>
public sealed record PlaceOrder(
    [property: JsonRequired] string Customer, [property: JsonRequired] ImmutableArray<Line> Lines);

/// <summary>So many of an article.</summary>
public sealed record Line(string Article, int Count);

/// <summary>What a placed order costs.</summary>
public sealed record Placed(decimal Total);

/// <summary>Where an order stands.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<OrderStatus>))]
public enum OrderStatus
{
    /// <summary>There is no such order.</summary>
    None,

    /// <summary>Its articles and its price are reserved.</summary>
    Placed,

    /// <summary>The card was charged.</summary>
    Paid,

    /// <summary>The customer has the mail that it is on its way.</summary>
    Shipped,

    /// <summary>Articles and price were given back.</summary>
    Cancelled,
}

/// <summary>The state of an order.</summary>
public sealed record OrderState(
    OrderStatus Status, string Customer, ImmutableArray<Line> Lines, decimal Total, string? Reason)
{
    /// <summary>An order that was never placed.</summary>
    public static OrderState Nothing { get; } = new(OrderStatus.None, "", [], 0, null);
}
