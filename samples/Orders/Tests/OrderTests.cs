using Orders.Contract;
using Snapper.Client;
using Xunit;

namespace Orders.Tests;

/// <summary>What the shop promises of orders, and that a refusal leaves nothing behind.</summary>
public sealed class OrderTests
{
    [Fact]
    public async Task An_order_takes_the_articles_and_reserves_the_price()
    {
        await using var shop = await TestShop.Open();

        var placed = await shop.Place("o-1", "ann", new("tea", 4), new("cup", 1));

        Assert.Equal(14, placed.Total);
        Assert.Equal((OrderStatus.Placed, new(500, 14, 0), 96), await shop.Look("o-1", "ann"));
    }

    [Fact]
    public async Task What_is_not_there_is_not_ordered_and_the_other_articles_stay()
    {
        await using var shop = await TestShop.Open();

        var refused = await Assert.ThrowsAsync<TransactionAbortedException>(
            () => shop.Place("o-1", "ann", new("tea", 4), new("cup", 51)));

        Assert.Equal("out_of_stock", refused.Code);
        Assert.Equal(50, refused.Details!.Value.GetProperty("left").GetInt32());
        Assert.Equal((OrderStatus.None, new(500, 0, 0), 100), await shop.Look("o-1", "ann"));
    }

    [Fact]
    public async Task A_customer_orders_no_more_than_the_limit_at_once()
    {
        await using var shop = await TestShop.Open();
        await shop.Account("ann").Run(account => account.SetLimit(10));
        await shop.Place("o-1", "ann", new Line("tea", 3));

        var refused = await Assert.ThrowsAsync<TransactionAbortedException>(
            () => shop.Place("o-2", "ann", new Line("tea", 3)));

        Assert.Equal("over_limit", refused.Code);
        Assert.Equal(2.5m, refused.Details!.Value.GetProperty("available").GetDecimal());
        Assert.Equal((OrderStatus.None, new(10, 7.5m, 0), 97), await shop.Look("o-2", "ann"));
    }

    [Fact]
    public async Task The_same_order_again_is_the_same_order()
    {
        await using var shop = await TestShop.Open();
        var first = await shop.Place("o-1", "ann", new Line("tea", 4));

        await shop.Snapper.Restart();

        Assert.Equal(first, await shop.Place("o-1", "ann", new Line("tea", 4)));
        Assert.Equal((OrderStatus.Placed, new(500, 10, 0), 96), await shop.Look("o-1", "ann"));
        // Long after, when the id is forgotten, the order itself knows.
        shop.Snapper.Clock.Advance(TimeSpan.FromDays(1));
        var refused = await Assert.ThrowsAsync<TransactionAbortedException>(() => shop.Order("o-1").Run(
            order => order.Place(new("ann", [new("tea", 4)])), new() { Id = "another" }));
        Assert.Equal("already_placed", refused.Code);
    }

    [Fact]
    public async Task A_cancelled_order_gives_back_what_it_took_once()
    {
        await using var shop = await TestShop.Open();
        await shop.Place("o-1", "ann", new("tea", 4), new("cup", 1));

        Assert.True(await shop.Order("o-1").Act(order => order.Cancel("changed my mind")));
        Assert.False(await shop.Order("o-1").Act(order => order.Cancel("changed my mind")));

        Assert.Equal((OrderStatus.Cancelled, new(500, 0, 0), 100), await shop.Look("o-1", "ann"));
    }

    [Fact]
    public async Task Orders_and_cancellations_at_once_and_a_crash_among_them_lose_nothing()
    {
        await using var shop = await TestShop.Open();
        var orders = Enumerable.Range(0, 60).Select(i => $"o-{i}").ToArray();

        var calls = orders.Select(async (id, i) =>
        {
            try
            {
                await shop.Place(id, $"customer-{i % 5}", new("tea", 3), new("cup", 1));
                if (i % 3 == 0) await shop.Order(id).Act(one => one.Cancel("no"), new() { Id = $"cancel-{id}" });
            }
            catch (TransactionAbortedException refused) when (refused.Code == "out_of_stock")
            {
                // 60 orders of 3 are more than 100.
            }
        }).ToArray();
        await shop.Snapper.Crash();
        await shop.Snapper.Restart();
        await Task.WhenAll(calls);

        var read = await shop.Snapper.Client.Read([
            .. orders.Select(id => shop.Order(id).Key), shop.Stock("tea").Key, shop.Stock("cup").Key,
            .. Enumerable.Range(0, 5).Select(i => shop.Account($"customer-{i}").Key)]);
        var placed = orders.Select(id => read.StateOf<OrderState>(shop.Order(id).Key))
            .Where(order => order?.Status == OrderStatus.Placed).ToArray();
        Assert.Equal(100, read.StateOf<StockState>(shop.Stock("tea").Key)!.Left + 3 * placed.Length);
        Assert.Equal(50, read.StateOf<StockState>(shop.Stock("cup").Key)!.Left + placed.Length);
        var accounts = Enumerable.Range(0, 5).Select(i => shop.Account($"customer-{i}").Key);
        Assert.Equal(
            placed.Sum(order => order!.Total), accounts.Sum(key => read.StateOf<AccountState>(key)?.Reserved ?? 0));
        Assert.InRange(placed.Length, 20, 33);
    }
}
