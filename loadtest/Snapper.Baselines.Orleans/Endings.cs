using Orleans.Transactions;
using Snapper.Benchmarks.InProcess;

namespace Snapper.Baselines.Orleans;

/// <summary>How transactions of Orleans end.</summary>
public static class Endings
{
    /// <summary>Waits for one, which is tried once: what is aborted is the caller's to repeat.</summary>
    public static async ValueTask<TransactionEnd> Of(Task transaction)
    {
        try
        {
            await transaction;
            return new TransactionEnd(true, 1, null);
        }
        catch (Exception ended) when (ended is OrleansTransactionException or TimeoutException)
        {
            return new TransactionEnd(false, 1, ended.GetType().Name)
            {
                InDoubt = ended is OrleansTransactionInDoubtException or TimeoutException,
            };
        }
    }
}
