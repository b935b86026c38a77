using System.Collections.Concurrent;
using System.Security.Cryptography;

namespace Snapper.Dashboard.Access;

/// <summary>Who is signed in: a cookie counts only while its session is here, so that signing out ends it wherever a copy of it may be. In memory; a new start ends all. Thread-safe.</summary>
public sealed class Sessions(TimeProvider time)
{
    /// <summary>A session ends after this time, however busy.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromHours(24);

    private const int Most = 10_000;

    private readonly ConcurrentDictionary<string, DateTimeOffset> _ends = new();

    /// <summary>Begins one.</summary>
    public string Begin()
    {
        if (_ends.Count >= Most) Forget();
        var id = Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(16));
        _ends[id] = time.GetUtcNow() + Longest;
        return id;
    }

    /// <summary>It was begun, and has not ended.</summary>
    public bool IsOpen(string? id) => id is not null && _ends.TryGetValue(id, out var end) && time.GetUtcNow() < end;

    /// <summary>Ends it.</summary>
    public void End(string? id)
    {
        if (id is not null) _ends.TryRemove(id, out _);
    }

    // Those that are over first; if it is still too many, those that were begun first.
    private void Forget()
    {
        var now = time.GetUtcNow();
        var all = _ends.ToArray(); // its own: that of LINQ throws when a session begins while it copies
        foreach (var one in all.OrderBy(one => one.Value).Take(all.Length - Most + 1 + all.Count(one => one.Value <= now))) _ends.TryRemove(one);
    }
}
