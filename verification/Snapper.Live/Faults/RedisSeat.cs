using Snapper.Live.Harness;
using Snapper.Live.Links;
using Snapper.Live.Running;

namespace Snapper.Live.Faults;

/// <summary>
/// The Redis of a running system, for those who strike it: the process that <c>up</c> keeps, and the road on which workers reach it, or another one that takes its
/// place for a while, as a service address does.
/// </summary>
/// <param name="data">The system's data directory.</param>
/// <param name="port">Where it listens behind its road; the next two ports are free for a replica and a sentinel.</param>
/// <param name="stand">What starts it.</param>
/// <param name="pid">Its process, alive.</param>
/// <param name="callerOf">See <see cref="Link"/>.</param>
internal sealed class RedisSeat(string data, int port, StandFolder stand, Func<Task<int>> pid, Func<int, string?>? callerOf = null)
{
    private Link? _road;
    private volatile int _leadsTo = port;

    /// <summary>Where it listens behind its road.</summary>
    public int Port { get; } = port;

    public int ReplicaPort => Port + 1;

    public int SentinelPort => Port + 2;

    public StandFolder Stand => stand;

    /// <summary>What it wants to hear first.</summary>
    public string Password => RedisLine.PasswordIn(data);

    /// <summary>Folder of the append-only file.</summary>
    public string Folder => Path.Combine(data, "redis");

    /// <summary>By which workers reach it.</summary>
    public Link Road => _road ??= new Link("workers to Redis", () => stand.RedisPortAsked, () => _leadsTo, callerOf);

    /// <summary>The process that plays it, alive; waits while it is started again.</summary>
    public Task<int> Pid() => pid();

    /// <summary>New connections reach the Redis at this port.</summary>
    public void LeadTo(int port) => _leadsTo = port;
}
