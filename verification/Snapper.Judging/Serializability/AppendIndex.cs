using Snapper.Judging.Histories;

namespace Snapper.Judging.Serializability;

/// <summary>
/// Finds the append of a value to a key: one open hash table per key, all in one array, so that the elements of one list are looked up near each other and a large
/// history costs no more per element than a small one.
/// </summary>
internal sealed class AppendIndex
{
    private readonly History _history;

    // The table of key k begins at _first[k]; its length is a power of two, or 0. An entry is an append's operation + 1; 0: free.
    private readonly int[] _first;
    private readonly int[] _entries;

    /// <exception cref="InvalidHistoryException">Two appends to a key have the same value.</exception>
    public AppendIndex(History history, int[] transactionOf)
    {
        _history = history;
        _first = new int[history.KeyCount + 1];
        var keys = history.OperationKeys;
        for (var operation = 0; operation < keys.Length; operation++)
        {
            _first[keys[operation] + 1] += IsAppend(operation) ? 1 : 0;
        }

        for (var key = 0; key < history.KeyCount; key++)
        {
            var appends = _first[key + 1];
            _first[key + 1] = _first[key] + (appends == 0 ? 0 : (int)System.Numerics.BitOperations.RoundUpToPowerOf2((uint)appends * 3 / 2 + 1));
        }

        _entries = new int[_first[^1]];
        for (var operation = 0; operation < keys.Length; operation++)
        {
            if (!IsAppend(operation))
            {
                continue;
            }

            var slot = Slot(keys[operation], history.OperationValues[operation]);
            if (_entries[slot] != 0)
            {
                throw new InvalidHistoryException(
                    $"{history.Place(transactionOf[_entries[slot] - 1])} and {history.Place(transactionOf[operation])} both append {history.OperationValues[operation]} to " +
                    $"{history.Key(keys[operation]).Name}; the values of a key must differ.");
            }

            _entries[slot] = operation + 1;
        }
    }

    /// <summary>The operation that appended the value; -1 when nobody did.</summary>
    public int Find(int key, long value) => _first[key] == _first[key + 1] ? -1 : _entries[Slot(key, value)] - 1;

    private bool IsAppend(int operation) => _history.OperationIsWrite[operation] && !_history.IsRegister(operation);

    /// <summary>Where the value is, or the free place where it would be.</summary>
    private int Slot(int key, long value)
    {
        var mask = _first[key + 1] - _first[key] - 1;
        var values = _history.OperationValues;

        // Values are often consecutive; multiplying spreads those that are multiples of something.
        for (var place = (int)((ulong)value * 0x9E3779B97F4A7C15 >> 33) & mask; ; place = (place + 1) & mask)
        {
            var entry = _entries[_first[key] + place];
            if (entry == 0 || values[entry - 1] == value)
            {
                return _first[key] + place;
            }
        }
    }
}
