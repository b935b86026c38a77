using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Simulation.Core;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log.Writing;

namespace Snapper.Simulation.Workers;

/// <summary>
/// One life of a worker process: the real worker, from recovery to its end. Its executors are pumped by the world, one item at a time.
/// </summary>
internal abstract class SimulatedProcess : IRequestTarget
{
    private readonly IClientWorld _world;
    private readonly CancellationTokenSource _starting = new();
    private long[] _stalledUntil = [];
    private int[] _ready = [];

    protected SimulatedProcess(IClientWorld world, int life, WallClock? wall = null)
    {
        _world = world;
        Life = life;
        Time = new VirtualTime(world, Scope, wall);
        Checkpointing = new CheckpointerOptions { Interval = TimeSpan.FromMilliseconds(world.Scenario.CheckpointMs), ChunkBytes = 4096, SchedulingPolicy = new(world.Rare) };
        Writing = new LogWriterOptions { GroupBytesMax = 4096, SchedulingPolicy = new(world.Rare) };
    }

    /// <summary>Counts the lives of all workers, from 1.</summary>
    public int Life { get; }

    public ProcessScope Scope { get; } = new();

    /// <summary>The worker, once it has recovered.</summary>
    public WorkerHost? Host { get; protected set; }

    public abstract bool IsOpen { get; }

    /// <inheritdoc/>
    public virtual bool IsAlone => true;

    public abstract string Standing { get; }

    public ITransactionService Door => Host!.Door;

    public Executor[] Executors { get; private set; } = [];

    /// <summary>It is paused, or an executor of it does nothing: those who wait for it wait longer.</summary>
    public bool IsStill => Scope.IsPaused || Array.Exists(_stalledUntil, until => until > _world.Now);

    /// <summary>Executors that could run when they were counted last.</summary>
    public int Ready { get; private set; }

    protected VirtualTime Time { get; }

    protected CheckpointerOptions Checkpointing { get; }

    protected LogWriterOptions Writing { get; }

    protected CancellationToken Starting => _starting.Token;

    public void Find(string id, Action<TransactionEnvelope?> found) => Door.Find(id, CancellationToken.None).Hear(found);

    /// <summary>Begins recovery.</summary>
    public void Start() => WorkerHost.Prepare(Setup(), Starting).Then(OnPrepared);

    /// <summary>Ends it as <c>kill -9</c> would.</summary>
    public virtual void Crash()
    {
        Scope.Kill();
        Executors = [];
    }

    /// <summary>Asks it to stop; completes when it has drained.</summary>
    public Task Stop() => Host!.Stop();

    public void Stall(int executor, long until) => _stalledUntil[executor % _stalledUntil.Length] = until;

    /// <summary>All of its executors do nothing until then; 0: they go on.</summary>
    public void StallAll(long until) => Array.Fill(_stalledUntil, until);

    /// <summary>Counts the executors that could run now.</summary>
    public int CountReady(long now)
    {
        var ready = 0;
        if (!Scope.IsPaused && !Scope.IsDead)
        {
            var executors = Executors;
            for (var i = 0; i < executors.Length; i++)
            {
                if (executors[i].HasWork && now >= _stalledUntil[i])
                {
                    _ready[ready++] = i;
                }
            }
        }

        // A worker that is asked to stop ends the threads of its executors before it gives up who still waits: nothing begins behind such an answer.
        return Ready = ready > 0 && Host is { Worker: { IsOver: true, Failure: null } } ? 0 : ready;
    }

    /// <summary>Handles one item of one of the executors that were counted, from 0.</summary>
    public void RunReady(int choice)
    {
        var executor = Executors[_ready[choice]];
        executor.Enter();
        try
        {
            executor.RunOne();
        }
        catch (Exception exception)
        {
            // As the thread that pumps a real executor does it: a broken invariant stops the worker. A real one ends.
            SynchronizationContext.SetSynchronizationContext(null);
            Host?.Worker.Fail(exception);
        }
        finally
        {
            Executor.Leave();
        }
    }

    /// <summary>What the worker is made of.</summary>
    protected abstract WorkerSetup Setup();

    /// <summary>It has recovered; nothing runs yet.</summary>
    protected abstract void Recovered(WorkerHost host);

    /// <summary>It could not recover.</summary>
    protected abstract void RecoveryFailed(Exception exception);

    /// <summary>Does what a real worker does once a minute, from now on.</summary>
    protected void SweepLater()
    {
        if (_world.Scenario.SweepMs > 0)
        {
            _world.After(_world.Scenario.SweepMs * TimeSpan.TicksPerMillisecond, Scope, () =>
            {
                Host!.Maintain();
                SweepLater();
            });
        }
    }

    private void OnPrepared(Task<WorkerHost> prepared)
    {
        if (Scope.IsDead)
        {
            return;
        }

        if (!prepared.IsCompletedSuccessfully)
        {
            RecoveryFailed(prepared.Exception!.GetBaseException());
            return;
        }

        Host = prepared.Result;
        Executors = [.. Host.Worker.Executors];
        _stalledUntil = new long[Executors.Length];
        _ready = new int[Executors.Length];
        Recovered(Host);
    }
}
