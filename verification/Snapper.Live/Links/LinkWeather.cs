namespace Snapper.Live.Links;

/// <summary>What one direction of a link does to bytes.</summary>
/// <param name="Holds">Nothing passes; what was sent stays under way, as behind a cable that was pulled out and may be put back.</param>
/// <param name="Delay">Added to every piece that passes.</param>
/// <param name="BytesPerSecond">0: no limit.</param>
internal sealed record Weather(bool Holds = false, TimeSpan Delay = default, int BytesPerSecond = 0)
{
    public static readonly Weather Clear = new();
}

/// <summary>One direction of all connections of a link. Thread-safe.</summary>
internal sealed class Direction
{
    private const int PiecesPerSecond = 20;

    private volatile Weather _weather = Weather.Clear;
    private volatile TaskCompletionSource _changed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>How many bytes may be read at once: few when they pass slowly, or the sender would not notice.</summary>
    public int PieceBytes => _weather.BytesPerSecond is > 0 and var rate ? Math.Max(1, rate / PiecesPerSecond) : int.MaxValue;

    public void Set(Weather weather)
    {
        _weather = weather;
        var changed = _changed;
        _changed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        changed.SetResult();
    }

    /// <summary>Returns when so many bytes may go on.</summary>
    public async ValueTask Pass(int bytes, CancellationToken cancellation)
    {
        while (true)
        {
            // Taken before the look, so that a change in between is not slept through.
            var changed = _changed;
            var weather = _weather;
            if (!weather.Holds)
            {
                var wait = weather.Delay + (weather.BytesPerSecond > 0 ? TimeSpan.FromSeconds((double)bytes / weather.BytesPerSecond) : TimeSpan.Zero);
                if (wait > TimeSpan.Zero)
                {
                    await Task.Delay(wait, cancellation);
                }

                return;
            }

            await changed.Task.WaitAsync(cancellation);
        }
    }
}
