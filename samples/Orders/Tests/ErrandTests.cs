using Orders.Contract;
using Snapper.Client;
using Xunit;

namespace Orders.Tests;

/// <summary>What leaves the system: after the commit, and once, whatever dies in between.</summary>
public sealed class ErrandTests
{
    [Fact]
    public async Task An_order_is_charged_and_its_mail_sent()
    {
        await using var shop = await TestShop.Open();
        await shop.Place("o-1", "ann", new Line("tea", 4));

        Assert.Equal(1, await shop.Errands.Once(default)); // the card
        Assert.Equal((OrderStatus.Paid, new(500, 0, 10), 96), await shop.Look("o-1", "ann"));
        Assert.Equal(1, await shop.Errands.Once(default)); // the mail
        Assert.Equal((OrderStatus.Shipped, new(500, 0, 10), 96), await shop.Look("o-1", "ann"));
        Assert.Equal(0, await shop.Errands.Once(default));
        Assert.Equal(["charge-o-1", "mail-o-1"], shop.Outside.Done);
    }

    [Fact]
    public async Task A_refused_order_charges_no_card()
    {
        await using var shop = await TestShop.Open();
        await Assert.ThrowsAsync<TransactionAbortedException>(() => shop.Place("o-1", "ann", new Line("tea", 101)));

        Assert.Equal(0, await shop.Errands.Once(default));
        Assert.Empty(shop.Outside.Done);
    }

    [Fact]
    public async Task A_declined_card_cancels_the_order()
    {
        await using var shop = await TestShop.Open();
        shop.Outside.Declines = true;
        await shop.Place("o-1", "ann", new("tea", 4), new("cup", 2));

        await shop.Errands.Once(default);

        Assert.Equal((OrderStatus.Cancelled, new(500, 0, 0), 100), await shop.Look("o-1", "ann"));
        Assert.Equal(0, await shop.Errands.Once(default));
    }

    [Fact]
    public async Task What_dies_after_the_charge_charges_once_and_goes_on()
    {
        await using var shop = await TestShop.Open();
        await shop.Place("o-1", "ann", new Line("tea", 4));
        shop.Outside.BeforeAnswer = static () => throw new IOException("the process died here");

        Assert.Equal(0, await shop.Errands.Once(default));
        Assert.Equal((OrderStatus.Placed, new(500, 10, 0), 96), await shop.Look("o-1", "ann"));
        await shop.Snapper.Restart();
        shop.Outside.BeforeAnswer = static () => Task.CompletedTask;
        Assert.Equal(1, await shop.Errands.Once(default));

        Assert.Equal(2, shop.Outside.Requests);
        Assert.Equal(["charge-o-1"], shop.Outside.Done); // asked twice, charged once
        Assert.Equal((OrderStatus.Paid, new(500, 0, 10), 96), await shop.Look("o-1", "ann"));
    }

    [Fact]
    public async Task Two_that_do_the_same_errand_count_once()
    {
        await using var shop = await TestShop.Open();
        await shop.Place("o-1", "ann", new Line("tea", 4));

        var both = new TaskCompletionSource();
        shop.Outside.BeforeAnswer = () =>
        {
            if (shop.Outside.Requests == 2) both.SetResult();
            return both.Task; // each has read the outbox before the other one is done
        };

        await Task.WhenAll(shop.Errands.Once(default), shop.Errands.Once(default));

        Assert.Equal((OrderStatus.Paid, new(500, 0, 10), 96), await shop.Look("o-1", "ann"));
        Assert.Equal(["charge-o-1"], shop.Outside.Done);
    }

    [Fact]
    public async Task Cancelled_while_the_card_is_charged_the_money_goes_back()
    {
        await using var shop = await TestShop.Open();
        await shop.Place("o-1", "ann", new Line("tea", 4));
        shop.Outside.BeforeAnswer = () => shop.Order("o-1").Act(order => order.Cancel("changed my mind"));
        await shop.Errands.Once(default);
        shop.Outside.BeforeAnswer = static () => Task.CompletedTask;

        await shop.Errands.Once(default);

        Assert.Equal((OrderStatus.Cancelled, new(500, 0, 0), 100), await shop.Look("o-1", "ann"));
        Assert.Equal(["charge-o-1", "refund-o-1"], shop.Outside.Done);
        Assert.Equal(0, await shop.Errands.Once(default));
    }
}
