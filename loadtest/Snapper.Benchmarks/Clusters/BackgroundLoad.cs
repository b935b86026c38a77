using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Statistics;
using Snapper.Benchmarks.Systems;

namespace Snapper.Benchmarks.Clusters;

/// <summary>
/// Transfers at some workers of <c>./snapper up</c>, straight to them, one tenth over two workers: first as fast as they can, then at a given rate. What becomes of them while
/// a worker is away is not counted; they only keep the system busy.
/// </summary>
public sealed class BackgroundLoad(
    IReadOnlyList<ReadyWorker> workers, PlacedTransfers transfers, ulong seed) : IDisposable
{
    private const double Distributed = 0.1;
    private readonly CancellationTokenSource _ending = new();
    private readonly List<Task> _running = [];

    /// <summary>Committed per second with that many closed loops.</summary>
    public async Task<double> MeasureAsync(int loops, TimeSpan time)
    {
        var pipelines = Enumerable.Range(0, loops).Select(PipelineOf).ToArray();
        var run = await ClosedLoop.RunAsync(pipelines, new RunTimes(time, time), []);
        return run.PerSecond;
    }

    /// <summary>Begins to send at a rate, spread over loops; a loop whose answer is late sends later.</summary>
    public void Start(double perSecond, int loops)
    {
        var pause = TimeSpan.FromSeconds(loops / perSecond);
        for (var i = 0; i < loops; i++)
        {
            var pipeline = PipelineOf(i + loops);
            _running.Add(Task.Run(() => Loop(pipeline, pause)));
        }
    }

    /// <inheritdoc />
    public void Dispose()
    {
        _ending.Cancel();
        _ = Task.WhenAll(_running).ContinueWith(static (_, ending) => ((CancellationTokenSource)ending!).Dispose(), _ending, TaskScheduler.Default);
    }

    private async Task Loop(IPipeline pipeline, TimeSpan pause)
    {
        await using (pipeline)
        {
            var tally = new Tally();
            using var timer = new PeriodicTimer(pause);
            try
            {
                while (await timer.WaitForNextTickAsync(_ending.Token))
                {
                    await pipeline.RunOnceAsync(tally);
                }
            }
            catch (OperationCanceledException)
            {
                // The round is over.
            }
            catch (IOException)
            {
                // The workers were stopped while an answer was awaited.
            }
        }
    }

    private HttpPipeline PipelineOf(int loop) => new(
        SnapperSystem.DirectMultiTransfer(new MixedChooser(transfers), workers[loop % workers.Count].Url), seed + (ulong)loop);

    private sealed class MixedChooser(PlacedTransfers transfers) : IAccountChooser
    {
        public int Width => 4;

        public void Draw(ref FastRandom random, Span<int> accounts) =>
            new PlacedChooser(transfers, random.NextDouble() < Distributed).Draw(ref random, accounts);
    }
}
