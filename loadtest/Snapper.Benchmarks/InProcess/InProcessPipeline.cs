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
        var end = await system.RunAsync(kind, DrawTransfer());
        var act = kind == TransactionKind.Act;
        if (end.Committed)
        {
            tally.Commit(act, end.Attempts);
        }
        else
        {
            tally.Abort(end.Reason ?? "unknown", act, end.Attempts);
        }
    }

    /// <inheritdoc />
    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private Transfer DrawTransfer()
    {
        Span<int> accounts = stackalloc int[4];
        chooser.Draw(ref random, accounts);
        return new Transfer(accounts[0], accounts[1], accounts[2], accounts[3]);
    }
}
