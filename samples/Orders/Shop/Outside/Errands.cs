using Orders.Contract;
using Orders.Shop.Actors;
using Snapper.Client;

namespace Orders.Shop.Outside;

/// <summary>
/// Does what committed transactions have written into the outboxes: first outside, under the errand's key, then a
/// transaction that records it, under an id that follows from the errand. If the process dies in between, both are
/// done again, and neither has effects twice. So every errand is done, and counts once.
/// </summary>
public sealed class Errands(SnapperClient snapper, ICards cards, IMails mails, ILogger<Errands> logger)
    : BackgroundService
{
    /// <summary>One round; returns how many errands were done.</summary>
    public async Task<int> Once(CancellationToken cancellation)
    {
        var done = 0;
        // Asked for at the same time, they share one request.
        var open = await Task.WhenAll(Outbox.All.Select(id =>
            snapper.Actor<IOutbox>(id).Run(outbox => outbox.Open(), cancellation: cancellation)));
        foreach (var errand in open.SelectMany(static one => one))
        {
            try
            {
                await Do(errand, cancellation);
                done++;
            }
            catch (Exception problem) when (!cancellation.IsCancellationRequested)
            {
                // It stays in the outbox, and is done in a later round. Its outcome may be in doubt: the id decides.
                logger.LogWarning(problem, "{Errand} was not done yet", errand.Key());
            }
        }

        return done;
    }

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        while (!stoppingToken.IsCancellationRequested)
        {
            try
            {
                await Once(stoppingToken);
            }
            catch (Exception problem) when (!stoppingToken.IsCancellationRequested)
            {
                logger.LogWarning(problem, "The outboxes cannot be read now");
            }

            await Task.Delay(TimeSpan.FromMilliseconds(250), stoppingToken);
        }
    }

    private async Task Do(Errand errand, CancellationToken cancellation)
    {
        var (customer, amount) = (errand.Customer, errand.Amount);
        var order = snapper.Actor<IOrder>(errand.Order);
        switch (errand.Kind)
        {
            case Errand.Charge when await cards.Charge(errand.Key(), customer, amount, cancellation):
                await order.Run(one => one.Charged(customer), new() { Id = $"charged-{errand.Order}" }, cancellation);
                break;
            case Errand.Charge:
                await order.Run(one => one.Declined(), new() { Id = $"declined-{errand.Order}" }, cancellation);
                break;
            case Errand.Refund:
                await cards.Refund(errand.Key(), customer, amount, cancellation);
                await order.Run(one => one.Refunded(), new() { Id = $"refunded-{errand.Order}" }, cancellation);
                break;
            case Errand.Mail:
                await mails.Send(errand.Key(), customer, errand.Order, cancellation);
                await order.Run(one => one.Mailed(), new() { Id = $"mailed-{errand.Order}" }, cancellation);
                break;
        }
    }
}
