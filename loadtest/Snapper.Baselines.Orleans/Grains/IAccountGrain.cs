namespace Snapper.Baselines.Orleans.Grains;

/// <summary>An account of SmallBank as a transactional grain.</summary>
public interface IAccountGrain : IGrainWithStringKey
{
    /// <summary>Takes an amount if the balance covers it; else the transaction aborts.</summary>
    [Transaction(TransactionOption.CreateOrJoin)]
    Task Withdraw(decimal amount);

    /// <summary>Adds an amount.</summary>
    [Transaction(TransactionOption.CreateOrJoin)]
    Task Deposit(decimal amount);

    /// <summary>Pays an amount to each of others, all at once.</summary>
    [Transaction(TransactionOption.CreateOrJoin)]
    Task MultiTransfer(string[] to, decimal amount);

    /// <summary>What it holds.</summary>
    [Transaction(TransactionOption.CreateOrJoin)]
    Task<decimal> Balance();
}
