namespace Snapper.Runtime.Execution;

/// <summary>How many ids of one caller are kept. Thread-safe.</summary>
public sealed class IdAccount
{
    private readonly int[] _byMinute;
    private long _kept;
    private long _usedIn;

    internal IdAccount(string name, int minutes)
    {
        Name = name;
        _byMinute = new int[minutes];
    }

    /// <summary>Of the caller.</summary>
    public string Name { get; }

    /// <summary>In all.</summary>
    public long Kept => Volatile.Read(ref _kept);

    /// <summary>The minute in which the caller sent the newest.</summary>
    internal long UsedIn
    {
        get => Volatile.Read(ref _usedIn);
        set => Volatile.Write(ref _usedIn, value);
    }

    internal void Add(long minute)
    {
        Interlocked.Increment(ref _byMinute[minute % _byMinute.Length]);
        Interlocked.Increment(ref _kept);
    }

    internal void Drop(long minute) =>
        Interlocked.Add(ref _kept, -Interlocked.Exchange(ref _byMinute[minute % _byMinute.Length], 0));
}
