namespace Snapper.Simulation.Core;

/// <summary>
/// Chance under a seed (SplitMix64): the same numbers on every machine and in every version of .NET. Concerns draw from forks of their own,
/// so that leaving one out does not change what the others draw: that is what makes a failing scenario shrink.
/// </summary>
public sealed class SeededChance
{
    private ulong _state;

    private SeededChance(ulong seed) => _state = seed;

    /// <summary>Chance of its own for a concern, the same whatever was drawn here before.</summary>
    internal static SeededChance For(ulong seed, ChanceOf concern, uint number = 0) =>
        new(Mix(Mix(seed + 0x9E3779B97F4A7C15) ^ Mix(((ulong)concern << 32) + number + 1)));

    /// <summary>One for each of so many clients, whose number is its place.</summary>
    internal static SeededChance[] OfClients(ulong seed, ChanceOf concern, int clients)
    {
        var chances = new SeededChance[clients];
        for (var client = 0; client < clients; client++)
        {
            chances[client] = For(seed, concern, (uint)client);
        }

        return chances;
    }

    /// <summary>64 random bits.</summary>
    public ulong NextBits()
    {
        _state += 0x9E3779B97F4A7C15;
        return Mix(_state);
    }

    /// <summary>0 to <paramref name="below"/> - 1; at least 1.</summary>
    public int Next(int below) => (int)(((NextBits() >> 32) * (ulong)below) >> 32);

    /// <summary>Both ends included.</summary>
    public int Between(int low, int high) => low + Next(high - low + 1);

    /// <summary>Both ends included.</summary>
    public long Between(long low, long high) => low + (long)(NextBits() % (ulong)(high - low + 1));

    /// <summary>True so many times in 100.</summary>
    public bool Percent(int percent) => percent > 0 && Next(100) < percent;

    /// <summary>True so many times in 1,000.</summary>
    public bool PerMille(int perMille) => perMille > 0 && Next(1000) < perMille;

    private static ulong Mix(ulong z)
    {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
}
