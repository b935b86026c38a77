using System.Diagnostics;
using System.Text.Json;
using Snapper.Actors.Generated;
using Snapper.Protocol;
using Snapper.Protocol.Batches;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Memory;
using Snapper.Storage.States;
using Xunit;

// Most tests wait: for a bound of time, a lease, another worker.
[assembly: CollectionBehavior(MaxParallelThreads = 4)]

namespace Snapper.Runtime.Tests.Support;

/// <summary>A worker with the test actors, on a memory log that the test can hold, kill and open again.</summary>
internal sealed class Rig : IAsyncDisposable
{
    public static readonly TimeSpan ShortBound = TimeSpan.FromMilliseconds(250);

    private readonly List<WorkerHost> _hosts = [];
    private readonly List<Exception> _failures = [];

    private Rig(WorkerOptions options) => Options = options;

    /// <summary>Clock of the worker.</summary>
    public TimeProvider Time { get; private init; } = TimeProvider.System;

    public WorkerOptions Options { get; }

    public MemoryStorage Storage { get; private init; } = new();

    public HeldLog Log { get; private set; } = null!;

    /// <summary>Of the next worker.</summary>
    public IReadOnlyList<ActorTypeDescriptor> Types { get; set; } = SnapperRuntimeTestsActors.All;

    /// <summary>Of the next worker; null: one of its own.</summary>
    public IStateStore? Store { get; set; }

    public LogLines Logger { get; } = new();

    /// <summary>Of the next worker; null: the product's.</summary>
    public ISchedulingPolicy? Policy { get; set; }

    public WorkerHost Host { get; private set; } = null!;

    /// <summary>Times <c>Failed</c> was called, over all workers of this rig.</summary>
    public IReadOnlyList<Exception> Failures
    {
        get
        {
            lock (_failures)
            {
                return _failures.ToArray();
            }
        }
    }

    public static async Task<Rig> Start(
        WorkerOptions? options = null, MemoryStorage? storage = null, TimeProvider? time = null,
        IReadOnlyList<ActorTypeDescriptor>? types = null)
    {
        var rig = new Rig(options ?? new WorkerOptions { Executors = 2, DrainTimeout = TimeSpan.FromSeconds(1) })
        {
            Storage = storage ?? new MemoryStorage(), Time = time ?? TimeProvider.System,
            Types = types ?? SnapperRuntimeTestsActors.All,
        };
        await rig.Open();
        return rig;
    }

    /// <summary>With a turn bound of <see cref="ShortBound"/>.</summary>
    public static Task<Rig> StartWithShortTurns(int executors = 1, int disownedLimit = 4) => Start(new WorkerOptions
    {
        Executors = executors,
        TurnBound = ShortBound,
        TurnTick = TimeSpan.FromMilliseconds(10),
        DisownedLimit = disownedLimit,
        DrainTimeout = TimeSpan.FromSeconds(1),
    });

    /// <summary>A new worker on the same storage; the old one is not told.</summary>
    public async Task Open()
    {
        Log = new HeldLog(new MemoryTransactionLog(Storage));
        Host = await WorkerHost.Start(
            new WorkerSetup
            {
                Options = Options,
                Time = Time,
                ActorTypes = Types,
                Logger = Logger,
                Log = Log,
                Store = Store ?? new MemoryStateStore(Storage, Time, new StateStoreOptions()),
                Writing = new LogWriterOptions { RetryDelayMin = TimeSpan.FromMilliseconds(5), RetryDelayMax = TimeSpan.FromMilliseconds(20) },
                Checkpointing = new CheckpointerOptions { Interval = TimeSpan.FromHours(1) },
                SchedulingPolicy = new SchedulingPolicy(Policy),
                Failed = exception =>
                {
                    lock (_failures)
                    {
                        _failures.Add(exception);
                    }
                },
            },
            CancellationToken.None);
        _hosts.Add(Host);
    }

    public async Task Restart()
    {
        await Host.DisposeAsync();
        await Open();
    }

    public Task<TransactionEnvelope> Act(string box, params Step[] steps) => Submit(box, steps);

    /// <summary>A PACT on boxes; each may be called as often as it is named.</summary>
    public Task<TransactionEnvelope> Pact(string box, string[] access, params Step[] steps) => Submit(box, steps, access);

    public Task<TransactionEnvelope> Marked(string box, string[] access, params Step[] steps) => Submit(box, steps, access, "RunMarked");

    public Task<TransactionEnvelope> Submit(
        string box, Step[] steps, string[]? access = null, string method = "Run", string? id = null, int timeoutMs = 30_000,
        AccessMode accessMode = AccessMode.Strict, CancellationToken cancellation = default, string? caller = null) =>
        Submit(
            "Box", box, method, new Script(steps), access?.GroupBy(a => a).Select(a => (a.Key, a.Count())).ToArray(),
            id, timeoutMs, accessMode, cancellation, caller);

    public Task<TransactionEnvelope> Submit(
        string type, string id, string method, object? input, (string Id, int Calls)[]? access, string? key = null, int timeoutMs = 30_000,
        AccessMode accessMode = AccessMode.Strict, CancellationToken cancellation = default, string? caller = null) =>
        Host.Door.Submit(
            new TransactionRequest
            {
                Actor = new ActorKey(type, id),
                Method = method,
                Input = input switch
                {
                    null => default,
                    byte[] raw => raw,
                    _ => JsonSerializer.SerializeToUtf8Bytes(input),
                },
                Mode = access is null ? TransactionMode.Act : TransactionMode.Pact,
                Access = access?.Select(a => new DeclaredAccess(new ActorKey(type, a.Id), a.Calls)).ToArray(),
                AccessMode = accessMode,
                Id = key,
                Timeout = TimeSpan.FromMilliseconds(timeoutMs),
                Caller = "tester",
                CountedFor = caller,
                TraceParent = "00-trace-01",
            },
            cancellation);

    /// <summary>The committed value of a box, read by an ACT of its own.</summary>
    public async Task<int> Value(string box) => Seen(await Within(Act(box, Step.Get()), $"reading {box}"))[0];

    public static int[] Seen(TransactionEnvelope envelope)
    {
        Assert.True(envelope.Outcome == Outcome.Committed, TestWorker.Describe(envelope));
        return JsonSerializer.Deserialize<int[]>(envelope.Result.Span)!;
    }

    /// <summary>The result of a method that returns a number.</summary>
    public static int Seen1(TransactionEnvelope envelope)
    {
        Assert.True(envelope.Outcome == Outcome.Committed, TestWorker.Describe(envelope));
        return JsonSerializer.Deserialize<int>(envelope.Result.Span);
    }

    public static void Saw(TransactionEnvelope envelope, params int[] expected) => Assert.Equal<int>(expected, Seen(envelope));

    public static void Aborted(TransactionEnvelope envelope, AbortReason reason)
    {
        Assert.True(envelope.Outcome == Outcome.Aborted && envelope.Abort!.Reason == reason, $"expected an abort for {reason}: {TestWorker.Describe(envelope)}");
    }

    public static void Rejected(TransactionEnvelope envelope, RejectionKind kind)
    {
        Assert.True(envelope.Outcome == Outcome.Rejected && envelope.Rejection!.Kind == kind, $"expected to be rejected as {kind}: {TestWorker.Describe(envelope)}");
    }

    public static async Task<T> Within<T>(Task<T> task, string what, double seconds = 10)
    {
        try
        {
            return await task.WaitAsync(TimeSpan.FromSeconds(seconds));
        }
        catch (TimeoutException)
        {
            throw new TimeoutException($"waited {seconds} s for {what}");
        }
    }

    public static async Task Until(Func<bool> condition, string what, double seconds = 10)
    {
        var started = Stopwatch.GetTimestamp();
        while (!condition())
        {
            if (Stopwatch.GetElapsedTime(started).TotalSeconds > seconds)
            {
                throw new TimeoutException($"waited {seconds} s until {what}");
            }

            await Task.Delay(2);
        }
    }

    /// <summary>Runs an action on the executor of a box and waits for it.</summary>
    public async Task OnExecutorOf(string type, string id, Action<Execution.Executor> action)
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var executor = Host.Worker.ExecutorOf(new ActorKey(type, id));
        executor.PostRun(() =>
        {
            action(executor);
            done.SetResult();
        });
        await done.Task.WaitAsync(TimeSpan.FromSeconds(10));
    }

    public async ValueTask DisposeAsync()
    {
        Log.Refuses = Log.Fails = false;
        Log.Release();
        foreach (var host in _hosts)
        {
            await host.DisposeAsync();
        }
    }
}

/// <summary>Tests of bounds in time run alone: a busy machine must not look like a slow method.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class Timing
{
    public const string Name = "timing";
}
