using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Suite;

/// <summary>
/// CPU of a worker per PACT while a reader has a stream of all views that the dashboard shows, as the dashboard has one for each worker ÷ of one that nobody looks at: two systems, each started
/// as users start it, in alternating runs. The load goes straight to the worker, many PACTs in a request, so that little else of the worker hides what the stream costs.
/// </summary>
public sealed class WatchedStreamBenchmark : IBenchmark
{
    private static readonly LoadShape s_shape = new(2, 16);

    private static readonly RunTimes s_compiling = new(TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(40));

    /// <inheritdoc />
    public string Name => "watched-stream";

    /// <inheritdoc />
    public string What => "CPU of a worker per PACT, all views streamed once a second ÷ nobody looks";

    /// <inheritdoc />
    public async Task<BenchmarkResult> RunAsync(BenchmarkContext context)
    {
        await using var watched = await SnapperSystem.StartAsync();
        await using var plain = await SnapperSystem.StartAsync();
        var a = SideOf(context, watched, "watched by a stream", isWatched: true);
        var b = SideOf(context, plain, "nobody looks", isWatched: false);

        // What makes views is compiled, and compiled better, while it runs for the first time; a dashboard that is open for a while does not cost that.
        await a.RunAsync(s_shape, s_compiling, context.Plan.Seed);
        await b.RunAsync(s_shape, s_compiling, context.Plan.Seed);
        var (observed, alone) = await SideBySide.RunAsync(a, b, context.Plan, context.Progress);
        return BenchmarkResult.PairedRatio(Name, What, new Goal(1.05, 1.02, false), observed, alone, static run => run.CpuOf("server"), context.Plan.Seed) with { Notes = Facts.Of(watched) };
    }

    private static Side SideOf(BenchmarkContext context, SnapperSystem system, string name, bool isWatched)
    {
        var made = 0;
        return new Side(name, [s_shape], Pipeline, system.Processes);

        // One reader for all loops of a run: the first one has it.
        IPipeline Pipeline(LoadShape shape, ulong seed)
        {
            var pipeline = new HttpPipeline(system.DirectBatchedMultiTransfer(context.Transfers(), shape.Batch), seed);
            return isWatched && made++ % shape.Pipelines == 0 ? new WatchedPipeline(pipeline, system.Worker) : pipeline;
        }
    }

    /// <summary>Reads the stream, in the background, from its first request to its end.</summary>
    private sealed class WatchedPipeline(IPipeline inner, Uri worker) : IPipeline
    {
        private static readonly string[] s_views =
        [
            "/v1/status", "/v1/batches?limit=256", "/v1/aborts?limit=1000", "/v1/traces?limit=200", "/v1/hot?limit=50", "/v1/access", "/v1/ring", "/v1/workers", "/v1/migrations",
            $"/v1/actors/Account/{AccountIds.Of(0)}/timeline", $"/v1/actors/Account/{AccountIds.Of(0)}/schedule",
        ];

        private readonly HttpClient _http = new() { Timeout = Timeout.InfiniteTimeSpan };
        private readonly CancellationTokenSource _over = new();
        private Task<long>? _reading;

        public async ValueTask RunOnceAsync(Tally tally)
        {
            _reading ??= Read();
            if (_reading.IsFaulted)
            {
                tally.Error($"stream: {_reading.Exception.InnerException!.Message}", 1);
            }

            await inner.RunOnceAsync(tally);
        }

        public async ValueTask DisposeAsync()
        {
            await inner.DisposeAsync();
            await _over.CancelAsync();
            if (_reading is not null && await _reading == 0)
            {
                throw new InvalidOperationException("The stream of views told nothing, so nothing was watched.");
            }

            _http.Dispose();
            _over.Dispose();
        }

        /// <returns>Bytes that were told.</returns>
        private async Task<long> Read()
        {
            var told = 0L;
            try
            {
                var ask = new Uri(worker, "/v1/events?every=1000&" + string.Join('&', s_views.Select(static view => "view=" + Uri.EscapeDataString(view))));
                using var answer = await _http.GetAsync(ask, HttpCompletionOption.ResponseHeadersRead, _over.Token);
                answer.EnsureSuccessStatusCode();
                await using var body = await answer.Content.ReadAsStreamAsync(_over.Token);
                var buffer = new byte[64 * 1024];
                while (await body.ReadAsync(buffer, _over.Token) is > 0 and var count)
                {
                    told += count;
                }
            }
            catch (OperationCanceledException) when (_over.IsCancellationRequested)
            {
                // The run is over.
            }

            return told;
        }
    }
}
