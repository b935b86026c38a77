namespace Snapper.Protocol.Identity;

/// <summary>A hash that is the same in every process and version (unlike <see cref="string.GetHashCode()"/>).</summary>
public static class StableHash
{
    private const ulong Offset = 14695981039346656037;
    private const ulong Prime = 1099511628211;

    /// <summary>64-bit FNV-1a of the two texts with a separator that neither can hide.</summary>
    public static ulong Of(ReadOnlySpan<char> first, ReadOnlySpan<char> second)
    {
        var hash = Add(Offset, first);
        hash = (hash ^ 0x1FFFF) * Prime;
        hash = Add(hash, second);

        // FNV mixes its low bits badly for short texts that differ in the last character only.
        hash ^= hash >> 32;
        hash *= 0xD6E8FEB86659FD93;
        return hash ^ (hash >> 32);
    }

    private static ulong Add(ulong hash, ReadOnlySpan<char> text)
    {
        foreach (var c in text)
        {
            hash = (hash ^ c) * Prime;
        }

        return hash;
    }
}
