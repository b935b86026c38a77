namespace Snapper.Runtime.Hosting;

/// <summary>
/// Does something again and again, each time a pause after the last time has ended. Nothing of it runs any more when it
/// is disposed of.
/// </summary>
internal sealed class Repeated : IAsyncDisposable
{
    private readonly Func<CancellationToken, Task<TimeSpan?>> _step;
    private readonly CancellationTokenSource _stop = new();
    private readonly ITimer _timer;
    private Task _running = Task.CompletedTask;

    /// <summary>Begins at once.</summary>
    /// <param name="time">Measures the pauses.</param>
    /// <param name="step">
    /// What is done; its answer is the pause until the next time, or null: it was the last one.
    /// </param>
    public Repeated(TimeProvider time, Func<CancellationToken, Task<TimeSpan?>> step)
    {
        _step = step;
        _timer = time.CreateTimer(
            static repeated => ((Repeated)repeated!).OnDue(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _timer.Change(TimeSpan.Zero, Timeout.InfiniteTimeSpan); // only now: the first step sets the timer again
    }

    public async ValueTask DisposeAsync()
    {
        // Not CancelAsync, and no Task.Delay that is cancelled: they would hop to the pool, away from a simulator.
        _stop.Cancel();
        await _timer.DisposeAsync().ConfigureAwait(false);
        await _running.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _stop.Dispose();
    }

    private void OnDue()
    {
        if (!_stop.IsCancellationRequested)
        {
            _running = Run();
        }
    }

    private async Task Run()
    {
        if (await _step(_stop.Token).ConfigureAwait(false) is { } pause && !_stop.IsCancellationRequested)
        {
            _timer.Change(pause, Timeout.InfiniteTimeSpan);
        }
    }
}
