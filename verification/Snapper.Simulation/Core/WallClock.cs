namespace Snapper.Simulation.Core;

/// <summary>What the clock on the wall of one machine shows beside the time that passes: somebody sets it, or it runs fast or slow. Timers do not follow it.</summary>
internal sealed class WallClock
{
    private long _ahead;
    private long _since;
    private int _perMille;

    /// <summary>How far it is ahead of the time that has passed, in ticks; below 0: behind.</summary>
    public long Ahead(long now) => _ahead + ((now - _since) / 1000 * _perMille);

    /// <summary>It is set forward, or (below 0) back.</summary>
    public void Step(long ticks) => _ahead += ticks;

    /// <summary>From now on it gains so much, or (below 0) loses it.</summary>
    public void Drift(long now, int perMille)
    {
        _ahead = Ahead(now);
        (_since, _perMille) = (now, perMille);
    }
}
