using System.Collections.Concurrent;

namespace Snapper.Live.Links;

/// <summary>The part of a <see cref="Link"/> that belongs to one caller, or to one receiver: its weather, and whether its connections are let in. Thread-safe.</summary>
internal sealed class Lane : IRoad
{
    private readonly ConcurrentDictionary<LinkConnection, bool> _connections = new();
    private volatile bool _refuses;
    private int _entries;

    /// <summary>From the caller to the target.</summary>
    public Direction Up { get; } = new();

    /// <summary>From the target to the caller.</summary>
    public Direction Down { get; } = new();

    /// <summary>How often a connection of the caller came in, or a request to the receiver.</summary>
    public int Entries => Volatile.Read(ref _entries);

    /// <summary>Its connections now.</summary>
    public int Connections => _connections.Count;

    /// <summary>Breaks all connections of the caller with a reset, and its new ones when asked to, until <see cref="Heal"/>.</summary>
    public void Cut(bool refuses)
    {
        _refuses = refuses;
        foreach (var connection in _connections.Keys)
        {
            connection.Reset();
        }
    }

    /// <summary>Clear weather.</summary>
    public void Heal()
    {
        _refuses = false;
        Up.Set(Weather.Clear);
        Down.Set(Weather.Clear);
    }

    /// <summary>A connection of the caller comes in.</summary>
    /// <returns>False: it is not let in.</returns>
    public bool Enters(LinkConnection connection)
    {
        Interlocked.Increment(ref _entries);
        _connections[connection] = true;
        return !_refuses;
    }

    /// <summary>It has ended.</summary>
    public void Leaves(LinkConnection connection) => _connections.TryRemove(connection, out _);
}
