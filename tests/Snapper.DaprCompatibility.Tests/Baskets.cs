using Dapr.Actors;
using Dapr.Actors.Client;
using Microsoft.Extensions.Logging;

namespace Snapper.DaprCompatibility.Tests;

/// <summary>Methods as a plain Dapr actor has them.</summary>
public interface IBasket : IActor
{
    Task<int> Put(Item item);

    Task<Basket> Read(CancellationToken cancellation);

    Task Move(Move move, CancellationToken cancellation);

    Task<string> Try(string what);

    Task<string> CallBack(string by);

    Task<int> Bump();

    Task<string[]> Seen();
}

public sealed record Item(string Product, int Count);

public sealed record Move(string To, string Product, string Way, bool Fail = false);

/// <summary>A value that is changed in place.</summary>
public sealed class Basket
{
    public Dictionary<string, int> Items { get; set; } = [];
}

/// <summary>
/// As it stood on Dapr's SDK, but for the using directive: each member of the base class and each way to call another
/// actor is used as there.
/// </summary>
[Actor(TypeName = "Basket")]
public sealed class BasketActor(ActorHost host, ILogger<BasketActor> log) : Actor(host), IBasket
{
    private readonly List<string> _seen = [];
    private Basket _mine = null!;

    protected override async Task OnActivateAsync()
    {
        _mine = await StateManager.GetOrAddStateAsync("basket", new Basket());
        _seen.Add("activated");
    }

    protected override Task OnPreActorMethodAsync(ActorMethodContext actorMethodContext)
    {
        _seen.Add($"{actorMethodContext.CallType} {actorMethodContext.MethodName}");
        return Task.CompletedTask;
    }

    protected override Task OnActorMethodFailedAsync(ActorMethodContext actorMethodContext, Exception e)
    {
        log.LogInformation("{Method} {Failure}", actorMethodContext.MethodName, e.Message);
        return Task.CompletedTask;
    }

    public async Task<int> Put(Item item)
    {
        await StateManager.SetStateAsync("basket", _mine);
        _mine.Items[item.Product] = _mine.Items.GetValueOrDefault(item.Product) + item.Count; // after it was set
        return await StateManager.AddOrUpdateStateAsync("puts", 1, (_, puts) => puts + 1);
    }

    public Task<Basket> Read(CancellationToken cancellation) => Task.FromResult(_mine);

    public async Task Move(Move move, CancellationToken cancellation)
    {
        var count = _mine.Items[move.Product];
        _mine.Items.Remove(move.Product);
        await StateManager.SetStateAsync("basket", _mine, cancellation);
        await SaveStateAsync();
        var to = new ActorId(move.To);
        var item = new Item(move.Product, count);
        await (move.Way switch
        {
            "proxy" => ActorProxy.Create<IBasket>(to, "Basket").Put(item),
            "options" => ActorProxy.Create<IBasket>(to, "Basket", new ActorProxyOptions { UseJsonSerialization = true })
                .Put(item),
            "factory" => ProxyFactory.CreateActorProxy<IBasket>(to, "Basket").Put(item),
            "type" => ((IBasket)ProxyFactory.CreateActorProxy(to, typeof(IBasket), "Basket")).Put(item),
            "untyped" => ActorProxy.Create(to, "Basket").InvokeMethodAsync<Item, int>("Put", item, cancellation),
            "own" => Actor<IBasket>(move.To).Put(item),
            _ => throw new ArgumentException(move.Way),
        });
        if (move.Fail) throw new InvalidOperationException("after the call");
    }

    public async Task<string> Try(string what)
    {
        switch (what)
        {
            case "missing":
                var missing = await Assert.ThrowsAsync<KeyNotFoundException>(
                    () => StateManager.GetStateAsync<int>("no"));
                return missing.Message;
            case "try":
                ConditionalValue<int> none = await StateManager.TryGetStateAsync<int>("no");
                await StateManager.SetStateAsync("yes", 5);
                var some = await StateManager.TryGetStateAsync<int>("yes");
                return $"{none.HasValue} {some.HasValue} {some.Value}";
            case "add":
                await StateManager.AddStateAsync("added", "x");
                var again = await StateManager.TryAddStateAsync("added", "y");
                var twice = await Assert.ThrowsAsync<InvalidOperationException>(
                    () => StateManager.AddStateAsync("added", "z"));
                return $"{again} {await StateManager.GetStateAsync<string>("added")} {twice.Message}";
            case "remove":
                await StateManager.SetStateAsync<string?>("gone", null);
                var there = await StateManager.ContainsStateAsync("gone");
                await StateManager.RemoveStateAsync("gone");
                var left = await StateManager.TryRemoveStateAsync("gone");
                await Assert.ThrowsAsync<KeyNotFoundException>(() => StateManager.RemoveStateAsync("gone"));
                return $"{there} {left} {await StateManager.ContainsStateAsync("gone")}";
            case "kept":
                return string.Join(",", await Kept(StateManager));
            case "clear":
                await StateManager.SetStateAsync("cleared", 1);
                await StateManager.ClearCacheAsync();
                return $"{await StateManager.ContainsStateAsync("cleared")}";
            case "deep":
                object deep = 1;
                for (var i = 0; i < 61; i++) deep = new[] { deep };
                await StateManager.SetStateAsync("deep", deep);
                return "too deep";
            case "ttl":
                Dapr.Actors.Runtime.IActorStateManager untimed = StateManager;
                await untimed.SetStateAsync("timed", 1, TimeSpan.FromSeconds(1));
                return "timed";
            default:
                return $"{Id} {Id.GetId()} {Host.Id} {Logger.IsEnabled(LogLevel.None)}";
        }
    }

    public async Task<string> CallBack(string by)
    {
        await StateManager.SetStateAsync("bumps", 10);
        var inner = by == Id.GetId()
            ? await Actor<IBasket>(by).Bump()
            : await Actor<IRelay>(by).Bump(Id.GetId());
        return $"{inner} {await StateManager.GetStateAsync<int>("bumps")}";
    }

    public Task<int> Bump() => StateManager.AddOrUpdateStateAsync("bumps", 1, (_, bumps) => bumps + 1);

    public Task<string[]> Seen() => Task.FromResult(_seen.ToArray());

    // A helper that knows the SDK's interface alone.
    private static async Task<bool[]> Kept(Dapr.Actors.Runtime.IActorStateManager states)
    {
        Dapr.Actors.Runtime.ConditionalValue<int> yes = await states.TryGetStateAsync<int>("yes");
        return [yes.HasValue, await states.ContainsStateAsync("gone"), await states.ContainsStateAsync("added")];
    }
}

public interface IRelay : IActor
{
    Task<int> Bump(string basket);
}

/// <summary>Named like its class.</summary>
public sealed class Relay(ActorHost host) : Actor(host), IRelay
{
    public Task<int> Bump(string basket) =>
        ProxyFactory.CreateActorProxy<IBasket>(new ActorId(basket), "Basket").Bump();
}
