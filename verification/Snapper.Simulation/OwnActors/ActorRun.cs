using System.Text.Json;
using Snapper.Runtime.Door;
using Snapper.Judging.Histories;

namespace Snapper.Simulation.OwnActors;

/// <summary>What the clients of a run saw.</summary>
/// <param name="Transactions">Every transaction of the workload, in the order in which its client was done with it.</param>
/// <param name="Last">The looks at the end, in the order of <see cref="ActorWorkload.Last"/>; all of them committed.</param>
public sealed record ActorRun(IReadOnlyList<ActorTransaction> Transactions, IReadOnlyList<ActorTransaction> Last);

/// <summary>A transaction and what its client knows of it.</summary>
public sealed record ActorTransaction
{
    /// <summary>Who sent it, from 0.</summary>
    public required int Client { get; init; }

    /// <summary>Counts the client's transactions, from 0.</summary>
    public required int Number { get; init; }

    /// <summary>What was asked for.</summary>
    public required TransactionRequest Request { get; init; }

    /// <summary>How it ended. <see cref="ObservedOutcome.Unknown"/>: no clear answer came; its effects are there as a whole, or not at all.</summary>
    public required ObservedOutcome Outcome { get; init; }

    /// <summary>The answer; null when none came.</summary>
    public required TransactionEnvelope? Answer { get; init; }

    /// <summary>When it was sent, in virtual time since the start.</summary>
    public required TimeSpan Invoked { get; init; }

    /// <summary>When its client was done with it.</summary>
    public required TimeSpan Completed { get; init; }

    /// <summary>The result of one that committed.</summary>
    /// <exception cref="InvalidOperationException">It did not commit, as far as its client knows.</exception>
    /// <exception cref="JsonException">Its result is something else.</exception>
    public T Result<T>() => Outcome == ObservedOutcome.Committed
        ? JsonSerializer.Deserialize<T>(Answer!.Result.Span, ActorWorkload.Json)!
        : throw new InvalidOperationException($"{Request.Actor}.{Request.Method} of client {Client} is {Outcome}: it has no result.");

    /// <summary>What was given to the root method.</summary>
    /// <exception cref="JsonException">It is something else.</exception>
    public T Input<T>() => JsonSerializer.Deserialize<T>(Request.Input.Span, ActorWorkload.Json)!;
}
