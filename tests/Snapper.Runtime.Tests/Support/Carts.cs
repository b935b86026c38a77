using System.Collections.Immutable;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization;
using Snapper.Actors;
using Snapper.Actors.Generated;

namespace Snapper.Runtime.Tests.Support;

public sealed record AddBoth(string Item, string Other);

public interface ICart : ITransactionalActor
{
    /// <summary>Adds an item; returns how many there are.</summary>
    Task<int> Add(string item);

    Task<string> Show();

    /// <summary>Adds an item here and to another cart.</summary>
    Task<int> AddBoth(AddBoth input);

    /// <summary>Adds an item, and fails.</summary>
    Task AddAndFail(string item);
}

/// <summary>Programs of three generations, each with a form of its own of what is stored of a cart.</summary>
internal static class Carts
{
    public static ActorTypeDescriptor One { get; } = CartOneDescriptor.Instance with { Type = "Cart" };

    public static ActorTypeDescriptor Two { get; } = CartTwoDescriptor.Instance with { Type = "Cart" };

    public static ActorTypeDescriptor Three { get; } = CartThreeDescriptor.Instance with { Type = "Cart" };

    public static ActorTypeDescriptor Of(int generation) => generation switch { 1 => One, 2 => Two, _ => Three };
}

public sealed record CartStateOne(int Count, string Last);

[TransactionalActor("CartOne")]
public sealed class CartOne : TransactionalActor<CartStateOne>, ICart
{
    protected override CartStateOne InitialState() => new(0, "");

    public async Task<int> Add(string item)
    {
        var mine = await State.ForUpdate();
        State.Set(new CartStateOne(mine.Count + 1, item));
        return mine.Count + 1;
    }

    public async Task<string> Show() => $"{(await State.Get()).Count} with {(await State.Get()).Last}";

    public async Task<int> AddBoth(AddBoth input) =>
        await Add(input.Item) + await Actor<ICart>(input.Other).Add(input.Item);

    public async Task AddAndFail(string item)
    {
        await Add(item);
        throw Abort("planned");
    }
}

[StateVersion(2)]
public sealed record CartStateTwo(ImmutableArray<string> Items)
{
    [Upcasts(1)]
    public static CartStateTwo Upcast(CartStateOne old) => old.Count >= 0
        ? new([.. Enumerable.Repeat(old.Last, old.Count)])
        : throw new InvalidOperationException("a count below 0");
}

[TransactionalActor("CartTwo")]
public sealed class CartTwo : TransactionalActor<CartStateTwo>, ICart
{
    protected override CartStateTwo InitialState() => new([]);

    public async Task<int> Add(string item)
    {
        var mine = await State.ForUpdate();
        State.Set(new CartStateTwo(mine.Items.Add(item)));
        return mine.Items.Length + 1;
    }

    public async Task<string> Show() => string.Join(' ', (await State.Get()).Items);

    public async Task<int> AddBoth(AddBoth input) =>
        await Add(input.Item) + await Actor<ICart>(input.Other).Add(input.Item);

    public async Task AddAndFail(string item)
    {
        await Add(item);
        throw Abort("planned");
    }
}

/// <summary>Mutable, and refuses fields that it does not have, also when it is stored.</summary>
[StateVersion(3)]
[JsonUnmappedMemberHandling(JsonUnmappedMemberHandling.Disallow)]
public sealed class CartStateThree
{
    public SortedDictionary<string, int> Lines { get; set; } = [];

    [Upcasts(2)]
    internal static CartStateThree FromItems(CartStateTwo old)
    {
        var state = new CartStateThree();
        foreach (var item in old.Items)
        {
            state.Lines[item] = state.Lines.GetValueOrDefault(item) + 1;
        }

        return state;
    }
}

[TransactionalActor("CartThree")]
public sealed class CartThree : TransactionalActor<CartStateThree>, ICart
{
    protected override CartStateThree InitialState() => new();

    public async Task<int> Add(string item)
    {
        var mine = await State.ForUpdate();
        mine.Lines[item] = mine.Lines.GetValueOrDefault(item) + 1;
        return mine.Lines.Values.Sum();
    }

    public async Task<string> Show() =>
        string.Join(' ', (await State.Get()).Lines.Select(line => $"{line.Value}*{line.Key}"));

    public async Task<int> AddBoth(AddBoth input) =>
        await Add(input.Item) + await Actor<ICart>(input.Other).Add(input.Item);

    public async Task AddAndFail(string item)
    {
        await Add(item);
        throw Abort("planned");
    }

    /// <summary>The class of the first version was deleted.</summary>
    [Upcasts(1)]
    internal static CartStateTwo FromCount(JsonObject old) =>
        CartStateTwo.Upcast(new CartStateOne((int)old["count"]!, (string)old["last"]!));
}

/// <summary>Keeps whatever fields it does not know.</summary>
[StateVersion(5, Oldest = 4)]
public sealed class BagState
{
    [JsonExtensionData]
    public Dictionary<string, JsonElement>? More { get; set; }

    [Upcasts(4)]
    internal static JsonObject Renamed(JsonObject old)
    {
        var next = new JsonObject();
        foreach (var (name, value) in old)
        {
            next["new" + name] = value?.DeepClone();
        }

        return next;
    }
}

public interface IBag : ITransactionalActor
{
    Task Touch();
}

[TransactionalActor("Bag")]
public sealed class BagActor : TransactionalActor<BagState>, IBag
{
    protected override BagState InitialState() => new();

    public async Task Touch() => await State.ForUpdate();
}
