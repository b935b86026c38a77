using Snapper.Runtime.Door;

namespace Snapper.Runtime.Inspection.Watching;

/// <summary>
/// One in how many transactions is sampled: few enough to cost about the same at any load, and as many as that allows. Powers of two, so that a smaller sample is part of every larger
/// one. Adapts by the clock, and not by what is sampled: after a burst nothing may be. Thread-safe.
/// </summary>
public sealed class SampleRate(WatchClock clock)
{
    private const int MaxPerSecond = 200;
    private const int OneInMost = 4096;

    /// <summary>Where none was sampled, there may still be so many by the next sample of the same size.</summary>
    private const int Doubt = 3;

    private readonly Lock _lock = new();
    private readonly long _window = clock.Ticks(TimeSpan.FromSeconds(1));
    private int _oneIn = 1;
    private int _taken;
    private long _windowEnds;

    public int OneIn => Volatile.Read(ref _oneIn);

    /// <summary>Is the request in the sample?</summary>
    /// <returns>How many requests it stands for; 0: it is not.</returns>
    public int Take(string requestId, long now)
    {
        Settle(now);
        var oneIn = OneIn;
        if (oneIn > 1 && (ulong)RequestHash.OfId(requestId) % (ulong)oneIn != 0)
        {
            return 0;
        }

        lock (_lock)
        {
            if (++_taken > MaxPerSecond && _oneIn < OneInMost)
            {
                _oneIn *= 2;
                _taken /= 2;
            }
        }

        return oneIn;
    }

    /// <summary>Ends the seconds that are over.</summary>
    public void Settle(long now)
    {
        if (now < Volatile.Read(ref _windowEnds))
        {
            return;
        }

        lock (_lock)
        {
            if (now < _windowEnds)
            {
                return;
            }

            for (var windows = 1 + ((now - _windowEnds) / _window); windows > 0 && _oneIn > 1; windows--)
            {
                for (var expected = (_taken + Doubt) * 2; _oneIn > 1 && expected <= MaxPerSecond / 2; expected *= 2)
                {
                    _oneIn /= 2;
                }

                _taken = 0;
            }

            _taken = 0;
            Volatile.Write(ref _windowEnds, now + _window);
        }
    }

    /// <summary>All, to begin with.</summary>
    public void Reset(long now)
    {
        lock (_lock)
        {
            _oneIn = 1;
            _taken = 0;
            Volatile.Write(ref _windowEnds, now + _window);
        }
    }
}
