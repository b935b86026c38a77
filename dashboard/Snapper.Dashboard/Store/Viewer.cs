namespace Snapper.Dashboard.Store;

/// <summary>Somebody who looks, until disposed: meanwhile workers tell by themselves.</summary>
public sealed class Viewer : IDisposable
{
    private readonly Fleet _fleet;
    private readonly Streams _streams;
    private bool _gone;

    public Viewer(Fleet fleet, Streams streams)
    {
        (_fleet, _streams) = (fleet, streams);
        fleet.Viewing(1);
        streams.Hurry();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _gone, true)) return;
        _fleet.Viewing(-1);
        _streams.Hurry();
    }
}
