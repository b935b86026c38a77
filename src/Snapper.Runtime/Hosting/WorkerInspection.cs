using System.Text.Json;
using System.Text.Json.Schema;
using Snapper.Actors;
using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Transactions;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Inspection;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Runtime.Hosting;

/// <summary>The views of a running worker.</summary>
public sealed class WorkerInspection : IWorkerInspection
{
    private static readonly TimeSpan LongestDrain = TimeSpan.FromSeconds(10);

    private readonly Worker _worker;
    private readonly WorkerSetup _setup;
    private readonly LogOpening _opening;
    private readonly long _startedAt;
    private readonly Lazy<IReadOnlyList<ActorTypeView>> _types;

    public WorkerInspection(Worker worker, WorkerSetup setup, LogOpening opening)
    {
        _worker = worker;
        _setup = setup;
        _opening = opening;
        _startedAt = worker.Time.GetTimestamp();
        Watch = new WorkerWatch(worker);
        _types = new Lazy<IReadOnlyList<ActorTypeView>>(ReadTypes);
    }

    public IWorkerWatch Watch { get; }

    public WorkerStatus Status()
    {
        var facts = _setup.Surroundings();
        var counters = _worker.Counters;
        var aborts = new Dictionary<string, long>();
        var repeats = new Dictionary<string, long>();
        foreach (var reason in Enum.GetValues<AbortReason>())
        {
            if (reason is not (AbortReason.None or AbortReason.Undone))
            {
                aborts[AbortReasons.Name(reason)] = counters.Aborts(reason);
            }

            if (Retry.IsRepeated(reason))
            {
                repeats[AbortReasons.Name(reason)] = counters.Repeats(reason);
            }
        }

        return new WorkerStatus(
            _worker.Options.Name, Environment.ProcessId, NumberOf(facts.SidecarPid), NumberOf(facts.RedisPid), _opening.Epoch, facts.Dapr, _setup.Log.Kind, facts.Durability,
            (long)_worker.Time.GetElapsedTime(_startedAt).TotalMilliseconds, facts.Version, counters.CommittedPact + counters.CommittedAct, counters.Aborted,
            _worker.RequestManager.InFlight, counters.CommittedPact, counters.CommittedAct)
        {
            AbortsByReason = aborts,
            Batches = _worker.Batches.Count,
            HighestCommittedBatch = _worker.Commits.HighestFinal.Value,
            LogPosition = _worker.Log.LastSequence,
            DurablePosition = _worker.Log.DurableSequence,
            Undos = _worker.Commits.Undos,
            ResidentActors = SumOverExecutors(static executor => executor.Residents),
            OpenBatches = _worker.Commits.UnfinishedBatches,
            RepeatsByReason = repeats,
            Redis = facts.Redis,
            StoreFull = _worker.StoreFull,
            CpuMs = Math.Round(Environment.CpuUsage.TotalTime.TotalMilliseconds),
            ResidentBytes = Environment.WorkingSet,
            Latency = new LatencyByMode(_worker.PactLatency.View(), _worker.ActLatency.View()),
            Cluster = _worker.Peers.Status(),
        };
    }

    public WorkerTotals Totals() => new(
        _opening.Losses, _worker.Checkpoints.LastError is not null, _worker.Checkpoints.Failures,
        _worker.Counters.PactDurations.View(), _worker.Counters.ActDurations.View())
    {
        ActorBytes = SumOverExecutors(static executor => executor.BytesOfResidents),
        ActorsLeftForRoom = SumOverExecutors(static executor => executor.Evictions),
        RequestIds = _worker.RequestManager.KeptIds,
        RequestIdsMost = _worker.Options.MaxRequestIds,
    };

    // 0 stands for no process.
    private static int? NumberOf(int pid) => pid == 0 ? null : pid;

    public IReadOnlyList<HealthCheck> Checks()
    {
        var unavailable = _worker.Unavailability;
        return
        [
            new HealthCheck("worker", _worker.Failure is null, _worker.Failure?.Message ?? "running"),
            new HealthCheck("log", _worker.LogOutage is null, _worker.LogOutage ?? _setup.Log.Kind),
            new HealthCheck("requests", unavailable is null, unavailable ?? "let in"),
            new HealthCheck("memory", _worker.StoreFull is null, _worker.StoreFull ?? "room"),
            // Healthy all the same: it serves all other actors, and a restart of the same program would not help.
            new HealthCheck("states", true, _worker.NewerStates ?? "readable"),
            new HealthCheck("checkpoints", _worker.Checkpoints.IsHealthy, _worker.Checkpoints.LastError ?? "checkpointing"),
        ];
    }

    public IReadOnlyList<ActorTypeView> ActorTypes() => _types.Value;

    public async Task<ActorView?> Actor(ActorKey actor, CancellationToken cancellation)
    {
        var type = _worker.FindType(actor.Type);
        if (type is null)
        {
            return null;
        }

        var stored = await Stored(actor, cancellation).ConfigureAwait(false);
        JsonElement? state = null;
        foreach (var field in stored?.Fields ?? [])
        {
            if (field.Name == StateField.WholeState && field.Value is { } bytes)
            {
                state = ParseState(actor, bytes);
            }
        }

        var (resident, lastBatch) = await Residency(actor, cancellation).ConfigureAwait(false);
        return new ActorView(actor.Type, actor.Id, state, stored?.Version ?? 0, lastBatch, _worker.Options.Name, resident);
    }

    private static JsonElement ParseState(ActorKey actor, ReadOnlyMemory<byte> bytes)
    {
        try
        {
            using var document = JsonDocument.Parse(bytes);
            return document.RootElement.ValueKind != JsonValueKind.Null ? document.RootElement.Clone()
                : throw new DamagedStateException($"The stored state of {actor} is damaged: it is null; a state that is deleted has no field.");
        }
        catch (JsonException wrong)
        {
            throw new DamagedStateException($"The stored state of {actor} is damaged: it is not JSON: {wrong.Message}", wrong);
        }
    }

    /// <summary>L5: committed state is shown only when it is durable; what is not checkpointed yet is checkpointed first.</summary>
    private async Task<StoredState?> Stored(ActorKey actor, CancellationToken cancellation)
    {
        if (_worker.LogOutage is { } outage)
        {
            throw new StorageUnavailableException(outage);
        }

        try
        {
            // The log may become unreachable meanwhile; then it takes what is queued only when it is back.
            var sequence = _worker.Log.LastSequence;
            await _worker.Log.Drain(cancellation).WaitAsync(LongestDrain, cancellation).ConfigureAwait(false);
            while (sequence >= _opening.NextSequence && _worker.Commits.CheckpointedThrough < sequence && _worker.Failure is null)
            {
                await Settle(cancellation).ConfigureAwait(false); // durable, and the checkpointer is about to hear of it
            }

            if (!_worker.Checkpoints.IsCheckpointed(actor))
            {
                await _worker.Checkpoints.CheckpointNow().WaitAsync(LongestDrain, cancellation).ConfigureAwait(false);
                if (_worker.Checkpoints.LastError is { } error && !_worker.Checkpoints.IsCheckpointed(actor))
                {
                    throw new StorageUnavailableException($"The newest state of {actor} cannot be checkpointed now: {error}");
                }
            }

            var stored = await _worker.Store.Load(actor, cancellation).ConfigureAwait(false);
            await CheckEpoch(cancellation).ConfigureAwait(false);
            return stored;
        }
        catch (CorruptLogException damage)
        {
            throw new DamagedStateException($"The stored state of {actor} is damaged: {damage.Message}", damage);
        }
        catch (Exception exception) when (StorageFaults.IsPassing(exception))
        {
            throw new StorageUnavailableException("The actor's state cannot be read now: " + exception.Message, exception);
        }
    }

    /// <summary>L5: behind what was read. A worker that stood still and was replaced meanwhile must not show what has long changed elsewhere, if only for moments.</summary>
    private async Task CheckEpoch(CancellationToken cancellation)
    {
        var answer = await _setup.Log.CheckEpoch(_opening.Epoch, cancellation).ConfigureAwait(false);
        switch (answer.Status)
        {
            case AppendStatus.Appended or AppendStatus.AlreadyThere:
                return;
            case AppendStatus.Refused:
                throw new StorageUnavailableException("The log does not answer as it should: " + answer.Detail);
            default:
                _worker.NoteLost(answer);
                throw new StorageUnavailableException("This worker's log has another owner.");
        }
    }

    public async Task<ActorListView?> Actors(string type, string? after, string prefix, int limit, CancellationToken cancellation)
    {
        if (_worker.FindType(type) is null)
        {
            return null;
        }

        if (_worker.Store is not IActorListing listing)
        {
            throw new StorageUnavailableException("This kind of state store cannot list its actors.");
        }

        // Of several workers each lists what it owns: together they have all, each once.
        Func<ActorKey, bool>? ours = _worker.Peers.IsAlone ? null : _worker.Peers.IsListedHere;
        IReadOnlyList<StoredActor> found;
        try
        {
            found = await listing.List(new ActorListQuery(type, after, prefix, limit, ours), cancellation).ConfigureAwait(false);
            await CheckEpoch(cancellation).ConfigureAwait(false);
        }
        catch (Exception exception) when (exception is ListingBusyException || StorageFaults.IsPassing(exception))
        {
            throw new StorageUnavailableException("The actors cannot be listed now: " + exception.Message, exception);
        }

        // Deleted ones are passed over, so that a page may have fewer than were asked for, and a next one all the same.
        var actors = await Task.WhenAll(found.Where(static actor => actor.HasState).Select(async actor =>
            new ListedActor(actor.Id, actor.Version, (await Residency(new ActorKey(type, actor.Id), cancellation).ConfigureAwait(false)).Resident))).ConfigureAwait(false);
        return new ActorListView(type, _worker.Options.Name)
        {
            Actors = actors,
            Next = found.Count == limit ? found[^1].Id : null,
        };
    }

    public Task<ScheduleView?> Schedule(ActorKey actor, CancellationToken cancellation)
    {
        if (_worker.FindType(actor.Type) is null)
        {
            return Task.FromResult<ScheduleView?>(null);
        }

        var view = new TaskCompletionSource<ScheduleView?>(TaskCreationOptions.RunContinuationsAsynchronously);
        var executor = _worker.ExecutorOf(actor);
        executor.PostRun(() =>
        {
            var machine = executor.FindCell(actor)?.Schedule;
            machine?.ForgetFinal(_worker.Final);
            view.SetResult(new ScheduleView(actor.Type, actor.Id) { Entries = machine is null ? [] : Entries(machine) });
        });
        return view.Task.WaitAsync(cancellation);
    }

    public Task<IReadOnlyList<BatchView>> Batches(int limit, CancellationToken cancellation) => Task.FromResult(_worker.Batches.Recent(limit));

    public Task<BatchView?> Batch(long bid, CancellationToken cancellation) => Task.FromResult(_worker.Batches.Find(bid));

    public Task<IReadOnlyList<AbortView>> Aborts(int limit, string? reason, bool? repeated, CancellationToken cancellation) =>
        Task.FromResult(_worker.AbortTraces.Recent(limit, reason, repeated));

    private static List<ScheduleEntryView> Entries(Snapper.Protocol.Scheduling.ActorMachine machine)
    {
        var entries = new List<ScheduleEntryView>();
        foreach (var entry in machine.Inspect())
        {
            var act = entry.Tid.IsAct;
            entries.Add(new ScheduleEntryView(
                act ? "act" : "pact", entry.Tid.Value, entry.Bid.Value, entry.State, entry.Calls, entry.Declared, entry.Ahead.Value, entry.Behind.Value));
        }

        return entries;
    }

    /// <summary>Waits until the commit executor has handled what was there.</summary>
    private Task Settle(CancellationToken cancellation)
    {
        var settled = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _worker.Executors[0].PostRun(settled.SetResult);
        return settled.Task.WaitAsync(cancellation);
    }

    private Task<(bool Resident, long LastBatch)> Residency(ActorKey actor, CancellationToken cancellation)
    {
        var answer = new TaskCompletionSource<(bool, long)>(TaskCreationOptions.RunContinuationsAsynchronously);
        var executor = _worker.ExecutorOf(actor);
        executor.PostRun(() =>
        {
            var cell = executor.FindCell(actor);
            answer.SetResult((cell is { IsLoaded: true }, cell?.Schedule?.LastBatch.Value ?? 0));
        });
        return answer.Task.WaitAsync(cancellation);
    }

    private long SumOverExecutors(Func<Executor, long> of)
    {
        var sum = 0L;
        foreach (var executor in _worker.Executors)
        {
            sum += of(executor);
        }

        return sum;
    }

    private IReadOnlyList<ActorTypeView> ReadTypes()
    {
        var views = new List<ActorTypeView>();
        foreach (var type in _worker.Types)
        {
            var methods = new List<ActorMethodView>();
            foreach (var method in type.Methods)
            {
                methods.Add(new ActorMethodView(
                    method.Name, method.Method.MayAbort, method.Method.ReadOnly, SchemaOf(method.Method.InputType, _setup.InputJson), SchemaOf(method.Method.ResultType, _setup.Json)));
            }

            views.Add(new ActorTypeView(type.Name) { Methods = methods });
        }

        return views;
    }

    private static JsonElement? SchemaOf(Type type, JsonSerializerOptions json) =>
        type == typeof(Nothing) ? null : JsonSerializer.SerializeToElement(json.GetJsonSchemaAsNode(type));
}
