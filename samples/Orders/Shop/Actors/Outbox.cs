using System.Collections.Immutable;
using Snapper.Actors;

namespace Orders.Shop.Actors;

/// <summary>
/// What is to be done outside of the system. A method has no effects outside: it may run more than once, and an abort
/// takes no mail back. So it writes down here, in its transaction, what is to be done once it is committed.
/// </summary>
public interface IOutbox : ITransactionalActor
{
    /// <summary>To be done.</summary>
    Task Add(Errand errand);

    /// <summary>It is done; false: it was not to be done any more.</summary>
    Task<bool> Done(ErrandId errand);

    /// <summary>What is to be done, the oldest first.</summary>
    Task<ImmutableList<Errand>> Open();
}

/// <summary>Names an errand: one of its kind for an order.</summary>
public sealed record ErrandId(string Kind, string Order);

/// <summary>Something to be done outside.</summary>
public sealed record Errand(string Kind, string Order, string Customer, decimal Amount)
{
    public const string Charge = "charge";
    public const string Refund = "refund";
    public const string Mail = "mail";

    /// <summary>The key of what is done outside, always the same for this errand.</summary>
    public string Key() => $"{Kind}-{Order}";
}

/// <summary>The errands, the oldest first.</summary>
public sealed record OutboxState(ImmutableList<Errand> Errands);

/// <summary>
/// Errands of some orders. There are several of them: in one alone, all orders would wait for each other.
/// </summary>
[TransactionalActor("Outbox")]
public sealed class Outbox : TransactionalActor<OutboxState>, IOutbox
{
    /// <summary>The ids of all of them.</summary>
    public static ImmutableArray<string> All { get; } = ["0", "1", "2", "3", "4", "5", "6", "7"];

    protected override OutboxState InitialState() => new([]);

    /// <summary>Where an order's errands are: the same for ever, and on every machine.</summary>
    public static string Of(string order) => All[order.Sum(static letter => letter) % All.Length];

    public async Task Add(Errand errand)
    {
        var mine = await State.ForUpdate();
        State.Set(new OutboxState(mine.Errands.Add(errand)));
    }

    public async Task<bool> Done(ErrandId errand)
    {
        var mine = await State.ForUpdate();
        var left = mine.Errands.RemoveAll(one => one.Kind == errand.Kind && one.Order == errand.Order);
        State.Set(new OutboxState(left));
        return left.Count < mine.Errands.Count;
    }

    [ReadOnlyMethod]
    public async Task<ImmutableList<Errand>> Open() => (await State.Get()).Errands;
}
