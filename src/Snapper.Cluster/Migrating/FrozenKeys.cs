using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Migrating;

/// <summary>What the master must not number for, by plan (M3). On the first executor alone.</summary>
internal sealed class FrozenKeys
{
    private readonly Dictionary<string, IReadOnlyList<DirectoryKey>> _plans = new(StringComparer.Ordinal);
    private readonly Dictionary<DirectoryKey, int> _keys = [];

    /// <summary>Freezes what a plan moves; repeating it changes nothing.</summary>
    public void Freeze(string plan, IReadOnlyList<DirectoryKey> keys)
    {
        if (!_plans.TryAdd(plan, keys))
        {
            return;
        }

        foreach (var key in keys)
        {
            _keys[key] = _keys.GetValueOrDefault(key) + 1;
        }
    }

    /// <summary>Plans whose keys are frozen.</summary>
    public IReadOnlyList<string> Plans => [.. _plans.Keys];

    /// <summary>A plan has ended.</summary>
    public void Unfreeze(string plan)
    {
        if (!_plans.Remove(plan, out var keys))
        {
            return;
        }

        foreach (var key in keys)
        {
            if (--_keys[key] == 0)
            {
                _keys.Remove(key);
            }
        }
    }

    /// <summary>An actor is about to move.</summary>
    /// <param name="actor">By itself, or with its partition.</param>
    /// <param name="entry">Its entry in the directory.</param>
    public bool Holds(ActorKey actor, DirectoryEntry entry) =>
        _keys.Count > 0 && (_keys.ContainsKey(entry.Key) || _keys.ContainsKey(DirectoryKey.Of(actor, entry.Key.Partition)));
}
