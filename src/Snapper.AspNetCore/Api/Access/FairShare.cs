namespace Snapper.AspNetCore.Api.Access;

/// <summary>
/// Of what there is only so much of, one token's holder gets a part, so that it cannot keep all others out. Callers without a token have no part of their own: where there are no tokens nobody is known apart. Thread-safe.
/// </summary>
/// <typeparam name="TPlace">What is taken; one that a holder has already it may have again.</typeparam>
/// <param name="most">Places of one holder.</param>
/// <param name="time">The clock of places that are given back by time.</param>
internal sealed class FairShare<TPlace>(int most, TimeProvider time)
    where TPlace : notnull
{
    // By names of tokens, of which there are so many and no more.
    private readonly Dictionary<string, Dictionary<TPlace, long>> _taken = new(StringComparer.Ordinal);
    private readonly Lock _gate = new();

    /// <summary>How many one holder may have.</summary>
    public int Most => most;

    /// <summary>Takes a place, or takes it again.</summary>
    /// <param name="caller">Who; null: nobody is looked at.</param>
    /// <param name="place">Which.</param>
    /// <param name="lease">After this time it is given back; infinite: when it is left.</param>
    /// <returns>False: the caller has its part.</returns>
    public bool Take(RequestCaller? caller, TPlace place, TimeSpan lease)
    {
        if (NameOf(caller) is not { } name) return true;
        lock (_gate)
        {
            var now = time.GetTimestamp();
            if (!_taken.TryGetValue(name, out var places)) _taken[name] = places = [];
            foreach (var (over, _) in places.Where(one => one.Value <= now).ToArray()) places.Remove(over);
            if (places.Count >= most && !places.ContainsKey(place)) return false;
            places[place] = lease == Timeout.InfiniteTimeSpan ? long.MaxValue : now + (long)(lease.TotalSeconds * time.TimestampFrequency);
            return true;
        }
    }

    /// <summary>Gives a place back.</summary>
    public void Leave(RequestCaller? caller, TPlace place)
    {
        if (NameOf(caller) is not { } name) return;
        lock (_gate)
        {
            if (_taken.TryGetValue(name, out var places) && places.Remove(place) && places.Count == 0) _taken.Remove(name);
        }
    }

    private static string? NameOf(RequestCaller? caller) => caller is not null && Snapper.Security.Roles.IsOfToken(caller.Principal.Role) ? caller.Principal.Name : null;
}
