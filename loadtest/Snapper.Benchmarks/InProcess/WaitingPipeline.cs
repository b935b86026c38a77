using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.InProcess;

/// <summary>PACTs whose methods wait for something else than the worker.</summary>
/// <param name="Wait">How long one waits.</param>
/// <param name="Share">Share of the transactions that do, 0 to 1; 1: all of them, on an actor of their own alone.</param>
public readonly record struct Waits(TimeSpan Wait, double Share);

/// <summary>
/// A closed loop of PACTs of which some wait: each on a list of its own, with three accounts of the load declared,
/// unless all of them wait.
/// </summary>
public sealed class WaitingPipeline(
    SnapperInProcess system, IAccountChooser chooser, Waits waits, int list, ulong seed) : IPipeline
{
    private FastRandom _random = new(seed);

    /// <inheritdoc />
    public async ValueTask RunOnceAsync(Tally tally)
    {
        var transfer = DrawTransfer();
        var end = _random.NextDouble() >= waits.Share
            ? await system.RunAsync(TransactionKind.Pact, transfer)
            : await system.RunWaitingAsync(list, waits.Wait, waits.Share < 1 ? transfer : null);
        if (end.Committed)
        {
            tally.Commit(act: false, end.Attempts);
        }
        else
        {
            tally.Abort(end.Reason ?? "unknown", act: false, end.Attempts);
        }
    }

    /// <inheritdoc />
    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private Transfer DrawTransfer()
    {
        Span<int> accounts = stackalloc int[4];
        chooser.Draw(ref _random, accounts);
        return new Transfer(accounts[0], accounts[1], accounts[2], accounts[3]);
    }
}
