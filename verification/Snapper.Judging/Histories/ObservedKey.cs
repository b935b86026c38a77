namespace Snapper.Judging.Histories;

/// <summary>
/// One key and all lists that were read there, as a few branches. In a correct system every read is a prefix of the longest one, so there is one branch and
/// a read is kept as a length: that is what makes a history of a million transactions fit in memory. Lists that fork make further branches.
/// </summary>
internal sealed class ObservedKey(string name)
{
    /// <summary>A list is compared with so many branches before it becomes one of its own: a bound for the time that very broken histories take.</summary>
    private const int MaxCompared = 32;

    private readonly List<Branch> _branches = [];

    public string Name { get; } = name;

    /// <summary>What the operations on the key are; <see cref="KeySort.Undecided"/> while all were reads without a result.</summary>
    public KeySort Sort { get; set; }

    public IReadOnlyList<Branch> Branches => _branches;

    /// <summary>Finds or makes the branch of which the list is a prefix.</summary>
    /// <param name="array">The list is its beginning.</param>
    /// <param name="length">Of the list.</param>
    /// <param name="readOperation">The read that returned it.</param>
    /// <param name="committed">Only what committed transactions saw says something about the order of versions.</param>
    /// <returns>The index of the branch.</returns>
    public int Place(long[] array, int length, int readOperation, bool committed)
    {
        for (var index = 0; index < Math.Min(_branches.Count, MaxCompared); index++)
        {
            if (_branches[index].TryFit(array, length, readOperation, committed))
            {
                return index;
            }
        }

        var branch = new Branch();
        branch.TryFit(array, length, readOperation, committed);
        _branches.Add(branch);
        return _branches.Count - 1;
    }

    /// <summary>One list and its prefixes.</summary>
    internal sealed class Branch
    {
        private long[] _values = [];
        private int _length;

        // An array that is handed in again, and how much of it has been compared before.
        private long[]? _shared;
        private int _compared;

        /// <summary>The length of the longest prefix that a committed transaction read.</summary>
        public int CommittedLength { get; private set; }

        /// <summary>The committed read that returned <see cref="Committed"/>; -1 when there is none.</summary>
        public int LongestRead { get; private set; } = -1;

        public ReadOnlySpan<long> Values => _values.AsSpan(0, _length);

        public ReadOnlySpan<long> Committed => _values.AsSpan(0, CommittedLength);

        /// <summary>Takes a list in when it is a prefix of the branch or the branch is a prefix of it.</summary>
        public bool TryFit(long[] array, int length, int readOperation, bool committed)
        {
            var common = Math.Min(length, _length);
            var known = ReferenceEquals(array, _shared) ? Math.Min(_compared, common) : 0;
            if (!array.AsSpan(known, common - known).SequenceEqual(_values.AsSpan(known, common - known)))
            {
                return false;
            }

            if (length > _length)
            {
                if (length > _values.Length)
                {
                    Array.Resize(ref _values, Math.Max(length, Math.Min(2 * _values.Length, Array.MaxLength)));
                }

                array.AsSpan(_length, length - _length).CopyTo(_values.AsSpan(_length));
                _length = length;
            }

            _compared = ReferenceEquals(array, _shared) ? Math.Max(_compared, length) : length;
            _shared = length < array.Length ? array : null;
            if (committed && (LongestRead < 0 || length > CommittedLength))
            {
                CommittedLength = length;
                LongestRead = readOperation;
            }

            return true;
        }
    }
}

/// <summary>What a key is.</summary>
internal enum KeySort : byte
{
    Undecided,
    List,
    Register,
}
