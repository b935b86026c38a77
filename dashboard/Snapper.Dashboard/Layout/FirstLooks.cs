namespace Snapper.Dashboard.Layout;

/// <summary>How many pages are drawn with figures before their browsers are connected, at once. Thread-safe.</summary>
public sealed class FirstLooks
{
    /// <summary>Further ones are drawn over their connections, as many as there may be of those.</summary>
    public const int Most = 16;

    private int _taken;

    /// <summary>Takes a place; false: none is free.</summary>
    public bool TryTake()
    {
        if (Interlocked.Increment(ref _taken) <= Most) return true;
        Interlocked.Decrement(ref _taken);
        return false;
    }

    /// <summary>Gives it back.</summary>
    public void Give() => Interlocked.Decrement(ref _taken);
}

/// <summary>One request's place among <see cref="FirstLooks"/>, from when it is first asked for until the request is over.</summary>
public sealed class FirstLook(FirstLooks all) : IDisposable
{
    /// <summary>The page is drawn with figures at once.</summary>
    public bool IsGranted { get; } = all.TryTake();

    /// <inheritdoc/>
    public void Dispose()
    {
        if (IsGranted) all.Give();
    }
}
