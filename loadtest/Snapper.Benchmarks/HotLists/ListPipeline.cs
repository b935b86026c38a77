using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.HotLists;

/// <summary>A closed loop of transactions over hot lists.</summary>
/// <param name="run">Which lists.</param>
/// <param name="execute">Runs one transaction to its end.</param>
/// <param name="seed">Decides what this loop draws.</param>
/// <param name="connection">Ends with the loop; null: it has none.</param>
public sealed class ListPipeline(
    ListRun run,
    Func<ListTransaction, ValueTask<TransactionEnd>> execute,
    ulong seed,
    IDisposable? connection = null) : IPipeline
{
    private FastRandom _random = new(seed);

    /// <inheritdoc />
    public async ValueTask RunOnceAsync(Tally tally)
    {
        var transaction = run.Draw(ref _random);
        var end = await execute(transaction);
        run.Note(transaction, end);
        end.CountIn(tally, act: true);
    }

    /// <inheritdoc />
    public ValueTask DisposeAsync()
    {
        connection?.Dispose();
        return ValueTask.CompletedTask;
    }
}
