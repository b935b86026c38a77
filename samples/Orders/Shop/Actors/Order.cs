using Orders.Contract;
using Snapper.Actors;

namespace Orders.Shop.Actors;

/// <summary>
/// An order. Its changes and those of stock, account and outbox are committed together, or none of them is.
/// </summary>
[TransactionalActor("Order")]
public sealed class Order : TransactionalActor<OrderState>, IOrder
{
    protected override OrderState InitialState() => OrderState.Nothing;

    // Whom Place calls follows from what the caller sends: it is a PACT, for callers in every language.
    [Declares]
    internal static void Place(Declaration touches, string id, PlaceOrder order)
    {
        foreach (var line in order.Lines)
        {
            touches.Actor<IStock>(line.Article);
        }

        touches.Actor<IAccount>(order.Customer);
        touches.Actor<IOutbox>(Outbox.Of(id));
    }

    // It refuses after it has called others (the account, after the stock): without the mark the result is the same,
    // but others that built on it would run twice.
    [MayAbort]
    public async Task<Placed> Place(PlaceOrder order)
    {
        var mine = await State.ForUpdate();
        if (mine.Status != OrderStatus.None)
        {
            throw Abort("already_placed", new { mine.Status });
        }

        if (order.Lines.IsEmpty || order.Lines.Any(static line => line.Count < 1))
        {
            throw Abort("nothing_ordered", details: null);
        }

        var prices = await Task.WhenAll(order.Lines.Select(line => Actor<IStock>(line.Article).Take(line.Count)));
        var total = prices.Sum();
        await Actor<IAccount>(order.Customer).Reserve(total);
        await Actor<IOutbox>(Outbox.Of(Id)).Add(new(Errand.Charge, Id, order.Customer, total));
        State.Set(new OrderState(OrderStatus.Placed, order.Customer, order.Lines, total, null));
        return new Placed(total);
    }

    // Which articles it gives back stands in its own state, which no caller knows: it is an ACT, and declares nothing.
    [MayAbort]
    public async Task<bool> Cancel(string reason)
    {
        var mine = await State.ForUpdate();
        switch (mine.Status)
        {
            case OrderStatus.Placed:
                await GiveBack(mine, reason);
                return true;
            case OrderStatus.Cancelled:
                return false;
            case OrderStatus.None:
                throw Abort("no_such_order", details: null);
            default:
                throw Abort("too_late", new { mine.Status });
        }
    }

    [Declares]
    internal static void Charged(Declaration touches, string id, string customer) =>
        touches.Actor<IAccount>(customer).Actor<IOutbox>(Outbox.Of(id), 2);

    // The steps that follow are asked for by what runs errands, which may ask twice: once the errand was done, they do
    // nothing.
    public async Task Charged(string customer)
    {
        var mine = await State.ForUpdate();
        if (!await Actor<IOutbox>(Outbox.Of(Id)).Done(new(Errand.Charge, Id)))
        {
            return;
        }

        if (mine.Status == OrderStatus.Cancelled)
        {
            // The customer has cancelled while the card was charged. What left the system is made good outside, too.
            await Actor<IOutbox>(Outbox.Of(Id)).Add(new(Errand.Refund, Id, mine.Customer, mine.Total));
            return;
        }

        await Actor<IAccount>(customer).Settle(mine.Total);
        await Actor<IOutbox>(Outbox.Of(Id)).Add(new(Errand.Mail, Id, mine.Customer, mine.Total));
        State.Set(mine with { Status = OrderStatus.Paid });
    }

    public async Task Declined()
    {
        var mine = await State.ForUpdate();
        if (await Actor<IOutbox>(Outbox.Of(Id)).Done(new(Errand.Charge, Id)) && mine.Status == OrderStatus.Placed)
        {
            await GiveBack(mine, "the card was declined");
        }
    }

    [Declares]
    internal static void Refunded(Declaration touches, string id) => touches.Actor<IOutbox>(Outbox.Of(id));

    public Task Refunded() => Actor<IOutbox>(Outbox.Of(Id)).Done(new(Errand.Refund, Id));

    [Declares]
    internal static void Mailed(Declaration touches, string id) => touches.Actor<IOutbox>(Outbox.Of(id));

    public async Task Mailed()
    {
        var mine = await State.ForUpdate();
        if (await Actor<IOutbox>(Outbox.Of(Id)).Done(new(Errand.Mail, Id)))
        {
            State.Set(mine with { Status = OrderStatus.Shipped });
        }
    }

    [ReadOnlyMethod]
    public async Task<OrderState> Read() => await State.Get();

    private async Task GiveBack(OrderState mine, string reason)
    {
        foreach (var line in mine.Lines)
        {
            await Actor<IStock>(line.Article).PutBack(line.Count);
        }

        await Actor<IAccount>(mine.Customer).Release(mine.Total);
        State.Set(mine with { Status = OrderStatus.Cancelled, Reason = reason });
    }
}
