namespace Snapper.Runtime.Execution;

/// <summary>Settings of a worker. <see cref="Validate"/> names the first one that is out of range.</summary>
public sealed class WorkerOptions
{
    /// <summary>Name of the worker, e.g. <c>w1</c>: 1..64 letters, digits, <c>-</c> or <c>_</c>.</summary>
    public string Name { get; init; } = "w1";

    /// <summary>Number of the worker in ACT numbers, 0..1023.</summary>
    public int Number { get; init; } = 1;

    /// <summary>Single-threaded executors, 1..64. Default: 1 per 4 cores (docs/decisions/executors.md: the sidecar, Redis and HTTP need the rest).</summary>
    public int Executors { get; init; } = Math.Max(1, Environment.ProcessorCount / 4);

    /// <summary>Local coordinators of the ring, 1..64. Default: 1.</summary>
    public int Coordinators { get; init; } = 1;

    /// <summary>For how long a question of a watcher keeps watching up.</summary>
    public TimeSpan WatchLease { get; init; } = TimeSpan.FromSeconds(Inspection.IWorkerWatch.LeaseSeconds);

    /// <summary>Most transactions of a batch, 1..10,000. Default: 512.</summary>
    public int TransactionsPerBatch { get; init; } = 512;

    /// <summary>Batches formed and not durable at which forming pauses, 1..16. Default: 2.</summary>
    public int OpenBatches { get; init; } = 2;

    /// <summary>Longest time that user code may keep others waiting (W4), 10 ms..5 min. Default: 1 s.</summary>
    public TimeSpan TurnBound { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>How often deadlines and turns are looked at while requests are under way, 5 ms..1 s. Default: 50 ms.</summary>
    public TimeSpan TurnTick { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>
    /// How long others wait behind an ACT of several workers before it must go, and how often that is looked at, 5 ms..5 s (H6): rings over several workers that none of them sees end
    /// by it. It doubles with each attempt. Default: 50 ms.
    /// </summary>
    public TimeSpan LongWait { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>A root that failed unmarked holds its turns from then on in this process (A1). Default: yes.</summary>
    public bool MarkMethodsThatFail { get; init; } = true;

    /// <summary>Executors whose stuck threads were replaced at which the worker asks to be restarted (W5). Default: 4.</summary>
    public int DisownedLimit { get; init; } = 4;

    /// <summary>Most calls deep within a transaction (W5), 1..1,000. Default: 64.</summary>
    public int MaxCallDepth { get; init; } = 64;

    /// <summary>Largest state of an actor as JSON, in bytes. Default: 1 MiB.</summary>
    public int MaxStateBytes { get; init; } = 1 << 20;

    /// <summary>Largest result as JSON, in bytes. Default: 1 MiB.</summary>
    public int MaxResultBytes { get; init; } = 1 << 20;

    /// <summary>
    /// Largest result that is kept with the outcome of a request's id, in bytes; of a larger one it is kept that there
    /// was one. Its first caller has it all the same. Default: 16 KiB.
    /// </summary>
    public int MaxKeptResultBytes { get; init; } = 16 << 10;

    /// <summary>
    /// Most bytes that one transaction may leave: the changed states as JSON, the result, the names; also what the record of a
    /// batch may have, whose last transactions run again in a later one when it is more. From the largest state and result
    /// together to 128 MiB. Default: 64 MiB.
    /// </summary>
    public long MaxTransactionBytes { get; init; } = 64L << 20;

    /// <summary>Most requests under way; more are answered 429. Default: 20,000.</summary>
    public int MaxInFlight { get; init; } = 20_000;

    /// <summary>
    /// Most bytes that requests and answers hold at a time, from 32 MiB; more are answered 503. Default: 0, a quarter
    /// of what the heap may grow to, and 64 MiB at least.
    /// </summary>
    public long MaxHeldBytes { get; init; }

    /// <summary>Bytes that may wait for the log; at more, requests are answered 429. Default: 64 MiB.</summary>
    public long MaxQueuedLogBytes { get; init; } = 64L << 20;

    /// <summary>How long a caller's idempotency key is remembered, 1 min..24 h. Default: 10 min.</summary>
    public TimeSpan IdempotencyWindow { get; init; } = TimeSpan.FromMinutes(10);

    /// <summary>
    /// Most ids of requests that are kept, of all callers; new ones beyond are answered 503. 1..500,000,000. Default:
    /// as many as fit into a quarter of the memory that the process may use, at 64 bytes each; 100,000 at least.
    /// </summary>
    public long MaxRequestIds { get; init; } =
        Math.Clamp(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 4 / 64, 100_000, 500_000_000);

    /// <summary>Part of them that one caller who is known apart may have, above 0 to 1. Default: a half.</summary>
    public double RequestIdShare { get; init; } = 0.5;

    /// <summary>
    /// Part of an executor's time that ACTs of one caller who is known apart may take while others are about, 0.01..1.
    /// Default: null, what makes about a quarter of all cores: a start causes three times as much work elsewhere (HTTP,
    /// ids, the log, the collector) as it does on its executor.
    /// </summary>
    public double? CallerTimeShare { get; init; }

    /// <summary>
    /// Part of the store's memory from which on nothing new is let in that may write, where the store has a limit;
    /// 0.5..1. Default: 0.85.
    /// </summary>
    public double StoreFullAt { get; init; } = 0.85;

    /// <summary>Longest pause before an ACT that met a conflict is tried again; jittered. Default: 4 ms at first, doubling to 64 ms.</summary>
    public TimeSpan FirstBackOff { get; init; } = TimeSpan.FromMilliseconds(4);

    /// <summary>A transaction calls only actors of its root's tenant (<see cref="Door.TenantNames"/>); a call of another's ends it. The same for all workers. Default: no.</summary>
    public bool TenantsApart { get; init; }

    /// <summary>An actor that was idle so long leaves memory, 1 s..30 days. Default: 1 h.</summary>
    public TimeSpan IdleActorTimeout { get; init; } = TimeSpan.FromHours(1);

    /// <summary>
    /// Bytes of actors in memory, estimated, above which those leave that were not used for longest, once their changes
    /// are checkpointed; 0 or more. Default: a quarter of the memory that the process may have.
    /// </summary>
    public long MaxActorBytes { get; init; } = GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 4;

    /// <summary>
    /// Actors that were declared and are not called yet are loaded ahead while an executor loads fewer than so many;
    /// others are loaded when they are called. So who declares many holds up no loads of others. 0..10,000. Default:
    /// 64.
    /// </summary>
    public int LoadsAhead { get; init; } = 64;

    /// <summary>Longest drain at a stop. Default: 10 s.</summary>
    public TimeSpan DrainTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Seed of jitter and of <c>Context.NewGuid</c>; null: from the system. A simulator sets it.</summary>
    public int? Seed { get; init; }

    /// <summary>Answers go on inside the executor instead of on the pool: for a simulator, which has one thread.</summary>
    internal bool AnswersInline { get; init; }

    /// <summary>Throws when a setting is out of range, naming it.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A setting is out of range.</exception>
    public void Validate()
    {
        Check(Executors, 1, 64, nameof(Executors));
        Check(Coordinators, 1, 64, nameof(Coordinators));
        Check(Number, 0, 1023, nameof(Number));
        Check(TransactionsPerBatch, 1, 10_000, nameof(TransactionsPerBatch));
        Check(OpenBatches, 1, 16, nameof(OpenBatches));
        Check(TurnBound.TotalMilliseconds, 10, 300_000, nameof(TurnBound) + " (ms)");
        Check(TurnTick.TotalMilliseconds, 5, 1_000, nameof(TurnTick) + " (ms)");
        Check(LongWait.TotalMilliseconds, 5, 5_000, nameof(LongWait) + " (ms)");
        Check(MaxCallDepth, 1, 1_000, nameof(MaxCallDepth));
        Check(MaxStateBytes, 64, 64 << 20, nameof(MaxStateBytes));
        Check(MaxResultBytes, 64, 64 << 20, nameof(MaxResultBytes));
        Check(MaxKeptResultBytes, 0, 64 << 20, nameof(MaxKeptResultBytes));
        Check(MaxTransactionBytes, MaxStateBytes + (long)MaxResultBytes, 128L << 20, nameof(MaxTransactionBytes));
        Check(MaxInFlight, 1, 1_000_000, nameof(MaxInFlight));
        Check(MaxHeldBytes, MaxHeldBytes == 0 ? 0 : 32 << 20, 1L << 40, nameof(MaxHeldBytes));
        Check(IdempotencyWindow.TotalMinutes, 1, 1440, nameof(IdempotencyWindow) + " (min)");
        Check(LoadsAhead, 0, 10_000, nameof(LoadsAhead));
        Check(MaxActorBytes, 0, long.MaxValue, nameof(MaxActorBytes));
        Check(MaxRequestIds, 1, 500_000_000, nameof(MaxRequestIds));
        Check(RequestIdShare, double.Epsilon, 1, nameof(RequestIdShare));
        Check(CallerTimeShare ?? 1, 0.01, 1, nameof(CallerTimeShare));
        Check(StoreFullAt, 0.5, 1, nameof(StoreFullAt));
        Check(IdleActorTimeout.TotalSeconds, 1, 2_592_000, nameof(IdleActorTimeout) + " (s)");
        if (Name.Length is 0 or > 64)
        {
            throw new ArgumentOutOfRangeException(nameof(Name), Name, "The worker's name must have 1 to 64 characters.");
        }
    }

    private static void Check(double value, double least, double most, string name)
    {
        if (!(value >= least && value <= most))
        {
            throw new ArgumentOutOfRangeException(name, value, $"{name} must be {least} to {most}.");
        }
    }
}
