using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Door;

/// <summary>How a transaction is run.</summary>
public enum TransactionMode : byte
{
    /// <summary>Actors declared beforehand; ordered in batches.</summary>
    Pact,

    /// <summary>Nothing declared; locks and wait-die.</summary>
    Act,
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

/// <summary>An actor of an access set and the most method calls on it, at least 1.</summary>
public readonly record struct DeclaredAccess(ActorKey Actor, int Calls);

/// <summary>One transaction as a caller asks for it; checked for form by the door, for meaning by the worker.</summary>
public sealed record TransactionRequest
{
    /// <summary>The root actor.</summary>
    public required ActorKey Actor { get; init; }

    /// <summary>The root method.</summary>
    public required string Method { get; init; }

    /// <summary>The input as UTF-8 JSON; empty or <c>null</c> when the method takes nothing.</summary>
    public ReadOnlyMemory<byte> Input { get; init; }

    /// <summary>PACT or ACT.</summary>
    public TransactionMode Mode { get; init; }

    /// <summary>What becomes of the declaration.</summary>
    public AccessMode AccessMode { get; init; }

    /// <summary>The declared actors, each once; null for an ACT. Contains the root.</summary>
    public DeclaredAccess[]? Access { get; init; }

    /// <summary>The caller's idempotency key; null: none, one is generated.</summary>
    public string? Id { get; init; }

    /// <summary>From arrival; 1 ms to 300 s.</summary>
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Who asks, as the door established it.</summary>
    public string? Caller { get; init; }

    /// <summary>
    /// To whom the id is counted, and in whose turn the request begins: a sender who is known apart from others; null:
    /// all the others together.
    /// </summary>
    public string? CountedFor { get; init; }

    /// <summary>W3C trace context.</summary>
    public string? TraceParent { get; init; }

    /// <summary>W3C <c>tracestate</c>, which goes along with it.</summary>
    public string? TraceState { get; init; }
}
