namespace Snapper.Runtime.Requests;

/// <summary>
/// The ids whose outcomes became known in one minute: 40 bytes each, in pieces that are never copied, and 5 to 11 bytes
/// of a table that finds them. Not thread-safe.
/// </summary>
/// <param name="minute">Which one.</param>
internal sealed class IdSet(long minute)
{
    private const int Piece = 128;
    private const int IndexBits = 26;
    private const uint IndexMask = (1u << IndexBits) - 1;
    private const int ShardBits = 4; // ids of one shard have these in common

    private readonly List<Entry[]> _pieces = [];

    // A slot holds six bits of the hash, by which most other ids are told apart without a look at the entry, and one
    // more than the number of the entry; 0: it is free.
    private uint[] _slots = new uint[64];

    public long Minute { get; } = minute;

    public int Count { get; private set; }

    public bool TryFind(UInt128 key, out KeptOutcome done)
    {
        var at = Find(key);
        if (_slots[at] == 0)
        {
            done = default;
            return false;
        }

        ref var entry = ref EntryOf(_slots[at]);
        done = new KeptOutcome(new UInt128(entry.HashUpper, entry.HashLower), entry.Sequence);
        return true;
    }

    /// <returns>False: it replaces what was known of the id.</returns>
    public bool Add(UInt128 key, in KeptOutcome outcome)
    {
        var at = Find(key);
        var isNew = _slots[at] == 0;
        if (isNew)
        {
            if (Count % Piece == 0)
            {
                _pieces.Add(new Entry[Piece]);
            }

            _slots[at] = Slot(key, Count++);
        }

        EntryOf(_slots[at]) = new Entry(key, outcome);
        if (isNew && Count > _slots.Length / 4 * 3)
        {
            Grow();
        }

        return isNew;
    }

    private void Grow()
    {
        _slots = new uint[2 * _slots.Length];
        for (var i = 0; i < Count; i++)
        {
            var key = _pieces[i / Piece][i % Piece].Key;
            _slots[Find(key)] = Slot(key, i);
        }
    }

    private static uint Slot(UInt128 key, int index) => Tag(key) | (uint)(index + 1);

    private static uint Tag(UInt128 key) => (uint)(key >> 64) << IndexBits;

    /// <returns>The slot of the id, or the free one where it belongs.</returns>
    private int Find(UInt128 key)
    {
        var mask = _slots.Length - 1;
        var tag = Tag(key);
        for (var at = (int)((ulong)key >> ShardBits) & mask; ; at = (at + 1) & mask)
        {
            var slot = _slots[at];
            if (slot == 0 || ((slot & ~IndexMask) == tag && EntryOf(slot).Key == key))
            {
                return at;
            }
        }
    }

    private ref Entry EntryOf(uint slot)
    {
        var index = (int)(slot & IndexMask) - 1;
        return ref _pieces[index / Piece][index % Piece];
    }

    // Not of UInt128, whose alignment would make 48 bytes of it.
    private readonly struct Entry(UInt128 key, in KeptOutcome outcome)
    {
        private readonly ulong _keyUpper = (ulong)(key >> 64);
        private readonly ulong _keyLower = (ulong)key;

        public readonly ulong HashUpper = (ulong)(outcome.RequestHash >> 64);
        public readonly ulong HashLower = (ulong)outcome.RequestHash;
        public readonly long Sequence = outcome.Sequence;

        public UInt128 Key => new(_keyUpper, _keyLower);
    }
}
