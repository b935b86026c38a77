using System.Collections.Concurrent;
using Snapper.Runtime.Door;

namespace Snapper.AspNetCore.Api.Access;

/// <summary>
/// The bytes that requests and answers at the doors of a worker may hold. One caller that is known apart has a share of
/// them. Thread-safe.
/// </summary>
/// <param name="all">Those of the process.</param>
/// <param name="share">Of one caller: a part of them, above 0 to 1.</param>
/// <param name="least">That one caller has in any case, as far as there are so many: one request must fit.</param>
internal sealed class ByteShares(ByteBudget all, double share, long least = 1)
{
    // Addresses are cheap to change: those that hold nothing are forgotten when there are more.
    private const int KeptMost = 10_000;

    private readonly ConcurrentDictionary<string, ByteBudget> _shares = new(StringComparer.Ordinal);
    private readonly Lock _sweeping = new();
    private readonly long _share = Math.Min(all.Most, Math.Max(least, (long)(all.Most * share)));

    /// <summary>Those of the process.</summary>
    public ByteBudget All => all;

    /// <summary>Callers of which something is kept.</summary>
    public int Known => _shares.Count;

    /// <summary>Begins to count what a request holds; it holds nothing yet.</summary>
    /// <param name="caller">Who sends it; null: it is not known yet.</param>
    public HeldBytes Open(RequestCaller? caller) => new(this, caller);

    /// <summary>What of it is a caller's; null: the caller may be anyone of many.</summary>
    public ByteBudget? ShareOf(RequestCaller? caller)
    {
        if (caller is not { IsKnownApart: true })
        {
            return null;
        }

        if (_shares.TryGetValue(caller.Key, out var known))
        {
            return known;
        }

        if (_shares.Count >= KeptMost)
        {
            Sweep();
        }

        return _shares.GetOrAdd(caller.Key, static (_, most) => new ByteBudget(most), _share);
    }

    private void Sweep()
    {
        lock (_sweeping)
        {
            foreach (var one in _shares)
            {
                // One that takes at this moment holds what it takes beside its share, once.
                if (one.Value.Used == 0)
                {
                    _shares.TryRemove(one);
                }
            }
        }
    }
}
