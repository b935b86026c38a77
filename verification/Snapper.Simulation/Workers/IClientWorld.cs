using Snapper.Runtime.Door;
using Snapper.Simulation.Core;
using Snapper.Simulation.Faults;
using Snapper.Simulation.Running;
using Snapper.Simulation.Workloads;
using Snapper.Judging.Histories;

namespace Snapper.Simulation.Workers;

/// <summary>What clients are in: whom they reach, and who hears what they conclude.</summary>
internal interface IClientWorld : ISimulation
{
    /// <summary>What is sent, how often, and what goes wrong on its way.</summary>
    Scenario Scenario { get; }

    /// <summary>What clients ask for.</summary>
    IWorkload Workload { get; }

    /// <summary>Faults that happened.</summary>
    Tally<FaultKind> Faults { get; }

    /// <summary>The scheduling policy of every worker's life.</summary>
    RareChance Rare { get; }

    /// <summary>Requests that wait for their answers.</summary>
    OpenRequests Open { get; }

    /// <summary>Nothing goes wrong any more.</summary>
    bool IsHealed { get; }

    /// <summary>All clients are done; the end is being looked at.</summary>
    bool IsFinal { get; }

    /// <summary>Nothing goes wrong, and all code is known not to wait.</summary>
    bool IsCalm { get; }

    /// <summary>Outcomes that somebody knew of may be gone.</summary>
    bool LogWasLost { get; }

    /// <summary>What clients were told is gone for good, so that an id may have another outcome since.</summary>
    bool AnswersWereLost { get; }

    /// <summary>A client's pause between two transactions, in ticks.</summary>
    long DrawPause(SeededChance chance);

    /// <summary>How long a client that heard nothing certain does something else before it sends an id again, in ticks; 0: it sends it again soon.</summary>
    long DrawLongPause(SeededChance chance);

    /// <summary>An id that has committed may be sent again now: its outcome is kept long enough.</summary>
    bool IsKept(string id);

    /// <summary>A durable record says that this id has committed. Of several workers alone.</summary>
    bool HasCommitted(string id);

    /// <summary>Where a request arrives; null: nowhere.</summary>
    IRequestTarget? Route(bool misrouted);

    /// <summary>A request is given to a worker.</summary>
    void Sent(TransactionRequest request);

    /// <summary>Something is wrong.</summary>
    void Violated(string what);

    /// <summary>A worker has answered a request with a generated id so: whoever asks by the id must hear what became of it.</summary>
    void ToldInDoubt(string id);

    /// <summary>A client has concluded a transaction.</summary>
    void Concluded(PlannedTransaction transaction, ObservedOutcome verdict, TransactionEnvelope? envelope, long invoked);

    /// <summary>A client has nothing more to send.</summary>
    void ClientIsDone();
}

/// <summary>A worker's life as its clients see it.</summary>
internal interface IRequestTarget
{
    /// <summary>Its process.</summary>
    ProcessScope Scope { get; }

    /// <summary>Requests are let in.</summary>
    bool IsOpen { get; }

    /// <summary>It does nothing now, or not everything.</summary>
    bool IsStill { get; }

    /// <summary>It belongs to no others.</summary>
    bool IsAlone { get; }

    /// <summary>Where they enter.</summary>
    ITransactionService Door { get; }

    /// <summary>Where it stands, in words.</summary>
    string Standing { get; }

    /// <summary>Asks it what became of a request, in its process.</summary>
    void Find(string id, Action<TransactionEnvelope?> found);
}
