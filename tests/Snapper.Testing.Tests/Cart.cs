using System.Collections.Immutable;
using Snapper.Actors;

namespace Snapper.Testing.Tests;

public interface ICart : ITransactionalActor
{
    Task Add(string item);

    Task<int> Count(string item);
}

public sealed record CartV1(int Count, string Last);

public sealed record CartV2(ImmutableArray<string> Items);

/// <summary>As docs/evolution.md has it.</summary>
[StateVersion(3)]
public sealed record CartState(ImmutableSortedDictionary<string, int> Lines)
{
    [Upcasts(1)]
    internal static CartV2 Upcast(CartV1 old) => new([.. Enumerable.Repeat(old.Last, old.Count)]);

    [Upcasts(2)]
    internal static CartState Upcast(CartV2 old) =>
        new(old.Items.GroupBy(item => item).ToImmutableSortedDictionary(group => group.Key, group => group.Count()));
}

[TransactionalActor("Cart")]
public sealed class Cart : TransactionalActor<CartState>, ICart
{
    protected override CartState InitialState() => new(ImmutableSortedDictionary<string, int>.Empty);

    public async Task Add(string item)
    {
        var mine = await State.ForUpdate();
        State.Set(new CartState(mine.Lines.SetItem(item, mine.Lines.GetValueOrDefault(item) + 1)));
    }

    [ReadOnlyMethod]
    public async Task<int> Count(string item) => (await State.Get()).Lines.GetValueOrDefault(item);
}
