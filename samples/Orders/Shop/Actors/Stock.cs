using Orders.Contract;
using Snapper.Actors;

namespace Orders.Shop.Actors;

/// <summary>The stock of an article: never below zero, whatever is ordered at once.</summary>
[TransactionalActor("Stock")]
public sealed class Stock : TransactionalActor<StockState>, IStock
{
    protected override StockState InitialState() => new(0, 0);

    public async Task<int> Receive(Delivery delivery)
    {
        if (delivery.Count < 0 || delivery.Price < 0)
        {
            throw Abort("no_delivery", details: null);
        }

        var mine = await State.ForUpdate();
        State.Set(new StockState(mine.Left + delivery.Count, delivery.Price));
        return mine.Left + delivery.Count;
    }

    [MayAbort]
    public async Task<decimal> Take(int count)
    {
        var mine = await State.ForUpdate();
        if (count < 1 || mine.Left < count)
        {
            throw Abort("out_of_stock", new { article = Id, asked = count, mine.Left });
        }

        State.Set(mine with { Left = mine.Left - count });
        return count * mine.Price;
    }

    public async Task PutBack(int count)
    {
        var mine = await State.ForUpdate();
        State.Set(mine with { Left = mine.Left + count });
    }

    [ReadOnlyMethod]
    public async Task<StockState> Read() => await State.Get();
}
