using Dapr.Actors;
using Dapr.Actors.Client;
using Orders.Contract;
using Snapper.Client;

namespace Orders.Shop.Carts;

/// <summary>The shop's own addresses: what a web page would call.</summary>
internal static class CartRoutes
{
    public static void MapCarts(this WebApplication app)
    {
        app.MapPut("/carts/{customer}/{article}", async (
            string customer, string article, int count, IActorProxyFactory actors) =>
        {
            var cart = actors.CreateActorProxy<ICart>(new ActorId(customer), "Cart");
            await cart.Put(new Line(article, count));
            return await cart.Lines();
        });

        // The order's id is the caller's: the same request again is the same order.
        app.MapPost("/carts/{customer}/orders/{id}", async (
            string customer, string id, IActorProxyFactory actors, SnapperClient snapper) =>
        {
            var cart = actors.CreateActorProxy<ICart>(new ActorId(customer), "Cart");
            var lines = await cart.Lines();
            try
            {
                var order = snapper.Actor<IOrder>(id);
                var placed = await order.Run(one => one.Place(new(customer, [.. lines])), new() { Id = $"place-{id}" });
                await cart.Clear();
                return Results.Ok(placed);
            }
            catch (TransactionAbortedException refused) when (refused.Code is not null)
            {
                return Results.Json(new { refused.Code, refused.Details }, statusCode: 409);
            }
            catch (TransactionInDoubtException)
            {
                return Results.Json(new { code = "ask_again" }, statusCode: 504);
            }
        });

        app.MapGet("/orders/{id}", async (string id, SnapperClient snapper) =>
            await snapper.Actor<IOrder>(id).Run(one => one.Read()));
    }
}
