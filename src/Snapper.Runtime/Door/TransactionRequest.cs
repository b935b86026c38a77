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

/// <summary>Who says how a request runs and which actors it touches.</summary>
public enum AccessSource : byte
{
    /// <summary>The request: it names a mode, or an access set, or its default holds.</summary>
    Request,

    /// <summary>The request names neither; its root's method has not been asked.</summary>
    Open,

    /// <summary>The root's method, since the request names neither.</summary>
    Method,
}

/// <summary>An actor of an access set and the most method calls on it, at least 1.</summary>
public readonly record struct DeclaredAccess(ActorKey Actor, int Calls);

/// <summary>One transaction as a caller asks for it; checked for form by the door, for meaning by the worker.</summary>
public sealed record TransactionRequest
{
    /// <summary>Most actors of an access set.</summary>
    public const int ActorsMax = Snapper.Actors.Declaration.DefaultMost;

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

    /// <summary>Who says how it runs.</summary>
    public AccessSource AccessSource { get; init; }

    /// <summary>
    /// Why the root's method could not say which actors it touches: the request is refused for it. Null: it was not
    /// asked, or could.
    /// </summary>
    public Rejection? Undeclared { get; init; }

    /// <summary>The input as this process has read it already; null: it has not.</summary>
    internal ReadInput? Read { get; init; }

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

/// <summary>An input that was read for a method's declaration, and never changes.</summary>
/// <param name="Reader">The method that has read it.</param>
/// <param name="Input">The input; null: it takes none.</param>
internal sealed record ReadInput(object Reader, object? Input);
