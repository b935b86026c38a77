using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Simulation.OwnActors;

namespace BoxOffice;

public sealed record Order(string Kind, string Show, int Tickets);

public interface IVisitor : ITransactionalActor
{
    Task Buy(Order order);
}

public interface IShow : ITransactionalActor
{
    Task Sell();

    Task<int> Sold();
}

public interface ITill : ITransactionalActor
{
    Task TakeIn(int amount);

    Task<int> Money();
}

public sealed record VisitorState(int Tickets);

public sealed class ShowState
{
    public int Sold { get; set; }
}

public sealed record TillState(int Money);

[TransactionalActor("Visitor")]
public sealed class Visitor : TransactionalActor<VisitorState>, IVisitor
{
    protected override VisitorState InitialState() => new(0);

    public async Task Buy(Order order)
    {
        var mine = await State.ForUpdate();
        State.Set(new VisitorState(mine.Tickets + order.Tickets));
        await Task.WhenAll(Enumerable.Range(0, order.Tickets).Select(_ => Actor<IShow>(order.Kind, order.Show).Sell()));
    }
}

[TransactionalActor("Show")]
public sealed class Show : TransactionalActor<ShowState>, IShow
{
    protected override ShowState InitialState() => new();

    public async Task Sell()
    {
        var mine = await State.ForUpdate();
        mine.Sold++;
        await Actor<ITill>("till").TakeIn(10);
    }

    public async Task<int> Sold() => (await State.Get()).Sold;
}

[TransactionalActor("HastyShow")]
public sealed class HastyShow : TransactionalActor<ShowState>, IShow
{
    protected override ShowState InitialState() => new();

    public async Task Sell()
    {
        var mine = await State.Get();
        mine.Sold++; // the mistake: what Get gives is not this attempt's own, and nobody hears of the change
        await Actor<ITill>("till").TakeIn(10);
    }

    public async Task<int> Sold() => (await State.Get()).Sold;
}

[TransactionalActor("Till")]
public sealed class Till : TransactionalActor<TillState>, ITill
{
    protected override TillState InitialState() => new(0);

    public async Task TakeIn(int amount)
    {
        var mine = await State.ForUpdate();
        State.Set(new TillState(mine.Money + amount));
    }

    public async Task<int> Money() => (await State.Get()).Money;
}

public sealed class Sales(string kind) : ActorWorkload
{
    private const int Shows = 3;

    public override IReadOnlyList<ActorTypeDescriptor> ActorTypes => Snapper.Simulation.Tests.SnapperSimulationTestsActors.All;

    public override TransactionRequest Next(SeededChance chance, int client, int number)
    {
        var order = new Order(kind, $"show{chance.Next(Shows)}", chance.Between(1, 3));
        return chance.Percent(50)
            ? Act("Visitor", $"visitor{client}", "Buy", order)
            : Pact("Visitor", $"visitor{client}", "Buy", order, Calls(kind, order.Show, order.Tickets), Calls("Till", "till", order.Tickets));
    }

    public override IEnumerable<TransactionRequest> Last() =>
        [Act("Till", "till", "Money"), .. Enumerable.Range(0, Shows).Select(show => Act(kind, $"show{show}", "Sold"))];

    public override IEnumerable<string> Judge(ActorRun run)
    {
        var money = run.Last[0].Result<int>();
        var sold = run.Last.Skip(1).Sum(look => look.Result<int>());
        if (money != 10 * sold)
        {
            yield return $"The till has {money} for {sold} tickets at 10.";
        }
    }
}
