using System.Globalization;
using Dapr.Actors;
using Dapr.Actors.Client;
using Orders.Contract;

namespace Orders.Caller;

/// <summary>The order as an application that knows Dapr's SDK alone describes it.</summary>
public interface IOrderOfDapr : IActor
{
    /// <summary>Places it: one transaction, whose actors the method itself declares.</summary>
    Task<Placed> Place(PlaceOrder order);
}

/// <summary>
/// The same by a proxy of Dapr's SDK, which knows nothing of ids: for what does no harm twice, as here.
/// </summary>
internal static class DaprProxies
{
    public static async Task Order(Uri sidecar, string id, string customer)
    {
        var options = new ActorProxyOptions { HttpEndpoint = sidecar.ToString(), UseJsonSerialization = true };
        var order = ActorProxy.Create<IOrderOfDapr>(new ActorId(id), "Order", options);
        var placed = await order.Place(new(customer, [new("tea", 2), new("cup", 1)]));
        Console.WriteLine($"{id} committed {placed.Total.ToString("F2", CultureInfo.InvariantCulture)}");
        try
        {
            await order.Place(new(customer, [new("tea", 2), new("cup", 1)]));
        }
        catch (ActorMethodInvocationException refused)
        {
            // "application already_placed: already_placed": the reason and the code.
            Console.WriteLine($"{id} {refused.InnerException!.Message.Split(':')[0]}");
        }
    }
}
