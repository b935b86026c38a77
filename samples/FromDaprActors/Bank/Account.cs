using Dapr.Actors;
using Dapr.Actors.Runtime;

namespace Bank;

public sealed class Account(ActorHost host) : Actor(host), IAccount
{
    public Task<decimal> Balance() => StateManager.GetOrAddStateAsync("balance", 1000m);

    public async Task Deposit(decimal amount) =>
        await StateManager.SetStateAsync("balance", await Balance() + amount);

    public async Task Transfer(Transfer transfer)
    {
        var balance = await Balance();
        if (balance < transfer.Amount) throw new InvalidOperationException("insufficient funds");

        await StateManager.SetStateAsync("balance", balance - transfer.Amount);
        var to = ProxyFactory.CreateActorProxy<IAccount>(new ActorId(transfer.To), nameof(Account));
        await to.Deposit(transfer.Amount);
    }
}
