using System.Collections.Concurrent;
using System.Threading.RateLimiting;
using Snapper.Security;

namespace Snapper.Server.Api.Access;

/// <summary>How many requests a caller may send: a bucket for each, which fills by its rate. Those who come through the sidecar without a token have one for each Dapr app that is certain, and one together.</summary>
internal sealed class RequestLimits : IDisposable
{
    /// <summary>Buckets of callers without a token that are kept; with more, all of them share the last.</summary>
    public const int AddressesMax = 10_000;

    private readonly PartitionedRateLimiter<RequestCaller>? _limiter;
    private readonly ConcurrentDictionary<string, bool> _keys = new(StringComparer.Ordinal);
    private readonly double _rate;
    private readonly int _burst;

    /// <param name="rate">Requests per second of a caller whose token says nothing else; 0: unlimited.</param>
    /// <param name="burst">Requests that it may send at once; 0: as many as in a second.</param>
    /// <param name="isNeeded">Some token has a rate of its own.</param>
    public RequestLimits(double rate, int burst, bool isNeeded)
    {
        _rate = rate;
        _burst = burst;
        _limiter = rate > 0 || isNeeded ? PartitionedRateLimiter.Create<RequestCaller, string>(PartitionOf, StringComparer.Ordinal) : null;
    }

    /// <summary>Nobody is limited.</summary>
    public bool AreOff => _limiter is null;

    /// <summary>Takes a request, or a batch of so many transactions, out of a caller's bucket.</summary>
    /// <returns>Null: it may go on. Otherwise when to come back.</returns>
    public TimeSpan? Take(RequestCaller caller, int count = 1)
    {
        if (_limiter is null || count < 1)
        {
            return null;
        }

        var rate = caller.Principal.RatePerSecond ?? _rate;
        if (rate > 0 && count > BurstOf(rate))
        {
            return TimeSpan.FromSeconds(count / rate); // never at once: its sender has to divide it
        }

        using var lease = _limiter.AttemptAcquire(caller, count);
        return lease.IsAcquired ? null : lease.TryGetMetadata(MetadataName.RetryAfter, out var after) && after > TimeSpan.Zero ? after : TimeSpan.FromSeconds(1);
    }

    public void Dispose() => _limiter?.Dispose();

    private RateLimitPartition<string> PartitionOf(RequestCaller caller)
    {
        var rate = caller.Principal.RatePerSecond ?? _rate;
        var key = caller.Key;
        if (rate <= 0)
        {
            return RateLimitPartition.GetNoLimiter("(unlimited)");
        }

        if (caller.Principal.Role is Role.Nobody or Role.Everybody or Role.Sidecar && !_keys.ContainsKey(key))
        {
            // An address is cheap to change: their number must not become our memory.
            key = _keys.Count < AddressesMax && _keys.TryAdd(key, true) ? key : "(others)";
        }

        return RateLimitPartition.GetTokenBucketLimiter(key, _ => new TokenBucketRateLimiterOptions
        {
            // Filled each 100 ms, or, for rates under ten, as often as one is due.
            TokenLimit = BurstOf(rate),
            TokensPerPeriod = Math.Max(1, (int)Math.Round(rate / 10)),
            ReplenishmentPeriod = TimeSpan.FromSeconds(Math.Max(1, (int)Math.Round(rate / 10)) / rate),
            QueueLimit = 0,
            AutoReplenishment = false,
        });
    }

    private int BurstOf(double rate) => _burst > 0 ? _burst : Math.Max(1, (int)Math.Ceiling(rate));
}
