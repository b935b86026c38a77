using Orleans.Concurrency;
using Orleans.Placement;
using Orleans.Transactions.Abstractions;

namespace Snapper.Baselines.Orleans.Grains;

/// <summary>What an account holds: the same as the transactional account of the product.</summary>
[GenerateSerializer]
public sealed class AccountState
{
    /// <summary>What an account that was never touched holds.</summary>
    public const decimal InitialBalance = 10_000m;

    /// <summary>Changed by transfers.</summary>
    [Id(0)]
    public decimal Checking { get; set; } = InitialBalance;

    /// <summary>Not touched by transfers.</summary>
    [Id(1)]
    public decimal Savings { get; set; } = InitialBalance;
}

/// <summary>
/// As the documentation of Orleans has it: reentrant, one transactional state. Placed by a hash, so that two silos have
/// about half of the accounts each.
/// </summary>
[Reentrant]
[HashBasedPlacement]
public sealed class AccountGrain(
    [TransactionalState("account", SiloHost.Storage)] ITransactionalState<AccountState> state) : Grain, IAccountGrain
{
    /// <inheritdoc/>
    public Task Withdraw(decimal amount) => state.PerformUpdate(mine =>
    {
        if (mine.Checking < amount)
        {
            throw new InvalidOperationException("insufficient funds");
        }

        mine.Checking -= amount;
    });

    /// <inheritdoc/>
    public Task Deposit(decimal amount) => state.PerformUpdate(mine => { mine.Checking += amount; });

    /// <inheritdoc/>
    public async Task MultiTransfer(string[] to, decimal amount)
    {
        await Withdraw(amount * to.Length);
        var deposits = new Task[to.Length];
        for (var i = 0; i < deposits.Length; i++)
        {
            deposits[i] = GrainFactory.GetGrain<IAccountGrain>(to[i]).Deposit(amount);
        }

        await Task.WhenAll(deposits);
    }

    /// <inheritdoc/>
    public Task<decimal> Balance() => state.PerformRead(static mine => mine.Checking);
}
