using Snapper.Protocol.Identity;
using Snapper.Storage.Log.Records;
using Snapper.Storage.States;

namespace Snapper.Storage.Checkpoints;

/// <summary>The changes of one actor between two versions, coalesced: the newest value of each field.</summary>
internal sealed class PendingActor
{
    private IReadOnlyList<StateField>? _whole;
    private Dictionary<string, ReadOnlyMemory<byte>?>? _fields;
    private long _from;
    private bool _returned;

    /// <summary>Version of the newest change.</summary>
    public long To { get; private set; }

    /// <summary>Rough size of what it holds.</summary>
    public int Bytes { get; private set; }

    /// <summary>True: something is to be checkpointed.</summary>
    public bool IsPending => _whole is not null || _fields is not null;

    /// <summary>Takes in the next change.</summary>
    /// <param name="change">The change.</param>
    /// <param name="mayReturn">The actor may have been another worker's meanwhile: then what was before is checkpointed, and the store has the version that this one follows (M5).</param>
    /// <returns>False: its version does not follow.</returns>
    public bool Add(ActorChange change, bool mayReturn = false)
    {
        var returned = false;
        if (To != 0 && change.Version != To + 1)
        {
            if (!mayReturn || change.Version <= To)
            {
                return false;
            }

            Clear();
            returned = true;
        }

        if (!IsPending)
        {
            _from = change.Version - 1;
            _returned = returned;
        }

        To = change.Version;
        Merge(change.Fields);
        return true;
    }

    /// <summary>Takes in what came after this.</summary>
    public void Add(PendingActor later)
    {
        To = later.To;
        if (later._whole is not null)
        {
            Merge(later._whole);
            return;
        }

        foreach (var (name, value) in later._fields!)
        {
            MergeField(name, value);
        }
    }

    /// <summary>What a store takes. A whole state needs no earlier one (L7); fields build on the version before the first change.</summary>
    public StateCheckpoint ToCheckpoint(ActorKey actor)
    {
        if (_whole is not null)
        {
            return new StateCheckpoint(actor, _returned ? _from : 0, To, _whole);
        }

        var fields = new StateField[_fields!.Count];
        var i = 0;
        foreach (var (name, value) in _fields)
        {
            fields[i++] = new StateField(name, value);
        }

        return new StateCheckpoint(actor, _from, To, fields);
    }

    /// <summary>Forgets the fields and keeps the version.</summary>
    public void Clear()
    {
        _whole = null;
        _fields = null;
        Bytes = 0;
        _returned = false;
    }

    private void Merge(IReadOnlyList<StateField> fields)
    {
        if (_fields is null && fields.Count == 1 && fields[0].Name == StateField.WholeState)
        {
            _whole = fields;
            Bytes = 64 + (fields[0].Value?.Length ?? 0);
            return;
        }

        for (var i = 0; i < fields.Count; i++)
        {
            MergeField(fields[i].Name, fields[i].Value);
        }
    }

    private void MergeField(string name, ReadOnlyMemory<byte>? value)
    {
        if (_fields is null)
        {
            _fields = new Dictionary<string, ReadOnlyMemory<byte>?>(StringComparer.Ordinal);
            if (_whole is not null)
            {
                _fields[StateField.WholeState] = _whole[0].Value;
                _whole = null;
            }
        }

        Bytes += 64 + name.Length + (value?.Length ?? 0) - (_fields.TryGetValue(name, out var old) ? 64 + name.Length + (old?.Length ?? 0) : 0);
        _fields[name] = value;
    }
}
