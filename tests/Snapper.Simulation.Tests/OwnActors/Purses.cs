using Snapper.Actors;
using Snapper.Actors.Generated;
using Snapper.Judging.Histories;
using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Simulation.OwnActors;

namespace Purses;

public sealed record Move(string To, int Amount);

public interface IPurse : ITransactionalActor
{
    Task Add(int amount);

    Task MoveTo(Move move);

    Task<int> Read();
}

/// <summary>As it was deployed.</summary>
public sealed record PurseBefore(int Value);

/// <summary>Its next form, numbered and with a step that keeps everything.</summary>
[StateVersion(2)]
public sealed record Purse(int Coins, int Changes)
{
    [Upcasts(1)]
    internal static Purse Upcast(PurseBefore old) => new(old.Value, 0);
}

/// <summary>Its next form with a step that forgets what was there: a mistake.</summary>
[StateVersion(2)]
public sealed record ForgetfulPurse(int Coins, int Changes)
{
    [Upcasts(1)]
    internal static ForgetfulPurse Upcast(PurseBefore old) => new(0, old.Value);
}

/// <summary>Its next form without a number: the earlier program reads it, and drops what it does not know.</summary>
public sealed record NumberlessPurse(int Value, int Changes = 0);

[TransactionalActor("PurseBefore")]
public sealed class PurseBeforeActor : TransactionalActor<PurseBefore>, IPurse
{
    protected override PurseBefore InitialState() => new(0);

    public async Task Add(int amount)
    {
        var mine = await State.ForUpdate();
        State.Set(new PurseBefore(mine.Value + amount));
    }

    public async Task MoveTo(Move move)
    {
        await Add(-move.Amount);
        await Actor<IPurse>(move.To).Add(move.Amount);
    }

    public async Task<int> Read() => (await State.Get()).Value;
}

[TransactionalActor("PurseAfter")]
public sealed class PurseActor : TransactionalActor<Purse>, IPurse
{
    protected override Purse InitialState() => new(0, 0);

    public async Task Add(int amount)
    {
        var mine = await State.ForUpdate();
        State.Set(new Purse(mine.Coins + amount, mine.Changes + 1));
    }

    public async Task MoveTo(Move move)
    {
        await Add(-move.Amount);
        await Actor<IPurse>(move.To).Add(move.Amount);
    }

    public async Task<int> Read() => (await State.Get()).Coins;
}

[TransactionalActor("ForgetfulPurse")]
public sealed class ForgetfulPurseActor : TransactionalActor<ForgetfulPurse>, IPurse
{
    protected override ForgetfulPurse InitialState() => new(0, 0);

    public async Task Add(int amount)
    {
        var mine = await State.ForUpdate();
        State.Set(new ForgetfulPurse(mine.Coins + amount, mine.Changes + 1));
    }

    public async Task MoveTo(Move move)
    {
        await Add(-move.Amount);
        await Actor<IPurse>(move.To).Add(move.Amount);
    }

    public async Task<int> Read() => (await State.Get()).Coins;
}

[TransactionalActor("NumberlessPurse")]
public sealed class NumberlessPurseActor : TransactionalActor<NumberlessPurse>, IPurse
{
    protected override NumberlessPurse InitialState() => new(0);

    public async Task Add(int amount)
    {
        var mine = await State.ForUpdate();
        State.Set(new NumberlessPurse(mine.Value + amount, mine.Changes + 1));
    }

    public async Task MoveTo(Move move)
    {
        await Add(-move.Amount);
        await Actor<IPurse>(move.To).Add(move.Amount);
    }

    public async Task<int> Read() => (await State.Get()).Value;
}

/// <summary>Coins come in tens and move in threes, while workers go from one form of the purse to the next.</summary>
public sealed class Savers(ActorTypeDescriptor after, bool hasBefore = true) : ActorWorkload
{
    private const int All = 6;
    private const int Coins = 10;

    public override IReadOnlyList<ActorTypeDescriptor> ActorTypes => [after with { Type = "Purse" }];

    public override IReadOnlyList<ActorTypeDescriptor>? ActorTypesBefore =>
        hasBefore ? [PurseBeforeActorDescriptor.Instance with { Type = "Purse" }] : null;

    public override TransactionRequest Next(SeededChance chance, int client, int number)
    {
        var (from, to) = ($"p{chance.Next(All)}", $"p{chance.Next(All)}");
        return chance.Next(3) switch
        {
            0 => Act("Purse", from, "Add", Coins),
            1 => Act("Purse", from, "MoveTo", new Move(to, 3)),
            _ => Pact("Purse", from, "MoveTo", new Move(to, 3), Calls("Purse", to)),
        };
    }

    public override IEnumerable<TransactionRequest> Last() =>
        Enumerable.Range(0, All).Select(static i => Act("Purse", $"p{i}", "Read"));

    public override IEnumerable<string> Judge(ActorRun run)
    {
        var sum = run.Last.Sum(static look => look.Result<int>());
        var added = run.Transactions.Where(static one => one.Request.Method == "Add").ToList();
        var least = Coins * added.Count(static one => one.Outcome == ObservedOutcome.Committed);
        var most = least + (Coins * added.Count(static one => one.Outcome == ObservedOutcome.Unknown));
        if (sum < least || sum > most || sum % Coins != 0)
        {
            yield return $"The purses have {sum} in all, and should have {least} to {most}, in tens.";
        }
    }
}
