using System.Text.Json;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Snapper.Actors.Generated;
using Snapper.Contracts;
using Snapper.Protocol;
using Snapper.Runtime.Execution;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.States;

namespace Snapper.Runtime.Hosting;

/// <summary>Everything a worker takes from outside: settings, actor types, log, store, time.</summary>
public sealed class WorkerSetup
{
    /// <summary>How many numbers a worker that serves sets apart at a start.</summary>
    internal const long UsualNumbersOfALife = 10_000_000;

    public required WorkerOptions Options { get; init; }

    /// <summary>The actor types it hosts; names are unique.</summary>
    public required IReadOnlyList<ActorTypeDescriptor> ActorTypes { get; init; }

    /// <summary>Its log; the caller disposes it after the worker.</summary>
    public required ITransactionLog Log { get; init; }

    /// <summary>Where states are checkpointed; the caller disposes it after the worker.</summary>
    public required IStateStore Store { get; init; }

    /// <summary>How inputs, results and states are written.</summary>
    public JsonSerializerOptions Json { get; init; } = DefaultJson;

    /// <summary>
    /// How inputs are read: a field that the method's input does not have is refused, unless its type says otherwise
    /// (<c>[JsonUnmappedMemberHandling]</c>, <c>[JsonExtensionData]</c>). A state may have such fields: an older version wrote it.
    /// </summary>
    internal JsonSerializerOptions InputJson => _inputJson ??= ReferenceEquals(Json, DefaultJson) ? DefaultInputJson : Strict(Json);

    private JsonSerializerOptions? _inputJson;

    /// <summary>The append queue.</summary>
    public LogWriterOptions Writing { get; init; } = new();

    /// <summary>Folding and trimming.</summary>
    public CheckpointerOptions Checkpointing { get; init; } = new();

    public TimeProvider Time { get; init; } = TimeProvider.System;

    /// <summary>What requests of other workers may hold, with those at the doors; else as much as there is.</summary>
    public Door.ByteBudget Bytes { get; init; } = new(long.MaxValue);

    /// <summary>Services that actors take in their constructors; null: none.</summary>
    public IServiceProvider? Services { get; init; }

    /// <summary>Log lines.</summary>
    public ILogger Logger { get; init; } = NullLogger.Instance;

    /// <summary>Called once when the worker has stopped for a broken invariant or a lost log: the process should end and start anew.</summary>
    public Action<Exception> Failed { get; init; } = static _ => { };

    /// <summary>Asks what log and states are kept in how full it is; null: it has no limit.</summary>
    public Func<CancellationToken, Task<StoreMemory>>? ReadStoreMemory { get; init; }

    /// <summary>Makes it one of several workers; null: it is alone.</summary>
    public IPeeringSetup? Cluster { get; init; }

    /// <summary>Hears of transactions; null: nobody does.</summary>
    public Inspection.ITransactionObserver? Observer { get; init; }

    /// <summary>Hears what the commit order does; null: nobody listens.</summary>
    internal IWorkerTrace? Trace { get; init; }

    /// <summary>Decides where the protocol leaves a choice.</summary>
    internal SchedulingPolicy SchedulingPolicy { get; init; }

    /// <summary>Where things beside the executors are done; a simulator has a place of its own.</summary>
    public Background Background { get; init; } = Background.Pool;

    /// <summary>How many numbers a start sets apart for its life (R1); a simulator has fewer, so that lives use more than that.</summary>
    internal long NumbersOfALife { get; init; } = UsualNumbersOfALife;

    /// <summary>Facts of the surroundings that the status shows.</summary>
    public Func<EnvironmentInfo> Surroundings { get; init; } = static () => EnvironmentInfo.None;

    private static JsonSerializerOptions DefaultJson { get; } = new(JsonSerializerDefaults.Web)
    {
        NumberHandling = System.Text.Json.Serialization.JsonNumberHandling.Strict,
        MaxDepth = 64,
        TypeInfoResolver = new System.Text.Json.Serialization.Metadata.DefaultJsonTypeInfoResolver(),
        RespectRequiredConstructorParameters = true,
        RespectNullableAnnotations = true,
        AllowDuplicateProperties = false,
    };

    // Options remember what they learnt of types by reflection: a process that starts many workers learns it once.
    private static JsonSerializerOptions DefaultInputJson { get; } = Strict(DefaultJson);

    private static JsonSerializerOptions Strict(JsonSerializerOptions json) => new(json)
    {
        UnmappedMemberHandling = System.Text.Json.Serialization.JsonUnmappedMemberHandling.Disallow,
    };
}

/// <summary>Facts that only the host knows. Pids are 0 when unknown; durability is <c>always</c>, <c>everysec</c> or <c>none</c>.</summary>
public sealed record EnvironmentInfo(string Dapr, int SidecarPid, int RedisPid, string Durability, string Version)
{
    /// <summary>Memory of the Redis that holds log and states; null: unknown, or there is none.</summary>
    public RedisMemoryView? Redis { get; init; }

    /// <summary>Nothing known.</summary>
    public static EnvironmentInfo None { get; } = new("none", 0, 0, "none", "0.0.0");
}
