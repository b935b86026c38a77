using Snapper.Protocol.Commitment;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Inspection;
using Snapper.Runtime.Requests;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Recovery;
using Snapper.Storage.States;

namespace Snapper.Runtime.Hosting;

/// <summary>
/// A running worker: recovers from its log, opens its door, and drains at the end. The public face of the runtime.
/// </summary>
public sealed class WorkerHost : IAsyncDisposable
{
    private readonly Worker _worker;
    private readonly List<ThreadPump> _pumps = [];
    private readonly ITransactionLog _log;
    private readonly ITimer _maintenance;
    private ITimer? _watch;
    private readonly Func<CancellationToken, Task<StoreMemory>>? _readStoreMemory;
    private LogProbe? _probe;
    private MemoryProbe? _memoryProbe;
    private DeclaringDoor? _door;
    private int _stopped;
    private int _watching;

    private WorkerHost(
        Worker worker, RequestManager requests, ITransactionLog log, LogOpening opening, RecoverySummary recovered,
        WorkerInspection inspection, Func<CancellationToken, Task<StoreMemory>>? readStoreMemory)
    {
        _readStoreMemory = readStoreMemory;
        _worker = worker;
        RequestManager = requests;
        _log = log;
        Opening = opening;
        Recovered = recovered;
        Inspection = inspection;
        _maintenance = worker.Time.CreateTimer(_ => Maintain(), null, TimeSpan.FromMinutes(1), TimeSpan.FromMinutes(1));
    }

    internal Worker Worker => _worker;

    internal RequestManager RequestManager { get; }

    /// <summary>Where requests enter.</summary>
    public ITransactionService Door => _door ??
        Interlocked.CompareExchange(ref _door, new DeclaringDoor(Peering?.Service ?? RequestManager, _worker), null)
            ?? _door!;

    /// <summary>Its life among others; null: it is alone.</summary>
    public IPeering? Peering { get; private init; }

    /// <summary>Read-only views.</summary>
    public IWorkerInspection Inspection { get; }

    /// <summary>The log as it was opened.</summary>
    public LogOpening Opening { get; }

    public RecoverySummary Recovered { get; }

    /// <summary>The broken invariant, or the lost log, that stopped the worker; null: it runs.</summary>
    public Exception? Failure => _worker.Failure;

    /// <summary>Recovers and starts a worker with a thread per executor.</summary>
    /// <param name="setup">What it consists of.</param>
    /// <param name="cancellation">Gives up starting.</param>
    /// <exception cref="CorruptLogException">The log is damaged; the worker must not run on it.</exception>
    public static async Task<WorkerHost> Start(WorkerSetup setup, CancellationToken cancellation)
    {
        var host = await Prepare(setup, cancellation).ConfigureAwait(false);
        host.StartThreads();
        await host.Join(cancellation).ConfigureAwait(false);
        host.Open();
        return host;
    }

    /// <summary>Refuses new requests, lets those under way end, flushes and checkpoints, and stops.</summary>
    public async Task Stop()
    {
        if (Interlocked.Exchange(ref _stopped, 1) != 0)
        {
            return;
        }

        _worker.Close("The worker is stopping.");
        RuntimeLog.Draining(_worker.Logger, _worker.Options.Name, RequestManager.InFlight);
        await _worker.Drain().ConfigureAwait(false);
        await _maintenance.DisposeAsync().ConfigureAwait(false);
        if (_probe is not null)
        {
            await _probe.DisposeAsync().ConfigureAwait(false);
        }

        await (_memoryProbe?.DisposeAsync() ?? default).ConfigureAwait(false);

        _worker.StopLoading();
        await (Peering?.Stop() ?? default).ConfigureAwait(false);

        await (_watch?.DisposeAsync() ?? default).ConfigureAwait(false);
        foreach (var pump in _pumps)
        {
            pump.Dispose();
        }

        _door?.Dispose();
        RequestManager.Dispose();
        _worker.End();
        if (_worker.Failure is null && _worker.LogOutage is null)
        {
            using var limit = new CancellationTokenSource(_worker.Options.DrainTimeout, _worker.Time);
            try
            {
                await _worker.Log.Drain(limit.Token).ConfigureAwait(false);
                await _worker.Checkpoints.CheckpointNow().WaitAsync(limit.Token).ConfigureAwait(false);
            }
            catch (Exception exception) when (exception is OperationCanceledException or LogLostException)
            {
                // What is not checkpointed is in the log, and recovery checkpoints it: this worker's, or that of the
                // one that has fenced it meanwhile, since its lease is not renewed any more.
            }

            await Leave().ConfigureAwait(false);
        }

        await _worker.Checkpoints.DisposeAsync().ConfigureAwait(false);
        await _worker.Log.DisposeAsync().ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync() => await Stop().ConfigureAwait(false);

    private async Task Leave()
    {
        if (Peering is null)
        {
            return;
        }

        using var limit = new CancellationTokenSource(_worker.Options.DrainTimeout, _worker.Time);
        try
        {
            await Peering.Leave(limit.Token).ConfigureAwait(false);
        }
        catch (Exception exception) when (exception is OperationCanceledException || StorageFaults.IsPassing(exception))
        {
            // It is found out by its lease then.
        }
    }

    /// <summary>Ends it as a crash would, for tests: nothing is flushed, told or given up; whoever waits here is answered "in doubt", as by a connection that breaks.</summary>
    internal async Task Kill()
    {
        if (Interlocked.Exchange(ref _stopped, 1) != 0)
        {
            return;
        }

        Peering?.Cut();
        _worker.Fail(new IOException("The worker was killed."));
        await (_watch?.DisposeAsync() ?? default).ConfigureAwait(false);
        foreach (var pump in _pumps)
        {
            pump.Dispose();
        }

        _worker.StopLoading();
        await _worker.Log.DisposeAsync().ConfigureAwait(false);
        await _maintenance.DisposeAsync().ConfigureAwait(false);
        await (Peering?.Abandon() ?? default).ConfigureAwait(false);
        await (_probe?.DisposeAsync() ?? default).ConfigureAwait(false);
        await (_memoryProbe?.DisposeAsync() ?? default).ConfigureAwait(false);
        await _worker.Checkpoints.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>Recovers without starting threads: a simulator pumps the executors itself.</summary>
    internal static async Task<WorkerHost> Prepare(WorkerSetup setup, CancellationToken cancellation)
    {
        setup.Options.Validate();
        var opening = await setup.Log.Open(cancellation).ConfigureAwait(false);
        var sink = new OutcomeSink();
        var foldBytes = setup.SchedulingPolicy.RecoveryFoldsInParts() ? 0 : LogRecovery.FoldBytes;
        var recovered = await LogRecovery.Run(setup.Log, setup.Store, opening, sink, setup.Time, foldBytes, cancellation, mayReturn: setup.Cluster is not null).ConfigureAwait(false);
        IReadOnlyList<(OutcomeRecord Outcome, long Sequence)> settled = [];
        IPeering? peering = null;
        if (setup.Cluster is not null)
        {
            // From the moment that it is a member, others may own what it had owned, alone or with them, and ask for its ids (I2).
            await LogRecovery.Copy(setup.Store, opening.Epoch, recovered.Outcomes, cancellation).ConfigureAwait(false);

            peering = await setup.Cluster.Begin(setup, opening, recovered, cancellation).ConfigureAwait(false);
            try
            {
                (opening, settled, recovered) =
                    await peering.Settle(opening, recovered, cancellation).ConfigureAwait(false);
            }
            catch
            {
                await peering.Abandon().ConfigureAwait(false); // else it would keep a lease, and never open
                throw;
            }
        }

        Worker? worker = null;
        var checkpoints = new Checkpointer(setup.Log, setup.Store, opening, recovered, setup.Checkpointing, setup.Time)
        {
            OnDamaged = what => RuntimeLog.CheckpointDamaged(setup.Logger, what),
            OnFailing = (since, why) => RuntimeLog.CheckpointsFail(setup.Logger, (long)since.TotalSeconds, why),

            OnVersionsGiven = marker => worker!.PostToCommits(() => worker.Commits.Append(new LateMarker(marker))),

            // A checkpoint that is fenced, or that shows a loss (L7): as certain as a check of the epoch.
            OnStopped = (status, detail) => worker!.Fail(new LogLostFailure(
                status, $"The state store is lost to this worker ({status}): {detail}", takesNoMore: status == AppendStatus.Fenced && setup.Cluster is null)),
        };
        var positions = new RecoveredPositions(
            NumbersAbove(Math.Max(opening.Watermarks.Transaction, recovered.HighestTransaction), opening, setup.NumbersOfALife),
            NumbersAbove(Math.Max(opening.Watermarks.ActCounter, recovered.HighestActCounter), opening, setup.NumbersOfALife),
            setup.NumbersOfALife,
            opening.NextSequence > 1);
        await KeepNumbers(setup.Log, opening, positions, cancellation).ConfigureAwait(false);
        var parts = new WorkerParts(
            setup.Options, setup.Time, setup.Services, TypesOf(setup), setup.Store, new OutcomeReader(setup.Log, setup.Store), setup.Logger,
            setup.Failed, setup.Trace, setup.SchedulingPolicy, setup.Background, setup.Observer,
            peering is null ? null : worker => peering.PeersOf(worker, IdPrefix(setup, opening)));
        worker = new Worker(parts, positions) { Checkpoints = checkpoints, Bytes = setup.Bytes };
        var requests = new RequestManager(worker, IdPrefix(setup, opening));
        worker.RequestManager = requests;
        worker.Log = new LogWriter(setup.Log, opening, worker, setup.Writing, setup.Time);
        worker.Commits.StartAt(opening.NextSequence - 1);
        foreach (var (id, hash, sequence) in sink.Outcomes)
        {
            requests.Recovered(id, hash, sequence);
        }

        foreach (var (outcome, sequence) in settled)
        {
            requests.Recovered(outcome.RequestId, outcome.RequestHash, sequence);
        }

        peering?.Attach(recovered, opening);
        checkpoints.Start();
        RuntimeLog.Opened(setup.Logger, setup.Options.Name, opening.Epoch, recovered.Records, recovered.Bytes, recovered.Elapsed.TotalMilliseconds);
        var inspection = new WorkerInspection(worker, setup, opening);
        return new WorkerHost(worker, requests, setup.Log, opening, recovered, inspection, setup.ReadStoreMemory)
        {
            Peering = peering,
        };
    }

    /// <summary>Becomes a member, and waits until the directory says what is its own, or until it has failed.</summary>
    internal Task Join(CancellationToken cancellation) => Peering?.Join(cancellation) ?? Task.CompletedTask;

    /// <summary>Lets requests in, once somebody pumps the executors.</summary>
    internal void Open()
    {
        _probe = new LogProbe(_worker, _log, Opening);
        _memoryProbe = _readStoreMemory is null ? null : new MemoryProbe(_worker, _readStoreMemory);
        _worker.Open();
    }

    /// <summary>
    /// R1: above anything in the log of earlier epochs. Attempts that left no record had numbers too, so a restart leaves
    /// a gap that they rarely fill: beyond ten million of them in one life, transactions that only read share numbers with the next.
    /// </summary>
    private static long NumbersAbove(long highest, LogOpening opening, long ofALife) =>
        opening.Epoch == 1 ? 0 : ((highest / ofALife) + 1) * ofALife;

    /// <summary>
    /// Makes the numbers of this life durable before one is used: a life whose transactions left no record would otherwise share
    /// them with the next one.
    /// </summary>
    private static async Task KeepNumbers(ITransactionLog log, LogOpening opening, RecoveredPositions positions, CancellationToken cancellation)
    {
        var watermarks = new LogWatermarks(positions.LastTransaction, positions.ActCounter);
        var kept = await log.Trim(opening.Epoch, opening.FirstSequence, watermarks, cancellation).ConfigureAwait(false);
        switch (kept.Status)
        {
            case AppendStatus.Appended or AppendStatus.AlreadyThere:
                return;
            case AppendStatus.Refused:
                throw new IOException($"The log refused to keep the numbers of this start: {kept.Detail}");
            default:
                throw new LogLostException(kept.Status, kept.Detail);
        }
    }

    private static ActorType[] TypesOf(WorkerSetup setup)
    {
        var types = new List<ActorType>();
        foreach (var descriptor in setup.ActorTypes)
        {
            types.Add(new ActorType(descriptor, setup.Json, setup.InputJson));
        }

        return types.ToArray();
    }

    private static string IdPrefix(WorkerSetup setup, LogOpening opening)
    {
        var random = setup.Options.Seed is { } seed ? new Random(seed).NextInt64() : Random.Shared.NextInt64();
        return string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{setup.Options.Name}-{opening.Epoch}-{random:x}-");
    }

    private void StartThreads()
    {
        foreach (var executor in _worker.Executors)
        {
            _pumps.Add(new ThreadPump(executor, _worker.Fail));
        }

        if (Peering is null)
        {
            _worker.Ticked = Watch;
            return;
        }

        // Calls of other workers' transactions run here without a request of this worker's, on which the ticks hang.
        var tick = _worker.Options.TurnTick;
        _watch = _worker.Time.CreateTimer(_ => Watch(), null, tick, tick);
    }

    /// <summary>W5: an executor that is stuck in user code gets a new thread, and the transaction that holds it dies.</summary>
    private void Watch()
    {
        if (Interlocked.Exchange(ref _watching, 1) != 0)
        {
            return; // a timer that fell behind calls twice at once
        }

        try
        {
            WatchPumps();
        }
        finally
        {
            Volatile.Write(ref _watching, 0);
        }
    }

    private void WatchPumps()
    {
        var disowned = 0;
        foreach (var pump in _pumps)
        {
            var frame = pump.Watch(_worker.Time, _worker.Options.TurnBound);
            if (frame is not null)
            {
                _worker.NoteDisowned(frame);
                var text = $"{frame.Where()} blocked its thread for more than {_worker.Options.TurnBound.TotalMilliseconds:0} ms.";
                frame.Attempt.RootExecutor.RequestAbort(
                    frame.Attempt, new AbortInfo(Snapper.Protocol.Messages.AbortReason.Timeout, text, frame.Target));
            }

            disowned += pump.Disowned;
            if (pump.IsLost)
            {
                _worker.Fail(new InvalidOperationException(
                    "A thread is stuck in code of a state or a result; the worker must be restarted."));
            }
        }

        if (disowned > _worker.Options.DisownedLimit)
        {
            _worker.Fail(new InvalidOperationException($"{disowned} threads are stuck in actors' code; the worker must be restarted."));
        }
    }

    /// <summary>What is done once a minute.</summary>
    internal void Maintain()
    {
        _ = _worker.ForgetOldIds();
        foreach (var executor in _worker.Executors)
        {
            executor.PostRun(executor.SweepIdle);
        }

        _worker.PostToCommits(_worker.Commits.Sweep);
    }

    private sealed class OutcomeSink : IRecoverySink
    {
        public List<(string Id, UInt128 Hash, long Sequence)> Outcomes { get; } = [];

        public void Outcome(OutcomeRecord outcome, long sequence) =>
            Outcomes.Add((outcome.RequestId, outcome.RequestHash, sequence));
    }
}
