using System.Diagnostics.CodeAnalysis;
using Snapper.Protocol.Identity;

namespace Snapper.Runtime.Execution;

/// <summary>
/// The actors that an executor has in memory, by key and in a ring, with an estimate of their bytes. While these are
/// more than the limit, a hand goes round the ring: what it finds unused twice in a row may leave (the CLOCK
/// algorithm).
/// </summary>
/// <param name="limit">Bytes that the actors should not exceed, estimated.</param>
internal sealed class ResidentActors(long limit)
{
    /// <summary>
    /// Of an actor without a state: its cell, its machine, its key, and its places here (docs/benchmarks.md,
    /// <c>memory</c>).
    /// </summary>
    public const int BytesOfAnActor = 700;

    /// <summary>Objects take more room than the JSON that they are read from.</summary>
    public const int BytesPerByteOfState = 3;

    private readonly Dictionary<ActorKey, ActorCell> _cells = [];
    private ActorCell? _hand;
    private long _bytes;
    private int _count;

    /// <summary>How many; from any thread.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Their estimated bytes; from any thread.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>All of them, in no order.</summary>
    public Dictionary<ActorKey, ActorCell>.ValueCollection All => _cells.Values;

    /// <summary>They have more than they should.</summary>
    public bool IsOver => _bytes > limit;

    public bool TryGet(ActorKey key, [MaybeNullWhen(false)] out ActorCell cell) => _cells.TryGetValue(key, out cell);

    /// <summary>Adds an actor, in the place of the cell that it had; the hand comes to it last.</summary>
    public void Add(ActorCell cell)
    {
        if (_cells.TryGetValue(cell.Key, out var before))
        {
            Remove(before);
        }

        _cells.Add(cell.Key, cell);
        _hand ??= cell;
        (cell.Next, cell.Previous) = (_hand, _hand.Previous ?? cell);
        (cell.Previous.Next, _hand.Previous) = (cell, cell);
        Account(BytesOfAnActor);
    }

    public void Remove(ActorCell cell)
    {
        _cells.Remove(cell.Key);
        _hand = cell.Next == cell ? null : _hand == cell ? cell.Next : _hand;
        (cell.Previous!.Next, cell.Next!.Previous) = (cell.Next, cell.Previous);
        (cell.Next, cell.Previous) = (null, null);
        Account(-BytesOfAnActor - ((long)BytesPerByteOfState * cell.StateBytes));
    }

    /// <summary>The actor's state has this size as JSON now. Of one that has left nothing is counted.</summary>
    public void Resize(ActorCell cell, int stateBytes)
    {
        if (cell.Next is not null)
        {
            Account((long)BytesPerByteOfState * (stateBytes - cell.StateBytes));
        }

        cell.StateBytes = stateBytes;
    }

    /// <summary>The actor under the hand, which goes on to the next; null: there is none.</summary>
    public ActorCell? Advance()
    {
        var cell = _hand;
        _hand = cell?.Next;
        return cell;
    }

    private void Account(long bytes)
    {
        Volatile.Write(ref _bytes, _bytes + bytes);
        Volatile.Write(ref _count, _cells.Count);
    }
}
