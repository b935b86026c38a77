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
    IInProcessSystem system, IAccountChooser chooser, Waits waits, int list, ulong seed) : IPipeline
{
    private FastRandom _random = new(seed);

    /// <inheritdoc />
    public async ValueTask RunOnceAsync(Tally tally)
    {
        var transfer = Transfer.Draw(chooser, ref _random);
        var end = _random.NextDouble() >= waits.Share
            ? await system.RunAsync(TransactionKind.Pact, transfer)
            : await system.RunWaitingAsync(list, waits.Wait, waits.Share < 1 ? transfer : null);
        end.CountIn(tally, act: false);
    }

    /// <inheritdoc />
    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
