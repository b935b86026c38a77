using Snapper.Actors;

namespace Snapper.Runtime.Tests.Support;

public sealed record DebtState(int Owed);

public sealed record Owe(string To, int Amount);

/// <summary>An input that can be changed.</summary>
public sealed class OweAll
{
    public List<string> To { get; set; } = [];

    public int Amount { get; set; }
}

public interface IDebt : ITransactionalActor
{
    Task<int> Owed();

    Task<int> Add(int amount);

    Task<int> Pass(Owe owe);

    Task<int> PassAll(OweAll owe);

    Task<int> Misdeclared(Owe owe);

    Task<int> Hang(Owe owe);

    Task Deny(int how);

    Task AskDenied(Owe owe);
}

/// <summary>Methods that say themselves which actors they touch.</summary>
[TransactionalActor("Debt")]
public sealed class DebtActor : TransactionalActor<DebtState>, IDebt
{
    private static int s_evaluations;
    private static volatile bool s_hangs;

    /// <summary>How often <see cref="PassAll(OweAll)"/> has declared.</summary>
    public static int Evaluations => Volatile.Read(ref s_evaluations);

    /// <summary>Declarations of <see cref="Hang(Owe)"/> do not come back.</summary>
    public static bool Hangs { get => s_hangs; set => s_hangs = value; }

    protected override DebtState InitialState() => new(0);

    [ReadOnlyMethod]
    public async Task<int> Owed() => (await State.Get()).Owed;

    public async Task<int> Add(int amount)
    {
        var state = await State.ForUpdate();
        State.Set(new DebtState(state.Owed + amount));
        return state.Owed + amount;
    }

    [Declares]
    internal static void Pass(Declaration declaration, string id, Owe owe) => declaration.Actor<IDebt>(owe.To);

    public async Task<int> Pass(Owe owe)
    {
        await Add(-owe.Amount);
        return await Actor<IDebt>(owe.To).Add(owe.Amount);
    }

    [Declares]
    internal static void PassAll(Declaration declaration, string id, OweAll owe)
    {
        Interlocked.Increment(ref s_evaluations);
        foreach (var to in owe.To)
        {
            if (to == "throw")
            {
                throw new InvalidOperationException("planned, in a declaration");
            }

            for (var i = 0; to.StartsWith("many:", StringComparison.Ordinal)
                && i < int.Parse(to[5..], System.Globalization.CultureInfo.InvariantCulture); i++)
            {
                declaration.Actor<IDebt>($"m{i}");
            }

            declaration.Actor<IDebt>(to);
        }

        owe.Amount = 1_000_000; // what a declaration does to its input is not seen by the method
        owe.To = [];
    }

    public async Task<int> PassAll(OweAll owe)
    {
        foreach (var to in owe.To)
        {
            await Actor<IDebt>(to).Add(owe.Amount);
        }

        return owe.Amount;
    }

    // Only when it is run: what a list holds, the analyzer does not know.
    [Declares("Misdeclared")]
    internal static void DeclareMisdeclared(Declaration declaration, string id, Owe owe) =>
        declaration.Actor<IDebt>("another");

    public Task<int> Misdeclared(Owe owe) => Actor<IDebt>(owe.To).Add(owe.Amount);

    [Declares]
    internal static void Hang(Declaration declaration, string id, Owe owe)
    {
        while (s_hangs)
        {
            Thread.Sleep(1);
        }

        declaration.Actor<IDebt>(owe.To);
    }

    public Task Deny(int how) => throw how switch
    {
        0 => Abort("not_now", null),
        1 => Abort("Not a code", null),
        2 => Abort("too_much", new { Text = new string('x', 5_000) }),
        3 => Abort("a message\0that_is_no_code\0{}"),
        _ => Abort("insufficient_funds", new { Needed = how, Available = 3 }, "not enough"),
    };

    public async Task AskDenied(Owe owe)
    {
        await Add(1);
        await Actor<IDebt>(owe.To).Deny(owe.Amount);
    }

    public Task<int> Hang(Owe owe) => Actor<IDebt>(owe.To).Add(owe.Amount);
}
