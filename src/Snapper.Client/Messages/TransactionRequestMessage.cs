using Snapper.Protocol.Identity;

namespace Snapper.Client.Messages;

/// <summary>How a transaction is run.</summary>
public enum TransactionMode : byte
{
    /// <summary>Actors declared beforehand; ordered in batches; never aborted by conflicts.</summary>
    Pact,

    /// <summary>Nothing declared; locks, repeated by the system after conflicts.</summary>
    Act,

    /// <summary>
    /// Of a request: as its method declares, a PACT over the actors that it names; an ACT when it declares nothing.
    /// </summary>
    AsDeclared,
}

/// <summary>What becomes of a PACT's declaration.</summary>
public enum AccessMode : byte
{
    /// <summary>It must hold.</summary>
    Strict,

    /// <summary>Run as an ACT and report the declaration that would have been right.</summary>
    Record,

    /// <summary>It must hold; what was declared and not used is reported.</summary>
    Audit,
}

/// <summary>An actor of an access set and the most method calls on it.</summary>
/// <param name="Type">The actor's type.</param>
/// <param name="Id">The actor's id.</param>
/// <param name="Calls">At least 1.</param>
public readonly record struct ActorCalls(string Type, string Id, int Calls);

/// <summary>One transaction, untyped: for callers that have JSON, or no actor interface.</summary>
public sealed class TransactionRequestMessage
{
    /// <summary>The root actor.</summary>
    public required ActorKey Actor { get; init; }

    /// <summary>The root method.</summary>
    public required string Method { get; init; }

    /// <summary>The input as UTF-8 JSON; empty: null.</summary>
    public ReadOnlyMemory<byte> Input { get; init; }

    /// <summary>PACT, ACT, or as the method declares. A PACT needs <see cref="Access"/>.</summary>
    public TransactionMode Mode { get; init; }

    /// <summary>What becomes of the declaration.</summary>
    public AccessMode AccessMode { get; init; }

    /// <summary>The declared actors, each once, the root and calls back to it included; null for an ACT.</summary>
    public IReadOnlyList<ActorCalls>? Access { get; init; }

    /// <summary>
    /// Idempotency key, 1 to 128 printable characters: a request with the same key again returns the first outcome.
    /// Null: one is generated, so that the client's own repetitions have effects once.
    /// </summary>
    public string? Id { get; init; }

    /// <summary>1 ms to 5 min; null: <see cref="SnapperClientOptions.Timeout"/>.</summary>
    public TimeSpan? Timeout { get; init; }

    /// <summary>Turns calls per actor, as the applications' <c>AccessFor</c> give them, into <see cref="Access"/>.</summary>
    public static IReadOnlyList<ActorCalls> AccessOf(IReadOnlyCollection<KeyValuePair<ActorKey, int>> calls)
    {
        ArgumentNullException.ThrowIfNull(calls);
        var access = new ActorCalls[calls.Count];
        var next = 0;
        foreach (var (actor, count) in calls)
        {
            access[next++] = new ActorCalls(actor.Type, actor.Id, count);
        }

        return access;
    }
}
