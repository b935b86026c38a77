using Snapper.Client.Messages;
using Snapper.Scenarios.Targets;

namespace Snapper.Scenarios.Workloads;

/// <summary>A transaction that is about to be sent. Workloads derive what they must remember of it.</summary>
/// <param name="message">With an id.</param>
public abstract class PlannedTransaction(TransactionRequestMessage message)
{
    /// <summary>What is sent.</summary>
    public TransactionRequestMessage Message { get; } = message;

    /// <summary>Numbers, 0 to <see cref="IWorkload.Actors"/> - 1, of the actors whose callers wait for it; empty: not told.</summary>
    public virtual ReadOnlySpan<int> Actors => [];
}

/// <summary>When a transaction left and when its answer had come, in ticks of <see cref="System.Diagnostics.Stopwatch"/>.</summary>
/// <param name="Invoked">Before it left.</param>
/// <param name="Completed">After its answer had arrived.</param>
public readonly record struct SentAt(long Invoked, long Completed);

/// <summary>What is sent, and what must be true in the end. <see cref="Next"/> is called by one thread at a time; <see cref="Record"/> is thread-safe.</summary>
public interface IWorkload
{
    /// <summary>For reports: what is sent, in a line.</summary>
    string Describe();

    /// <summary>How many actors it numbers; 0: none.</summary>
    int Actors { get; }

    /// <summary>Learns what it must know of the system before the first transaction.</summary>
    /// <exception cref="TargetException">The system cannot run it.</exception>
    Task Prepare(ILoadTarget target, CancellationToken cancellation);

    /// <summary>The next transaction; its sequence follows from the seed alone.</summary>
    PlannedTransaction Next();

    /// <summary>Takes note of how one ended. Every one that was sent is told exactly once.</summary>
    /// <param name="planned">What <see cref="Next"/> gave.</param>
    /// <param name="reply">Null: no answer came, so its outcome is not known.</param>
    /// <param name="span">When.</param>
    void Record(PlannedTransaction planned, TransactionReply? reply, SentAt span);

    /// <summary>Looks whether the system holds what it should, when all is quiet.</summary>
    Task<InvariantReport> Check(ILoadTarget target, CancellationToken cancellation);
}
