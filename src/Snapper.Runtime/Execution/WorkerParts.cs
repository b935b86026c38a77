using Microsoft.Extensions.Logging;
using Snapper.Protocol;
using Snapper.Runtime.Inspection;
using Snapper.Storage.Recovery;
using Snapper.Storage.States;

namespace Snapper.Runtime.Execution;

internal sealed record WorkerParts(
    WorkerOptions Options,
    TimeProvider Time,
    IServiceProvider? Services,
    IReadOnlyList<ActorType> Types,
    IStateStore Store,
    OutcomeReader Outcomes,
    ILogger Logger,
    Action<Exception> Failed,
    IWorkerTrace? Trace,
    SchedulingPolicy SchedulingPolicy,
    Background Background,
    ITransactionObserver? Observer,
    Func<Worker, IPeers>? Peers);

/// <summary>Where the log of earlier epochs ends: numbering goes on above it (R1).</summary>
public sealed record RecoveredPositions(long LastTransaction, long ActCounter, long NumbersOfALife, bool MayHaveOlderOutcomes);
