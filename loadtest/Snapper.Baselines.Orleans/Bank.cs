using Orleans.Transactions;
using Snapper.Baselines.Orleans.Grains;
using Snapper.Benchmarks.Systems;

namespace Snapper.Baselines.Orleans;

/// <summary>Transfers, called from the silo's own process.</summary>
public sealed class Bank(IGrainFactory grains, ITransactionClient transactions)
{
    private const int ReadTogether = 50;
    private const int TriesMax = 5;

    /// <summary>One account pays 1 to each of others.</summary>
    /// <param name="way">By which grains, and in which order.</param>
    /// <param name="root">The one that pays.</param>
    /// <param name="to">The others.</param>
    public Task Transfer(OrleansWork way, string root, string[] to) => way switch
    {
        OrleansWork.Plain => grains.GetGrain<IPlainAccountGrain>(root).MultiTransfer(to, 1),
        OrleansWork.Parallel => grains.GetGrain<IAccountGrain>(root).MultiTransfer(to, 1),
        OrleansWork.Sorted => transactions.RunTransaction(TransactionOption.Create, () => InOrder(root, to)),
        _ => throw new ArgumentOutOfRangeException(nameof(way), way, "These are no transfers."),
    };

    /// <summary>What all accounts hold together.</summary>
    /// <param name="plain">The plain grains.</param>
    /// <param name="ids">Of all accounts.</param>
    public async Task<decimal> Sum(bool plain, IEnumerable<string> ids)
    {
        var sum = 0m;
        foreach (var some in ids.Chunk(ReadTogether))
        {
            sum += plain
                ? await SumOf(some.Select(id => grains.GetGrain<IPlainAccountGrain>(id).Balance()))
                : await Read(some);
        }

        return sum;
    }

    // No transaction waits for another one, once each takes its locks in the order of all grains.
    private async Task InOrder(string root, string[] to)
    {
        string[] all = [root, .. to];
        Array.Sort(all, string.CompareOrdinal);
        foreach (var id in all)
        {
            var account = grains.GetGrain<IAccountGrain>(id);
            await (id == root ? account.Withdraw(to.Length) : account.Deposit(1));
        }
    }

    private async Task<decimal> Read(string[] ids)
    {
        for (var attempt = 1; ; attempt++)
        {
            var sum = 0m;
            var reading = transactions.RunTransaction(
                TransactionOption.Create,
                async () => { sum = await SumOf(ids.Select(id => grains.GetGrain<IAccountGrain>(id).Balance())); });
            if (await Endings.Of(reading) is { Committed: true })
            {
                return sum;
            }
            else if (attempt == TriesMax)
            {
                await reading;
            }
        }
    }

    private static async Task<decimal> SumOf(IEnumerable<Task<decimal>> balances) =>
        (await Task.WhenAll(balances)).Sum();
}
