namespace Snapper.Live.Load;

/// <summary>Clients that give up on an answer, most of them late and some almost at once, or send the same request twice at a time. Thread-safe.</summary>
internal sealed class Impatience(int seed)
{
    private readonly Lock _lock = new();
    private readonly Random _random = new(seed);

    /// <summary>How long the next attempt may take.</summary>
    public TimeSpan Next()
    {
        lock (_lock)
        {
            return _random.Next(100) switch
            {
                < 3 => TimeSpan.FromMilliseconds(1 + _random.Next(20)),
                < 12 => TimeSpan.FromMilliseconds(20 + _random.Next(500)),
                _ => TimeSpan.FromSeconds(5),
            };
        }
    }

    /// <summary>Whether the next request goes out twice.</summary>
    public bool SendsTwice()
    {
        lock (_lock)
        {
            return _random.Next(100) < 4;
        }
    }
}
