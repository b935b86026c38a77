using System.Numerics;

namespace Snapper.Benchmarks.Statistics;

/// <summary>
/// A seeded generator (xoshiro256**, seeded by splitmix64) that costs a few nanoseconds and gives the same numbers in every version of .NET,
/// which <see cref="Random"/> does not promise. A mutable struct: pass it by reference.
/// </summary>
public struct FastRandom
{
    private ulong s0;
    private ulong s1;
    private ulong s2;
    private ulong s3;

    /// <param name="seed">Any number; the same one gives the same sequence.</param>
    public FastRandom(ulong seed)
    {
        s0 = SplitMix(ref seed);
        s1 = SplitMix(ref seed);
        s2 = SplitMix(ref seed);
        s3 = SplitMix(ref seed);
    }

    /// <summary>64 random bits.</summary>
    public ulong NextBits()
    {
        var result = BitOperations.RotateLeft(s1 * 5, 7) * 9;
        var t = s1 << 17;
        s2 ^= s0;
        s3 ^= s1;
        s1 ^= s2;
        s0 ^= s3;
        s2 ^= t;
        s3 = BitOperations.RotateLeft(s3, 45);
        return result;
    }

    /// <summary>A number from 0 (inclusive) to <paramref name="bound"/> (exclusive, at least 1).</summary>
    public int Next(int bound)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(bound, 1);

        // Multiply-shift; the bias is below 2^-32 for bounds of this size.
        return (int)Math.BigMul(NextBits(), (ulong)bound, out _); // the high half
    }

    /// <summary>A number from 0 (inclusive) to 1 (exclusive).</summary>
    public double NextDouble() => (NextBits() >> 11) * (1.0 / (1UL << 53));

    private static ulong SplitMix(ref ulong state)
    {
        var z = state += 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
}
