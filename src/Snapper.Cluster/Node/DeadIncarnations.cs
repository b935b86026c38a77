using Snapper.Protocol.Directory;
using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Node;

/// <summary>
/// Lives of other workers that are over, until their streams are resolved: then nobody will ask any more what this worker has decided for them (R2, L8). That is so when the directory
/// names such a life nowhere any more: its entries are given on, to its next life or to others, only when everything in its stream is settled and checkpointed (R4). On the first executor.
/// </summary>
/// <param name="directory">Who owns what, as far as this worker knows.</param>
/// <param name="resolved">
/// Takes a life whose stream is resolved; true: its worker owns nothing, so that the same is true of its later lives.
/// </param>
internal sealed class DeadIncarnations(DirectoryTable directory, Action<Incarnation, bool> resolved)
{
    private readonly List<Incarnation> _new = [];
    private readonly List<Incarnation> _unresolved = [];
    private readonly List<DirectoryEntry> _owned = [];
    private volatile bool _any;

    /// <summary>There are some: the directory is to be read for them, changed or not. From any thread.</summary>
    public bool Any => _any;

    /// <summary>Those that are not known to be resolved.</summary>
    public IEnumerable<Incarnation> Unresolved => [.. _unresolved, .. _new];

    /// <summary>A life is over; it may be told more than once.</summary>
    public void Add(Incarnation life)
    {
        if (!_new.Contains(life) && !_unresolved.Contains(life))
        {
            _new.Add(life);
            _any = true;
        }
    }

    /// <summary>The directory is about to be read to its end: of those who are over by now it will tell all that they ever owned.</summary>
    public bool BeginReading()
    {
        _unresolved.AddRange(_new);
        _new.Clear();
        return true;
    }

    /// <summary>It was read.</summary>
    public bool EndReading()
    {
        for (var i = _unresolved.Count - 1; i >= 0; i--)
        {
            var life = _unresolved[i];
            _owned.Clear();
            directory.AddOwnedBy(life.Worker, _owned);
            if (!_owned.Exists(entry => entry.Owner.Epoch <= life.Epoch))
            {
                _unresolved.RemoveAt(i);
                resolved(life, _owned.Count == 0);
            }
        }

        _any = _unresolved.Count + _new.Count > 0;
        return _any;
    }
}
