namespace Snapper.Testing.Histories;

/// <summary>
/// The longest list that a committed transaction has read at one key. In a correct system every other read is a prefix of it, so a read
/// is kept as a length; only reads that fit nowhere are kept whole. That is what makes a history of a million transactions fit in memory.
/// </summary>
internal sealed class KeyTrunk(string name)
{
    private long[] _values = [];

    public string Name { get; } = name;

    public int Length { get; private set; }

    /// <summary>The read operation that returned the longest list; -1 when nobody has read the key.</summary>
    public int LongestRead { get; private set; } = -1;

    public ReadOnlySpan<long> Values => _values.AsSpan(0, Length);

    /// <summary>Takes a list in when it is a prefix of the trunk or the trunk is a prefix of it.</summary>
    /// <returns>False when it fits neither way; the trunk is then unchanged.</returns>
    public bool TryFit(ReadOnlySpan<long> list, int readOperation)
    {
        var common = Math.Min(list.Length, Length);
        if (!list[..common].SequenceEqual(_values.AsSpan(0, common)))
        {
            return false;
        }

        if (list.Length > Length)
        {
            if (list.Length > _values.Length)
            {
                Array.Resize(ref _values, Math.Max(list.Length, Math.Min(2 * _values.Length, Array.MaxLength)));
            }

            list[Length..].CopyTo(_values.AsSpan(Length));
            Length = list.Length;
            LongestRead = readOperation;
        }

        if (LongestRead < 0)
        {
            LongestRead = readOperation;
        }

        return true;
    }
}
