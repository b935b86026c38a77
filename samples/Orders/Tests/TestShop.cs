using Microsoft.Extensions.Logging.Abstractions;
using Orders.Contract;
using Orders.Shop.Actors;
using Orders.Shop.Outside;
using Snapper.Client.Calls;
using Snapper.Testing;

namespace Orders.Tests;

/// <summary>The shop's actors in this process, with 100 tea at 2.50 and 50 cups at 4.</summary>
internal sealed class TestShop : IAsyncDisposable
{
    private TestShop(SnapperTest snapper)
    {
        Snapper = snapper;
        Errands = new Errands(snapper.Client, Outside, Outside, NullLogger<Errands>.Instance);
    }

    public SnapperTest Snapper { get; }

    public OutsideWorld Outside { get; } = new();

    public Errands Errands { get; }

    public static async Task<TestShop> Open()
    {
        var shop = new TestShop(await SnapperTest.Start(options => options.AddActors(typeof(Order).Assembly)));
        await shop.Stock("tea").Run(stock => stock.Receive(new(100, 2.5m)));
        await shop.Stock("cup").Run(stock => stock.Receive(new(50, 4)));
        return shop;
    }

    public ActorClient<IStock> Stock(string article) => Snapper.Actor<IStock>(article);

    public ActorClient<IAccount> Account(string customer) => Snapper.Actor<IAccount>(customer);

    public ActorClient<IOrder> Order(string id) => Snapper.Actor<IOrder>(id);

    public Task<Placed> Place(string id, string customer, params Line[] lines) =>
        Order(id).Run(order => order.Place(new(customer, [.. lines])), new() { Id = $"place-{id}" });

    public async Task<(OrderStatus Order, AccountState Account, int Tea)> Look(string order, string customer)
    {
        // As they were together at one moment.
        var (a, b, c) = (Order(order).Key, Account(customer).Key, Stock("tea").Key);
        var read = await Snapper.Client.Read([a, b, c]);
        return (
            read.StateOf<OrderState>(a)?.Status ?? OrderStatus.None,
            read.StateOf<AccountState>(b) ?? new(500, 0, 0),
            read.StateOf<StockState>(c)!.Left);
    }

    public ValueTask DisposeAsync() => Snapper.DisposeAsync();
}

/// <summary>A provider and a mail server that count what was done under each key, and may fail.</summary>
internal sealed class OutsideWorld : ICards, IMails
{
    private readonly Dictionary<string, bool> _done = [];

    public IReadOnlyCollection<string> Done => [.. _done.Keys.Order()];

    public int Requests { get; private set; }

    public bool Declines { get; set; }

    /// <summary>Called before the answer, as if the process died, or something else came in between.</summary>
    public Func<Task> BeforeAnswer { get; set; } = static () => Task.CompletedTask;

    public async Task<bool> Charge(string key, string customer, decimal amount, CancellationToken cancellation)
    {
        await Do(key);
        return _done[key];
    }

    public Task Refund(string key, string customer, decimal amount, CancellationToken cancellation) => Do(key);

    public Task Send(string key, string customer, string order, CancellationToken cancellation) => Do(key);

    private async Task Do(string key)
    {
        Task next;
        lock (_done)
        {
            Requests++;
            _done.TryAdd(key, !Declines);
            next = BeforeAnswer();
        }

        await next;
    }
}
