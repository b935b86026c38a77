using System.Collections.Immutable;
using Orleans.Transactions;
using Snapper.Baselines.Orleans.Grains;
using Snapper.Benchmarks.HotLists;
using Snapper.Benchmarks.Systems;

namespace Snapper.Baselines.Orleans;

/// <summary>Transactions over hot lists, called from the silo's own process.</summary>
public sealed class TransactionalLists(IGrainFactory grains, ITransactionClient transactions)
{
    /// <summary>Waits first, if it waits, then runs the operations one after another, as the product does.</summary>
    /// <param name="transaction">What is done.</param>
    /// <param name="way">In which order.</param>
    /// <param name="seen">Takes the lists that were read, by number of the operation.</param>
    public Task Execute(ListTransaction transaction, OrleansWork way, ImmutableList<long>?[] seen) =>
        transactions.RunTransaction(TransactionOption.Create, () => Run(transaction, way, seen));

    private async Task Run(ListTransaction transaction, OrleansWork way, ImmutableList<long>?[] seen)
    {
        if (transaction.DelayMs > 0)
        {
            await Task.Delay(transaction.DelayMs);
        }

        foreach (var number in Order(transaction, way))
        {
            var operation = transaction.Operations[number];
            var list = grains.GetGrain<IListGrain>(operation.Key);
            if (operation.Value is { } value)
            {
                await list.Append(value);
            }
            else
            {
                seen[number] = await list.Read();
            }
        }
    }

    private static IEnumerable<int> Order(ListTransaction transaction, OrleansWork way) => way switch
    {
        OrleansWork.Lists => transaction.AsDrawn(),
        OrleansWork.SortedLists => transaction.ByList(),
        OrleansWork.AppendsFirst => transaction.ByListAppendsFirst(),
        _ => throw new ArgumentOutOfRangeException(nameof(way), way, "These are no lists."),
    };
}
