using Snapper.Benchmarks.Clusters;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Runs;
using Snapper.Failures;
using Snapper.Terminal;

namespace Snapper.Benchmarks.Suite;

/// <summary>All benchmarks by name, in the order in which they run.</summary>
public static class BenchmarkSuite
{
    private static readonly Waits s_oneSlow = new(TimeSpan.FromMilliseconds(900), 1);

    /// <summary>The list.</summary>
    public static IReadOnlyList<IBenchmark> All { get; } =
    [
        new NoopBenchmark(),
        new NonTxnDaprBenchmark(),
        new PactSidecarBenchmark(),
        new PactBatchedBenchmark(),
        new LatencyBenchmark(),
        new ActorDoorBenchmark(
            "actor-door-typed", "TypedAccount", "an SDK actor class with the type's methods", throughDaprd: false),
        new ActorDoorBenchmark(
            "actor-door-passing", "PassingAccount", "our door behind an SDK actor for each id", throughDaprd: false),
        new ActorDoorBenchmark(
            "actor-door-shared", "SharedAccount", "our door behind one SDK actor for all ids", throughDaprd: false),
        new ActorDoorBenchmark(
            "actor-door-daprd", "PassingAccount", "our door behind an SDK actor for each id", throughDaprd: true),
        new InProcessCpuBenchmark("pact-cpu", "PACT", Mix.Pacts, new Goal(0.35, 0.15, false)),
        new InProcessCpuBenchmark("act-cpu", "ACT", Mix.Acts, new Goal(0.5, 0.25, false)),
        new InProcessRatioBenchmark(
            "pact-skew", "CPU per PACT at zipf 1.5 ÷ uniform, in process", ("PACT, zipf 1.5", Mix.Pacts, 1.5), ("PACT, uniform", Mix.Pacts, 0), Cpu, new Goal(1.4, 1, false)),
        new InProcessRatioBenchmark(
            "hybrid-uniform", "throughput at 90 % PACT ÷ pure PACT, uniform, in process", ("90 % PACT, uniform", new Mix(0.9), 0), ("PACT, uniform", Mix.Pacts, 0), Throughput, new Goal(0.8, 0.95, true)),
        new InProcessRatioBenchmark(
            "hybrid-zipf", "throughput at 90 % PACT ÷ pure PACT, zipf 1.5, in process", ("90 % PACT, zipf 1.5", new Mix(0.9), 1.5), ("PACT, zipf 1.5", Mix.Pacts, 1.5), Throughput, new Goal(0.5, 0.8, true)),
        new ActAbortsBenchmark(),
        new SlowPactBenchmark(
            "slow-pact",
            "throughput of PACTs beside one PACT at a time that waits 900 ms on an actor of its own ÷ alone", s_oneSlow, isLatency: false, new Goal(0.8, 0.95, true)),
        new SlowPactBenchmark(
            "slow-pact-p99", "99th percentile of PACTs beside one that waits 900 ms on an actor of its own − alone",
            s_oneSlow, isLatency: true, new Goal(20, 5, false)),
        new SlowPactBenchmark(
            "slow-share", "throughput of PACTs of which 1 % wait 50 ms, uniform ÷ none waits",
            new Waits(TimeSpan.FromMilliseconds(50), 0.01), isLatency: false, new Goal(0.8, 0.95, true)),
        new IdleBenchmark(),
        new RecoveryBenchmark(),
        new MemoryBenchmark(),
        new AppendBenchmark(),
        new BuildCpuBenchmark("single-worker-cpu", "PACT", 1, 1),
        new BuildCpuBenchmark("single-worker-cpu-act", "ACT", 0, 1),
        new BuildCpuBenchmark("two-worker-cpu", "PACT", 1, 2),
        new BuildCpuBenchmark("two-worker-cpu-act", "ACT", 0, 2),
        new ObservedBenchmark("telemetry-metrics", Observation.Metrics, new Goal(1.03, 1.01, false)),
        new ObservedBenchmark("telemetry-traces", Observation.Traces, new Goal(1.05, 1.02, false)),
        new ObservedBenchmark("watched", Observation.Watched, new Goal(1.05, 1.02, false)),
        new WatchedStreamBenchmark(),
        new ClusterLocalCpuBenchmark(),
        new ClusterRatioBenchmark(
            "cluster-global-cpu", "CPU per PACT over 2 workers ÷ CPU per local PACT, 2 workers in process, Redis included", 2,
            ("PACT over 2 workers", new ClusterMix(TransactionKind.Pact, 1)), ("local PACT", new ClusterMix(TransactionKind.Pact, 0)), Cpu, new Goal(3, 1.8, false)),
        new ClusterRatioBenchmark(
            "cluster-mixed",
            "throughput of local PACTs while 10 % of all are over 2 workers ÷ while none is, 2 workers in process", 2,
            ("10 % over 2 workers", new ClusterMix(TransactionKind.Pact, 0.1)),
            ("all local", new ClusterMix(TransactionKind.Pact, 0)), static run => run.LocalPerSecond,
            new Goal(0.75, 0.9, true)),
        new ClusterSidecarBenchmark(),
        new TwoWorkersBenchmark(
            "links-sidecars",
            "PACT of 4 of all accounts, one per request through the sidecars: 2 workers ÷ 1 (throughput)",
            new("2 workers", 2), new("1 worker", 1), Throughput, new Goal(0.55, 0.7, true)),
        new TwoWorkersBenchmark(
            "links-owner",
            "PACT of 4 of all accounts, in batches straight to the root's owner: 2 workers ÷ 1 (throughput)",
            new("2 workers", 2) { Direct = true }, new("1 worker", 1) { Direct = true }, Throughput,
            new Goal(0.7, 0.9, true)),
        new TwoWorkersBenchmark(
            "links-cpu",
            "PACT over 2 workers ÷ of one worker, in batches straight to the root's owner (CPU of servers)",
            new("over 2 workers", 2) { Direct = true, Distributed = true }, new("1 worker", 1) { Direct = true },
            TwoWorkersBenchmark.ServerCpu, new Goal(3, 2, false)),
        new TwoWorkersBenchmark(
            "links-act-cpu",
            "ACT over 2 workers ÷ PACT over 2, in batches straight to the root's owner (CPU of servers)",
            new("ACT over 2 workers", 2) { Direct = true, Distributed = true, Act = true },
            new("PACT over 2 workers", 2) { Direct = true, Distributed = true },
            TwoWorkersBenchmark.ServerCpu, new Goal(2, 1.5, false)),
        new TwoWorkersBenchmark(
            "links-lone", "lone PACT over 2 workers, idle, straight to a worker: median − median on 1 worker",
            new("over 2 workers", 2) { Direct = true, Alone = true, Distributed = true },
            new("1 worker", 1) { Direct = true, Alone = true },
            TwoWorkersBenchmark.P50, new Goal(2, 0.7, false), isDifference: true),
        new TwoWorkersBenchmark(
            "links-beside-sidecars",
            "PACT over 2 workers, in batches: by direct links ÷ through the sidecars (throughput)",
            new("direct links", 2) { Direct = true, Distributed = true },
            new("through the sidecars", 2) { Direct = true, Distributed = true, ThroughSidecars = true },
            Throughput, new Goal(1, 3, true)),
        new LinkMessageBenchmark(
            "links-message-alone", "CPU of a message between 2 workers by a direct link, both ends, one at a time",
            1, new Goal(100, 50, false)),
        new LinkMessageBenchmark(
            "links-message", "CPU of a message between 2 workers by a direct link, both ends, 256 under way",
            256, new Goal(10, 4, false)),
        new ClusterMigrationBenchmark(
            "cluster-migration-aborts", "2 to 4 workers under load, half of all actors move: transactions aborted meanwhile", "%", new Goal(0.01, 0, false), static round => round.AbortedPercent),
        new ClusterMigrationBenchmark(
            "cluster-migration-dip", "... throughput while they move, below that before and after", "%", new Goal(25, 10, false), static round => round.DipPercent),
        new ClusterMigrationBenchmark(
            "cluster-migration-pause", "... longest wait of the callers of an actor that moves, 99th percentile of these actors", "ms", new Goal(250, 50, false), static round => round.PauseDuring),
        new ClusterFailoverBenchmark("cluster-failover", master: false),
        new ClusterFailoverBenchmark("cluster-failover-master", master: true),
        new ClusterScalingBenchmark(),
        new OrleansInProcessBenchmark(OrleansLoad.Uniform, new Goal(20, 30, true)),
        new OrleansHttpBenchmark(OrleansLoad.Uniform),
        new OrleansTwoBenchmark(OrleansLoad.Uniform, new Goal(5, 15, true)),
        new OrleansInProcessBenchmark(OrleansLoad.Zipf09, null),
        new OrleansHttpBenchmark(OrleansLoad.Zipf09),
        new OrleansTwoBenchmark(OrleansLoad.Zipf09),
        new OrleansInProcessBenchmark(OrleansLoad.Lists, null),
        new OrleansHttpBenchmark(OrleansLoad.Lists),
        new OrleansTwoBenchmark(
            OrleansLoad.Lists, new Goal(2, 5, true), new Goal(1.2, 3, true), new Goal(1.2, 3, true)),
    ];

    /// <summary>The named ones; all when no name is given.</summary>
    /// <exception cref="UsageException">A name that no benchmark has.</exception>
    public static IReadOnlyList<IBenchmark> Select(IReadOnlyList<string> names)
    {
        foreach (var name in names)
        {
            if (!All.Any(benchmark => benchmark.Name == name))
            {
                throw new UsageException($"There is no benchmark \"{name}\". There are: {string.Join(", ", All.Select(static benchmark => benchmark.Name))}.");
            }
        }

        return names.Count == 0 ? All : All.Where(benchmark => names.Contains(benchmark.Name)).ToArray();
    }

    private static double Cpu(RunResult run) => run.CpuPerTransaction;

    private static double Throughput(RunResult run) => run.PerSecond;
}
