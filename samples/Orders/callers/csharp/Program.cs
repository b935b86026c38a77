using System.Globalization;
using Orders.Caller;
using Orders.Contract;
using Snapper.Client;
using Snapper.Client.Calls;

// dotnet run --project callers/csharp -- [SIDECAR] [NAME]
var sidecar = new Uri(args.ElementAtOrDefault(0) ?? "http://127.0.0.1:3500");
var name = args.ElementAtOrDefault(1) ?? "cs";
await using var snapper = new SnapperClient(new SnapperClientOptions { Sidecar = sidecar, AppId = "orders" });

await Show($"{name}-1", new(name, [new("tea", 2), new("cup", 1)]));
await Show($"{name}-1", new(name, [new("tea", 2), new("cup", 1)])); // the same id again: the same order
await Show($"{name}-2", new(name, [new("tea", 1000)]));
await Show($"{name}-3", new(name, [new("no/such\narticle", 1)]));
await Show($"{name}-4", new(name, [new("tea", 2), new("cup", 1)]), TimeSpan.FromSeconds(5));
await DaprProxies.Order(sidecar, $"{name}-5", name);

async Task Show(string order, PlaceOrder input, TimeSpan? timeout = null) =>
    Console.WriteLine($"{order} {await Place(order, input, timeout)}");

async Task<string> Place(string order, PlaceOrder input, TimeSpan? timeout)
{
    var options = new CallOptions { Id = $"place-{order}", Timeout = timeout };
    try
    {
        var placed = await snapper.Actor<IOrder>(order).Run(one => one.Place(input), options);
        return "committed " + placed.Total.ToString("F2", CultureInfo.InvariantCulture);
    }
    catch (TransactionAbortedException refused) when (refused.Code is not null)
    {
        return "refused " + refused.Code; // the application's own word; refused.Details has what goes with it
    }
    catch (TransactionAbortedException again) when (again.IsTransient)
    {
        return "later"; // nothing happened; the client has repeated it until its timeout
    }
    catch (TransactionRejectedException again) when (again.IsTransient)
    {
        return "later"; // 429 or 503, the same
    }
    catch (TransactionRejectedException wrong)
    {
        return $"rejected {wrong.Status}"; // a mistake of this program: wrong.Detail names it
    }
    catch (TransactionInDoubtException)
    {
        // It may have committed. Keep the id: snapper.Find(id), or the same call again with it, tells later.
        return "in doubt";
    }
}
