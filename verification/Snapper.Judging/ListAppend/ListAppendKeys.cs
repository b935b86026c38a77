namespace Snapper.Judging.ListAppend;

/// <summary>The lists in use: a window that moves on as appends are made, so that lists stay short and every key has its hot time. Thread-safe.</summary>
/// <param name="prefix">Begins every name; nobody else's lists may begin with it.</param>
/// <param name="window">How many lists are in use at a time, at least 1: few, so that transactions meet.</param>
/// <param name="appendsPerKey">After that many appends to all of them together the oldest one is replaced by a new one.</param>
public sealed class ListAppendKeys(string prefix, int window, int appendsPerKey)
{
    private readonly Lock _lock = new();
    private int _oldest;
    private int _appends;
    private long _lastValue;

    /// <summary>How many lists are in use at a time.</summary>
    public int Window { get; } = window >= 1 ? window : throw new ArgumentOutOfRangeException(nameof(window), window, "There must be a list.");

    /// <summary>All lists that were ever in use, oldest first.</summary>
    public IEnumerable<string> All => Enumerable.Range(0, Volatile.Read(ref _oldest) + Window).Select(Name);

    /// <summary>One of the lists in use.</summary>
    /// <param name="place">0 to <see cref="Window"/> - 1; 0 is the oldest.</param>
    public string At(int place) => Name(Volatile.Read(ref _oldest) + place);

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
