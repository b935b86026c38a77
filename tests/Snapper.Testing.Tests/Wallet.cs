using Microsoft.Extensions.Logging;
using Snapper.Actors;

namespace Snapper.Testing.Tests;

public interface IWallet : ITransactionalActor
{
    Task<int> Put(int amount);

    Task Pay(Payment payment);

    Task<int> Read();

    Task<DateTimeOffset> LastPut();

    Task Wait(int milliseconds);
}

public sealed record Payment(string To, int Amount);

public sealed record Money(int Amount, DateTimeOffset At);

/// <summary>What an application would ask over the network; tests replace it.</summary>
public interface ILimits
{
    int MostAtOnce { get; }
}

[TransactionalActor("Wallet")]
public sealed class Wallet(ILimits limits) : TransactionalActor<Money>, IWallet
{
    protected override Money InitialState() => new(0, DateTimeOffset.UnixEpoch);

    public async Task<int> Put(int amount)
    {
        if (amount > limits.MostAtOnce)
        {
            throw Abort($"at most {limits.MostAtOnce}");
        }

        var money = await State.ForUpdate();
        State.Set(new Money(money.Amount + amount, Context.UtcNow));
        return money.Amount + amount;
    }

    public async Task Pay(Payment payment)
    {
        var money = await State.ForUpdate();
        if (money.Amount < payment.Amount)
        {
            throw Abort("not enough");
        }

        State.Set(money with { Amount = money.Amount - payment.Amount });
        await Actor<IWallet>(payment.To).Put(payment.Amount);
    }

    [ReadOnlyMethod]
    public async Task<int> Read() => (await State.Get()).Amount;

    [ReadOnlyMethod]
    public async Task<DateTimeOffset> LastPut() => (await State.Get()).At;

    public Task Wait(int milliseconds) => Context.Delay(TimeSpan.FromMilliseconds(milliseconds));
}

public interface ITeller : ITransactionalActor
{
    Task<int> Ask();
}

public sealed record Nothing(int Unused);

/// <summary>Takes what a real worker makes anew for each call, and a logger.</summary>
[TransactionalActor("Teller")]
public sealed class Teller(Visits visits, ILogger<Teller> logger) : TransactionalActor<Nothing>, ITeller
{
    protected override Nothing InitialState() => new(0);

    public Task<int> Ask()
    {
        logger.LogDebug("Asked");
        return Task.FromResult(++visits.Count);
    }
}

/// <summary>A scoped service.</summary>
public sealed class Visits
{
    public int Count { get; set; }
}
