using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.InProcess;

/// <summary>The mix of an in-process load.</summary>
/// <param name="PactShare">Share of PACTs among transactions, 0 to 1; the others are ACTs.</param>
/// <param name="NonTransactional">True: neither; the baseline without concurrency control.</param>
public readonly record struct Mix(double PactShare, bool NonTransactional = false)
{
    /// <summary>Only PACTs.</summary>
    public static Mix Pacts => new(1);

    /// <summary>Only ACTs.</summary>
    public static Mix Acts => new(0);

    /// <summary>No transactions.</summary>
    public static Mix NonTxn => new(0, NonTransactional: true);

    /// <summary>The kind of the next transaction.</summary>
    public TransactionKind Draw(ref FastRandom random) => NonTransactional
        ? TransactionKind.NonTransactional
        : random.NextDouble() < PactShare ? TransactionKind.Pact : TransactionKind.Act;
}

/// <summary>A closed loop that calls the runtime directly.</summary>
public sealed class InProcessPipeline(IInProcessSystem system, IAccountChooser chooser, Mix mix, ulong seed) : IPipeline
{
    private FastRandom random = new(seed);

    /// <inheritdoc />
    public async ValueTask RunOnceAsync(Tally tally)
    {
        var kind = mix.Draw(ref random);
        var end = await system.RunAsync(kind, Transfer.Draw(chooser, ref random));
        end.CountIn(tally, kind == TransactionKind.Act);
    }

    /// <inheritdoc />
    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
