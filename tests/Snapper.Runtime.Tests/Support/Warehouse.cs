using Snapper.Actors;

namespace Snapper.Runtime.Tests.Support;

public sealed record Stock(int Items);

public interface IShelf : ITransactionalActor
{
    /// <summary>Takes so many items in, and so many more on each of the shelves that are named.</summary>
    Task<int> Take(Delivery delivery);
}

/// <param name="Items">For each.</param>
/// <param name="Shelves">Ids of other shelves.</param>
public sealed record Delivery(int Items, string[] Shelves);

/// <summary>A shelf of a warehouse: its id is <c>warehouse/shelf</c>, and it lives where the warehouse lives.</summary>
[TransactionalActor("Shelf"), PartitionKey('/')]
public sealed class ShelfActor : TransactionalActor<Stock>, IShelf
{
    protected override Stock InitialState() => new(0);

    public async Task<int> Take(Delivery delivery)
    {
        var mine = await State.ForUpdate();
        State.Set(new Stock(mine.Items + delivery.Items));
        foreach (var shelf in delivery.Shelves)
        {
            await Actor<IShelf>("Shelf", shelf).Take(delivery with { Shelves = [] });
        }

        return mine.Items + delivery.Items;
    }
}

/// <summary>The warehouse itself: its id is the key.</summary>
[TransactionalActor("Warehouse"), PartitionKey]
public sealed class WarehouseActor : TransactionalActor<Stock>, IShelf
{
    protected override Stock InitialState() => new(0);

    public async Task<int> Take(Delivery delivery)
    {
        foreach (var shelf in delivery.Shelves)
        {
            await Actor<IShelf>("Shelf", shelf).Take(delivery with { Shelves = [] });
        }

        return delivery.Shelves.Length * delivery.Items;
    }
}
