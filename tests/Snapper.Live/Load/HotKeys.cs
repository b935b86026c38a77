namespace Snapper.Live.Load;

/// <summary>The keys in use: a window that moves on as appends are made, so that lists stay short and every key has its hot time. Thread-safe.</summary>
internal sealed class HotKeys(string prefix, int window, int appendsPerKey)
{
    private readonly Lock _lock = new();
    private int _oldest;
    private int _appends;
    private long _lastValue;

    /// <summary>All keys that were ever in use.</summary>
    public IEnumerable<string> All => Enumerable.Range(0, _oldest + window).Select(Name);

    public string Choose(Random random) => Name(_oldest + random.Next(window));

    /// <summary>A value that nobody else appends.</summary>
    public long NextValue()
    {
        lock (_lock)
        {
            if (++_appends >= appendsPerKey)
            {
                _appends = 0;
                _oldest++;
            }

            return ++_lastValue;
        }
    }

    private string Name(int index) => $"{prefix}.{index}";
}
