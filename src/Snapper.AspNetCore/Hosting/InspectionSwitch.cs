using Snapper.Cluster.Control;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Inspection;

namespace Snapper.AspNetCore.Hosting;

/// <summary>What can be seen of a worker from the start of its process on: little until it has recovered, then everything.</summary>
internal sealed class InspectionSwitch(WorkerSettings settings) : IWorkerInspection
{
    private readonly long _startedAt = Environment.TickCount64;
    private volatile IWorkerInspection? _worker;
    private volatile bool _isLeaving;
    private volatile string _doing = Recovering;

    /// <summary>What it does first, unless somebody says otherwise.</summary>
    public const string Recovering = "recovering from its log";

    /// <summary>What it does until it is there, for whoever probes it.</summary>
    public string Doing
    {
        get => _doing;
        set => _doing = value;
    }

    public void Open(IWorkerInspection worker, IClusterControl? control)
    {
        Control = control;
        _worker = worker;
    }

    /// <summary>The workers as one system; null: it is alone, or has not joined them yet.</summary>
    public IClusterControl? Control { get; private set; }

    public IWorkerWatch? Watch => _worker?.Watch;

    /// <summary>What of memory is used and may be; null: the process does not look.</summary>
    public Func<HeldMemoryView>? Memory { get; set; }

    public WorkerStatus Status() => Known() with { Memory = Memory?.Invoke() };

    private WorkerStatus Known() => _worker?.Status() ?? new WorkerStatus(
        settings.Name, Environment.ProcessId, settings.SidecarPid == 0 ? null : settings.SidecarPid,
        settings.RedisPid == 0 ? null : settings.RedisPid, 0,
        settings.SidecarKind == SidecarKind.Embedded ? "embedded" : "daprd", settings.LogKind == LogKind.Redis ? "redis" : "file", "none",
        Environment.TickCount64 - _startedAt, WorkerConfiguration.Version)
    {
        OpenBatches = 0,
        CpuMs = 0,
        ResidentBytes = 0,
        Latency = new LatencyByMode(null, null),
    };

    public WorkerTotals Totals() => _worker?.Totals() ?? new WorkerTotals(0, false, 0, null, null);

    /// <summary>It gives away what it owns, and stops: it still serves, but is not ready for anybody new.</summary>
    public bool IsLeaving
    {
        get => _isLeaving;
        set => _isLeaving = value;
    }

    public IReadOnlyList<HealthCheck> Checks() => _worker?.Checks() is not { } checks ? [new HealthCheck("worker", false, _doing)]
        : IsLeaving ? [.. checks, new HealthCheck("staying", false, "it gives what it owns to the others, and stops")]
        : checks;

    public IReadOnlyList<ActorTypeView> ActorTypes() => _worker?.ActorTypes() ?? [];

    public Task<ActorView?> Actor(ActorKey actor, CancellationToken cancellation) =>
        _worker?.Actor(actor, cancellation) ?? Task.FromResult<ActorView?>(null);

    public Task<ActorListView?> Actors(string type, string? after, string prefix, int limit, CancellationToken cancellation) =>
        _worker?.Actors(type, after, prefix, limit, cancellation) ?? throw new StorageUnavailableException("The worker is starting.");

    public Task<ScheduleView?> Schedule(ActorKey actor, CancellationToken cancellation) =>
        _worker?.Schedule(actor, cancellation) ?? Task.FromResult<ScheduleView?>(null);

    public Task<IReadOnlyList<BatchView>> Batches(int limit, CancellationToken cancellation) =>
        _worker?.Batches(limit, cancellation) ?? Task.FromResult<IReadOnlyList<BatchView>>([]);

    public Task<BatchView?> Batch(long bid, CancellationToken cancellation) =>
        _worker?.Batch(bid, cancellation) ?? Task.FromResult<BatchView?>(null);

    public Task<IReadOnlyList<AbortView>> Aborts(int limit, string? reason, bool? repeated, CancellationToken cancellation) =>
        _worker?.Aborts(limit, reason, repeated, cancellation) ?? Task.FromResult<IReadOnlyList<AbortView>>([]);
}
