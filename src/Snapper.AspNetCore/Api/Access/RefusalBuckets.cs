using Snapper.Security;

namespace Snapper.AspNetCore.Api.Access;

/// <summary>
/// How many refused attempts of a principal are written down: so many at once, and then one at a time. Whoever may not do a thing must not be able to fill the audit with having tried it, and so
/// drive out what others did. Not thread-safe: its owner has a lock.
/// </summary>
/// <param name="time">The clock.</param>
internal sealed class RefusalBuckets(TimeProvider time)
{
    /// <summary>Attempts that are written down at once.</summary>
    public const int AtOnce = 20;

    /// <summary>After those, one in this time: of one principal about half a megabyte a day.</summary>
    public static readonly TimeSpan Every = TimeSpan.FromMinutes(1);

    // Names come from the configured tokens, and a few of our own: there are never more of them than that.
    private readonly Dictionary<string, (double Left, long At)> _buckets = new(StringComparer.Ordinal);

    /// <summary>Takes one of a principal's.</summary>
    /// <returns>False: it is not to be written down.</returns>
    public bool Take(Principal principal)
    {
        var now = time.GetTimestamp();
        var left = _buckets.TryGetValue(principal.Name, out var bucket) ? Math.Min(AtOnce, bucket.Left + (time.GetElapsedTime(bucket.At, now) / Every)) : AtOnce;
        _buckets[principal.Name] = (left < 1 ? left : left - 1, now);
        return left >= 1;
    }
}
