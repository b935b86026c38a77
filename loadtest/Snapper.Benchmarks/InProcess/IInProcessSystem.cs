using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.InProcess;

/// <summary>How a transaction of an in-process run is executed.</summary>
public enum TransactionKind
{
    /// <summary>Actors declared beforehand.</summary>
    Pact,

    /// <summary>Nothing declared.</summary>
    Act,

    /// <summary>The same user code on the same executors, with no concurrency control and no log.</summary>
    NonTransactional,
}

/// <summary>A 4-actor transfer of 1 to each receiver; account numbers as <see cref="Load.AccountIds"/> names them, all different.</summary>
public readonly record struct Transfer(int Root, int To1, int To2, int To3)
{
    /// <summary>The next one of a load.</summary>
    public static Transfer Draw(IAccountChooser chooser, ref FastRandom random)
    {
        Span<int> accounts = stackalloc int[4];
        chooser.Draw(ref random, accounts);
        return new Transfer(accounts[0], accounts[1], accounts[2], accounts[3]);
    }
}

/// <summary>How a transaction ended.</summary>
/// <param name="Committed">Whether its effects are there.</param>
/// <param name="Attempts">How often it was started, at least 1; all but a committed one's last were aborted.</param>
/// <param name="Reason">Why it was aborted; null when committed.</param>
public readonly record struct TransactionEnd(bool Committed, int Attempts, string? Reason)
{
    /// <summary>Not committed as far as its caller knows; its effects may be there all the same.</summary>
    public bool InDoubt { get; init; }

    /// <summary>Counts it.</summary>
    public void CountIn(Tally tally, bool act)
    {
        if (Committed)
        {
            tally.Commit(act, Attempts);
        }
        else
        {
            tally.Abort(Reason ?? "unknown", act, Attempts);
        }
    }
}

/// <summary>What an in-process system is started with.</summary>
/// <param name="Accounts">Accounts that the load uses: 0 to this - 1.</param>
/// <param name="DataFolder">A folder of its own, empty; deleted afterwards.</param>
public sealed record InProcessSettings(int Accounts, string DataFolder);

/// <summary>
/// The runtime inside this process, with a real Redis (<c>appendfsync always</c>) beside it. Implemented where the runtime is known; the drivers,
/// the measuring and the tables are written over this interface alone.
/// </summary>
public interface IInProcessSystem : IAsyncDisposable
{
    /// <summary>What the tables call it.</summary>
    string Name { get; }

    /// <summary>Its other processes (Redis), whose CPU time counts besides this one's.</summary>
    IReadOnlyList<MeasuredProcess> Processes { get; }

    /// <summary>Settings that a number depends on.</summary>
    IReadOnlyDictionary<string, string> Facts { get; }

    /// <summary>Starts it; called once, before anything else.</summary>
    Task StartAsync(CancellationToken cancellation);

    /// <summary>Runs one transaction to its end. Called by many loops at the same time.</summary>
    ValueTask<TransactionEnd> RunAsync(TransactionKind kind, Transfer transfer);

    /// <summary>
    /// Runs a PACT whose method waits, on a list of its own; it declares three accounts, and they wait with it.
    /// </summary>
    /// <param name="list">Number of the list.</param>
    /// <param name="wait">How long.</param>
    /// <param name="accounts">The accounts; null: none.</param>
    ValueTask<TransactionEnd> RunWaitingAsync(int list, TimeSpan wait, Transfer? accounts);
}
