using System.Collections.Immutable;
using Orleans.Concurrency;
using Orleans.Placement;
using Orleans.Transactions.Abstractions;

namespace Snapper.Baselines.Orleans.Grains;

/// <summary>A list of numbers as a transactional grain.</summary>
public interface IListGrain : IGrainWithStringKey
{
    /// <summary>Appends a value.</summary>
    [Transaction(TransactionOption.CreateOrJoin)]
    Task Append(long value);

    /// <summary>The whole list.</summary>
    [Transaction(TransactionOption.CreateOrJoin)]
    Task<ImmutableList<long>> Read();
}

/// <summary>The list, which is never copied: it is immutable, as that of the product is.</summary>
[GenerateSerializer]
public sealed class ListState
{
    /// <summary>In the order of the appends.</summary>
    [Id(0)]
    public ImmutableList<long> Values { get; set; } = [];
}

/// <inheritdoc cref="IListGrain"/>
[Reentrant]
[HashBasedPlacement]
public sealed class ListGrain(
    [TransactionalState("list", SiloHost.Storage)] ITransactionalState<ListState> state) : Grain, IListGrain
{
    /// <inheritdoc/>
    public Task Append(long value) => state.PerformUpdate(mine => { mine.Values = mine.Values.Add(value); });

    /// <inheritdoc/>
    public Task<ImmutableList<long>> Read() => state.PerformRead(static mine => mine.Values);
}
