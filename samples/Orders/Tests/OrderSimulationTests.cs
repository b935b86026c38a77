using Orders.Contract;
using Orders.Shop.Actors;
using Snapper.Actors.Generated;
using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Simulation.OwnActors;
using Xunit;

namespace Orders.Tests;

/// <summary>
/// The shop in simulated worlds, each decided by a seed: workers are killed and recover, two own the same log, the log
/// fails, requests are lost and sent again.
/// </summary>
public sealed class OrderSimulationTests
{
    [Fact]
    public void Stock_and_money_add_up_whatever_dies()
    {
        var totals = ActorSimulator.Check(() => new Customers(), seeds: 15);

        Assert.True(totals.Committed > 200, totals.ToString());
    }

    private sealed class Customers : ActorWorkload
    {
        private const int Orders = 20;
        private const int Accounts = 3;
        private const int Box = 10;
        private static readonly string[] s_articles = ["tea", "cup", "pot"];

        public override IReadOnlyList<ActorTypeDescriptor> ActorTypes => TypesOf(typeof(Order).Assembly);

        public override TransactionRequest Next(SeededChance chance, int client, int number)
        {
            var order = chance.Next(Orders);
            var (id, customer, outbox) = ($"o-{order}", $"c-{order % Accounts}", Outbox.Of($"o-{order}"));
            var (first, second) = (s_articles[chance.Next(3)], s_articles[chance.Next(3)]);
            var place = new PlaceOrder(customer, [new(first, 1 + chance.Next(3)), new(second, 1)]);
            return chance.Next(10) switch
            {
                0 or 1 => Act("Stock", first, "Receive", new Delivery(Box, 2)),
                2 => Act("Order", id, "Cancel", "changed my mind"),
                3 => Act("Order", id, "Declined"),
                4 => Pact("Order", id, "Charged", customer, Calls("Account", customer), Calls("Outbox", outbox, 2)),
                5 => Act("Order", id, "Mailed"),
                6 => Act("Order", id, "Place", place),
                _ => Pact(
                    "Order", id, "Place", place,
                    Calls("Stock", first), Calls("Stock", second), Calls("Account", customer), Calls("Outbox", outbox)),
            };
        }

        public override IEnumerable<TransactionRequest> Last() =>
        [
            .. Enumerable.Range(0, Orders).Select(static i => Act("Order", $"o-{i}", "Read")),
            .. Enumerable.Range(0, Accounts).Select(static i => Act("Account", $"c-{i}", "Read")),
            .. s_articles.Select(static article => Act("Stock", article, "Read")),
        ];

        public override IEnumerable<string> Judge(ActorRun run)
        {
            var orders = run.Last.Take(Orders).Select(static look => look.Result<OrderState>())
                .Where(static order => order.Status is not (OrderStatus.None or OrderStatus.Cancelled)).ToArray();
            foreach (var look in run.Last.Skip(Orders).Take(Accounts))
            {
                var (account, customer) = (look.Result<AccountState>(), look.Request.Actor.Id);
                var total = orders.Where(order => order.Customer == customer).Sum(static order => order.Total);
                if (total != account.Reserved + account.Charged)
                {
                    yield return $"{look.Request.Actor}: {account}, and its orders cost {total}";
                }
            }

            foreach (var look in run.Last.Skip(Orders + Accounts))
            {
                var left = look.Result<StockState>().Left;
                var ordered = orders.SelectMany(static order => order.Lines)
                    .Where(line => line.Article == look.Request.Actor.Id).Sum(static line => line.Count);
                if (left < 0 || (left + ordered) % Box != 0)
                {
                    yield return $"{look.Request.Actor}: {left} left and {ordered} ordered, of boxes of {Box}";
                }
            }
        }
    }
}
