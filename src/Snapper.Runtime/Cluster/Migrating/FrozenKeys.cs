using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Cluster.Migrating;

/// <summary>
/// What the master must not number for, by plan (M3). A new master begins with the plans that are open, and keeps those of a worker that this worker names before it has
/// settled; what a worker had frozen goes with its life. On the first executor alone.
/// </summary>
internal sealed class FrozenKeys
{
    private readonly Dictionary<string, Frozen> _plans = new(StringComparer.Ordinal);
    private readonly Dictionary<DirectoryKey, int> _keys = [];

    /// <summary>Freezes what a plan moves; repeating it changes nothing but that it is named.</summary>
    /// <param name="plan">Its id.</param>
    /// <param name="source">Whose it is.</param>
    /// <param name="keys">What it moves.</param>
    /// <param name="named">The source says so itself; else it was read as open.</param>
    public void Freeze(string plan, Incarnation source, IReadOnlyList<DirectoryKey> keys, bool named)
    {
        if (_plans.TryGetValue(plan, out var known))
        {
            _plans[plan] = known with { Named = known.Named || named };
            return;
        }

        _plans.Add(plan, new Frozen(source, keys, named));
        foreach (var key in keys)
        {
            _keys[key] = _keys.GetValueOrDefault(key) + 1;
        }
    }

    /// <summary>A plan has ended.</summary>
    public void Unfreeze(string plan)
    {
        if (!_plans.Remove(plan, out var frozen))
        {
            return;
        }

        foreach (var key in frozen.Keys)
        {
            if (--_keys[key] == 0)
            {
                _keys.Remove(key);
            }
        }
    }

    /// <summary>A worker has named all that it has frozen: other plans of it have ended, or have not begun.</summary>
    public void KeepNamed(Incarnation source) => Drop(source, evenNamed: false);

    /// <summary>The life of a worker is over, and its plans with it (M3).</summary>
    public void DropOf(Incarnation source) => Drop(source, evenNamed: true);

    /// <summary>An actor is about to move.</summary>
    /// <param name="actor">By itself, or with its partition.</param>
    /// <param name="entry">Its entry in the directory.</param>
    public bool Holds(ActorKey actor, DirectoryEntry entry) =>
        _keys.Count > 0 && (_keys.ContainsKey(entry.Key) || _keys.ContainsKey(DirectoryKey.Of(actor, entry.Key.Partition)));

    private void Drop(Incarnation source, bool evenNamed)
    {
        List<string>? over = null;
        foreach (var (plan, frozen) in _plans)
        {
            if (frozen.Source == source && (evenNamed || !frozen.Named))
            {
                (over ??= []).Add(plan);
            }
        }

        over?.ForEach(Unfreeze);
    }

    private sealed record Frozen(Incarnation Source, IReadOnlyList<DirectoryKey> Keys, bool Named);
}
