namespace Snapper.RuleModel;

/// <summary>A small generator of its own: the same seed gives the same schedule on every runtime.</summary>
internal struct ModelRandom(ulong seed)
{
    private ulong _state = seed;

    /// <summary>64 mixed bits (splitmix64).</summary>
    public ulong Next()
    {
        _state += 0x9E3779B97F4A7C15UL;
        var z = _state;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9UL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBUL;
        return z ^ (z >> 31);
    }

    /// <summary>A number from 0 to <paramref name="below"/> - 1.</summary>
    public int Next(int below) => (int)(((Next() >> 32) * (ulong)below) >> 32);

    /// <summary>True once in <paramref name="chances"/> times.</summary>
    public bool OneIn(int chances) => Next(chances) == 0;
}
