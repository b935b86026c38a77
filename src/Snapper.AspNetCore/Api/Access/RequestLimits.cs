using System.Collections.Concurrent;
using System.Threading.RateLimiting;
using Snapper.Security;

namespace Snapper.AspNetCore.Api.Access;

/// <summary>How many requests a caller may send: a bucket for each, which fills by its rate. Those who come through the sidecar without a token have one for each Dapr app that is certain, and one together.</summary>
internal sealed class RequestLimits : IDisposable
{
    /// <summary>Buckets of callers without a token that are kept; with more, all of them share the last. A bucket that was not used for so long that it is full again is not kept.</summary>
    public const int AddressesMax = 10_000;

    // A limiter that is full is let go after ten seconds by what holds it; its key must not be forgotten much earlier, else more of them are held than there are keys.
    private static readonly TimeSpan s_heldFor = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_sweepEvery = TimeSpan.FromSeconds(1);

    private readonly PartitionedRateLimiter<RequestCaller>? _limiter;
    private readonly ConcurrentDictionary<string, long> _keys = new(StringComparer.Ordinal);
    private readonly Lock _sweeping = new();
    private readonly double _rate;
    private readonly int _burst;
    private readonly TimeProvider _time;
    private long _sweptAt;

    /// <param name="rate">Requests per second of a caller whose token says nothing else; 0: unlimited.</param>
    /// <param name="burst">Requests that it may send at once; 0: as many as in a second.</param>
    /// <param name="isNeeded">Some token has a rate of its own.</param>
    /// <param name="time">The clock of what is forgotten; null: the system's.</param>
    public RequestLimits(double rate, int burst, bool isNeeded, TimeProvider? time = null)
    {
        _time = time ?? TimeProvider.System;
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

        if (!caller.Principal.Role.IsOfToken() && !Keep(key))
        {
            key = "(others)";
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

    /// <summary>An address is cheap to change: their number must not become our memory, and those that are gone must not stand in the way of others.</summary>
    private bool Keep(string key)
    {
        var now = _time.GetTimestamp();
        if (_keys.ContainsKey(key) || _keys.Count < AddressesMax || Sweep(now))
        {
            _keys[key] = now;
            return true;
        }

        return false;
    }

    /// <summary>Forgets the keys whose buckets are full again.</summary>
    /// <returns>There is room.</returns>
    private bool Sweep(long now)
    {
        lock (_sweeping)
        {
            if (_sweptAt != 0 && _time.GetElapsedTime(_sweptAt, now) < s_sweepEvery) return _keys.Count < AddressesMax;
            _sweptAt = now;
            var full = s_heldFor + TimeSpan.FromSeconds(BurstOf(_rate) / _rate);
            foreach (var (key, used) in _keys)
            {
                if (_time.GetElapsedTime(used, now) > full) _keys.TryRemove(KeyValuePair.Create(key, used));
            }

            return _keys.Count < AddressesMax;
        }
    }

    private int BurstOf(double rate) => _burst > 0 ? _burst : Math.Max(1, (int)Math.Ceiling(rate));
}
