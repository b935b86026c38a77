using System.Diagnostics;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Systems;
using Snapper.Protocol.Identity;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Redis;

namespace Snapper.Benchmarks.Suite;

/// <summary>
/// What a group of records costs the process that writes it: over the log's own connection, and over the client
/// library's, by the same script. The bar is missed when the own connection is not worth its code any more
/// (docs/decisions/append-connection.md).
/// </summary>
public sealed class AppendBenchmark : IBenchmark
{
    private const int StateBytes = 2000;

    /// <inheritdoc />
    public string Name => "append-cpu";

    /// <inheritdoc />
    public string What => "CPU of a log writer per group, own connection ÷ client library's, the server not included";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        var folder = Directory.CreateTempSubdirectory("snapper-bench-").FullName;
        try
        {
            await using var server = await RedisServer.StartAsync(folder);
            await using var connections = await server.ConnectAsync();
            var first = new RedisTransactionLog(connections, "w1");
            var second = new LibraryLog(new RedisTransactionLog(connections, "w2"));
            await using var own = await Turns.StartAsync(context, "own connection", first);
            await using var library = await Turns.StartAsync(context, "client library", second);
            await own.RunAsync(isWarmUp: true);
            await library.RunAsync(isWarmUp: true);
            foreach (var isLibrary in AbbaOrder.Of(Math.Max(BuildCpuBenchmark.PairsMin, context.Options.Repeat)))
            {
                await (isLibrary ? library : own).RunAsync();
            }

            var goal = new Goal(0.9, 0.5, false) { WholeInterval = true };
            var result = BenchmarkResult.PairedRatio(
                Name, What, goal, own.Runs, library.Runs, static run => run.CpuPerTransaction, context.Plan.Seed);
            return result with
            {
                Notes = new Dictionary<string, string>
                {
                    ["redis"] = RedisServer.Durability,
                    ["group"] = $"one record with a state of {StateBytes} bytes, one in flight",
                },
            };
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    /// <summary>A writer that is given the next record when the last one is durable.</summary>
    private sealed class Turns(BenchmarkContext context, string side, ITransactionLog log)
        : ILogObserver, IAsyncDisposable
    {
        private static readonly StateField s_state = new(StateField.WholeState, new byte[StateBytes]);
        private static readonly ActCommitted s_record = new()
        {
            Transaction = TransactionId.Act(1, 1),
            Changes = [new ActorChange(new ActorKey("Account", "a"), 1, [s_state])],
            Outcome = null,
        };

        private readonly List<RunResult> _runs = [];
        private LogWriter? _writer;
        private TaskCompletionSource _end = new();
        private long _deadline;
        private long _groups;
        private string? _failure;

        public SideRuns Runs => new(side, new LoadShape(1), _runs, []);

        public static async Task<Turns> StartAsync(BenchmarkContext context, string side, ITransactionLog log)
        {
            var turns = new Turns(context, side, log);
            var opening = await log.Open(CancellationToken.None);
            turns._writer = new LogWriter(log, opening, turns, new LogWriterOptions(), TimeProvider.System);
            return turns;
        }

        public async Task RunAsync(bool isWarmUp = false)
        {
            var time = isWarmUp ? context.Plan.Times.Warmup : context.Plan.Times.Measured;
            _groups = 0;
            _end = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            var start = Stopwatch.GetTimestamp();
            _deadline = start + (long)(time.TotalSeconds * Stopwatch.Frequency);
            var meter = CpuMeter.Start([]);
            _writer!.Enqueue(s_record);
            await _end.Task;
            var run = new RunResult
            {
                Pipelines = 1,
                Seconds = Stopwatch.GetElapsedTime(start).TotalSeconds,
                Committed = _groups,
                Attempts = _groups,
                ActAttempts = 0,
                ActAborted = 0,
                Aborts = new Dictionary<string, long>(),
                Errors = new Dictionary<string, long>(),
                Cpu = meter.Stop("log writer"),
                P50 = 0,
                P99 = 0,
                Max = 0,
                Void = _failure,
            };
            if (!isWarmUp)
            {
                _runs.Add(run);
                var failed = run.Void is null ? "" : $", VOID: {run.Void}";
                context.Progress($"  {side}: {run.PerSecond:F0} groups/s, {run.CpuPerTransaction:F1} us CPU{failed}");
            }
        }

        public void Flushed(long ticket)
        {
            _groups++;
            if (Stopwatch.GetTimestamp() < _deadline)
            {
                _writer!.Enqueue(s_record);
            }
            else
            {
                _end.TrySetResult();
            }
        }

        public void Unavailable(string detail) => _failure = detail;

        public void Available()
        {
        }

        public void Lost(AppendStatus status, string detail)
        {
            _failure = detail;
            _end.TrySetResult();
        }

        public async ValueTask DisposeAsync()
        {
            await _writer!.DisposeAsync();
            await log.DisposeAsync();
        }
    }

    /// <summary>The same log with appends by the client library, as a rescuer has them.</summary>
    private sealed class LibraryLog(RedisTransactionLog log) : ITransactionLog
    {
        public string Kind => log.Kind;

        public Task<LogOpening> Open(CancellationToken cancellation) => log.Open(cancellation);

        public Task<AppendResult> Append(
            long epoch, long firstSequence, int count, ReadOnlyMemory<byte> group, CancellationToken cancellation) =>
            log.RunFenced(
                RedisScripts.Append, [log.Keys.Meta, log.Keys.Stream],
                log.FenceValues(epoch, firstSequence, firstSequence + count, count, group), cancellation);

        public Task<AppendResult> CheckEpoch(long epoch, CancellationToken cancellation) =>
            log.CheckEpochForStates(epoch, cancellation);

        public IAsyncEnumerable<LogGroup> Read(long fromSequence, CancellationToken cancellation) =>
            log.Read(fromSequence, cancellation);

        public Task<AppendResult> Trim(
            long epoch, long keepFrom, LogWatermarks watermarks, CancellationToken cancellation) =>
            log.Trim(epoch, keepFrom, watermarks, cancellation);

        public ValueTask DisposeAsync() => log.DisposeAsync();
    }
}
