namespace Snapper.Runtime.Door;

/// <summary>
/// How many bytes may be held at a time, and how many are: bodies that are read, inputs of requests that are not
/// answered yet, answers that are not sent yet. Thread-safe, and without a lock.
/// </summary>
/// <param name="most">Bytes.</param>
public sealed class ByteBudget(long most)
{
    /// <summary>What a request holds beside its body: its objects, its place in lists, its connection.</summary>
    public const int OfRequest = 1024;

    private long _used;
    private volatile string? _closed;

    /// <summary>How many may be held.</summary>
    public long Most { get; } = most;

    /// <summary>How many are.</summary>
    public long Used => Volatile.Read(ref _used);

    /// <summary>Why nothing new may begin to hold any; null: it may, as far as there is room.</summary>
    public string? Closed
    {
        get => _closed;
        set => _closed = value;
    }

    /// <summary>Takes room, if there is enough.</summary>
    /// <returns>False: nothing was taken.</returns>
    public bool TryTake(long bytes)
    {
        if (Interlocked.Add(ref _used, bytes) <= Most)
        {
            return true;
        }

        Interlocked.Add(ref _used, -bytes);
        return false;
    }

    /// <summary>Takes room for what is there already, and cannot be refused.</summary>
    public void Take(long bytes) => Interlocked.Add(ref _used, bytes);

    /// <summary>Gives room back.</summary>
    public void Give(long bytes) => Interlocked.Add(ref _used, -bytes);
}
