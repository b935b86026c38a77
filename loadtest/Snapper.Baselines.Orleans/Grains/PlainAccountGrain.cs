using Orleans.Concurrency;
using Orleans.Placement;

namespace Snapper.Baselines.Orleans.Grains;

/// <summary>An account as a plain grain.</summary>
public interface IPlainAccountGrain : IGrainWithStringKey
{
    /// <summary>Adds an amount.</summary>
    Task Deposit(decimal amount);

    /// <summary>Pays an amount to each of others, all at once.</summary>
    Task MultiTransfer(string[] to, decimal amount);

    /// <summary>What it holds.</summary>
    Task<decimal> Balance();
}

/// <summary>
/// A balance in memory; no transactions, no storage. A failed deposit leaves the withdrawal in place, others see money
/// on its way, and a restart forgets everything.
/// </summary>
[Reentrant]
[HashBasedPlacement]
public sealed class PlainAccountGrain : Grain, IPlainAccountGrain
{
    private decimal _balance = AccountState.InitialBalance;

    /// <inheritdoc/>
    public Task Deposit(decimal amount)
    {
        _balance += amount;
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public Task MultiTransfer(string[] to, decimal amount)
    {
        var total = amount * to.Length;
        if (_balance < total)
        {
            throw new InvalidOperationException("insufficient funds");
        }

        _balance -= total;
        var deposits = new Task[to.Length];
        for (var i = 0; i < deposits.Length; i++)
        {
            deposits[i] = GrainFactory.GetGrain<IPlainAccountGrain>(to[i]).Deposit(amount);
        }

        return Task.WhenAll(deposits);
    }

    /// <inheritdoc/>
    public Task<decimal> Balance() => Task.FromResult(_balance);
}
