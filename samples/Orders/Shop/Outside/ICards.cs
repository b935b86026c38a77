namespace Orders.Shop.Outside;

/// <summary>
/// A payment provider. As with the real ones, a key makes its requests harmless to repeat: one key is one charge.
/// </summary>
public interface ICards
{
    /// <summary>Charges the customer's card; false: it was declined.</summary>
    Task<bool> Charge(string key, string customer, decimal amount, CancellationToken cancellation);

    /// <summary>Gives the money back.</summary>
    Task Refund(string key, string customer, decimal amount, CancellationToken cancellation);
}

/// <summary>Sends mails.</summary>
public interface IMails
{
    /// <summary>Says that an order is on its way. One key is one mail.</summary>
    Task Send(string key, string customer, string order, CancellationToken cancellation);
}
