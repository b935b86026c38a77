using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;

namespace Snapper.AspNetCore.Api;

/// <summary>Limits and defaults of the HTTP surface. The defaults are those of the contract.</summary>
internal sealed class ApiOptions
{
    /// <summary>Most transactions in one batch request; part of the contract, not configurable.</summary>
    public const int BatchTransactionsMax = 1000;

    /// <summary>Most actors in one access set; part of the contract, not configurable.</summary>
    public const int AccessActorsMax = Runtime.Door.TransactionRequest.ActorsMax;

    /// <summary>Deepest nesting of JSON objects and arrays in one request, the request's own object included.</summary>
    public const int JsonLevelsMax = 64;

    /// <summary>Largest body of one transaction, alone or inside a batch, in bytes. Default: 1 MiB.</summary>
    public int TransactionBodyBytesMax { get; init; } = 1024 * 1024;

    /// <summary>Largest body of a batch request in bytes; at least <see cref="TransactionBodyBytesMax"/>. Default: 16 MiB.</summary>
    public int BatchBodyBytesMax { get; init; } = 16 * 1024 * 1024;

    /// <summary>
    /// Most bytes of results, messages and touched actors that the answer to a batch request holds; what does not fit is left out, and the
    /// caller asks for it by id. Default: 64 MiB.
    /// </summary>
    public int BatchAnswerBytesMax { get; init; } = 64 * 1024 * 1024;

    /// <summary>Time limit of a request that names none; 1 ms to 300 s. Default: 30 s.</summary>
    public TimeSpan DefaultTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>What <c>Retry-After</c> says when the worker names no time. Rounded up to whole seconds. Default: 1 s.</summary>
    public TimeSpan RetryAfter { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>An answer is waited for so long, and longer by its size, until it is taken. Default: 30 s.</summary>
    public TimeSpan AnswerGrace { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Slowest caller that is waited for after <see cref="AnswerGrace"/>, in bytes per second of its answer; the
    /// connection of a slower one is closed. Default: 64 KiB.
    /// </summary>
    public double AnswerBytesPerSecondMin { get; init; } = 64 * 1024;

    /// <summary>A reader of <c>/v1/events</c> that takes nothing for so long is cut off. Default: 30 s.</summary>
    public TimeSpan StalledReaderMax { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Checks that fail only when the process should be restarted; asked by <c>/healthz</c>. Null: a process that answers
    /// is healthy. A log that cannot be reached does not belong here but to readiness: a restart would not cure it.
    /// </summary>
    public Func<IReadOnlyList<HealthCheck>>? Liveness { get; init; }

    /// <summary>Who may run what; null: everybody everything.</summary>
    internal Access.TransactionAuthorization? Rights { get; init; }

    /// <summary>Where admin actions are written down; null: nowhere, and <c>/v1/audit</c> is empty.</summary>
    internal Access.AuditLog? Audit { get; init; }

    /// <summary>How many requests a caller may send; null: any number.</summary>
    internal Access.RequestLimits? Limits { get; init; }

    /// <summary>How many transactions may be under way; null: any number.</summary>
    internal Access.RequestPlaces? Places { get; init; }

    /// <summary>How many bytes requests and answers may hold; by itself as many as there are.</summary>
    internal Access.ByteShares Bytes { get; init; } = new(new ByteBudget(long.MaxValue), 1);

    /// <summary>Throws when a value is out of its range, naming it.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A value is out of its range.</exception>
    public void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(TransactionBodyBytesMax, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(BatchBodyBytesMax, TransactionBodyBytesMax);
        ArgumentOutOfRangeException.ThrowIfLessThan(BatchAnswerBytesMax, 0);
        ArgumentOutOfRangeException.ThrowIfLessThan(DefaultTimeout, TimeSpan.FromMilliseconds(1));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(DefaultTimeout, TimeSpan.FromSeconds(300));
        ArgumentOutOfRangeException.ThrowIfLessThan(RetryAfter, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfLessThan(StalledReaderMax, TimeSpan.FromMilliseconds(1));
        ArgumentOutOfRangeException.ThrowIfLessThan(AnswerBytesPerSecondMin, 1);
    }
}
