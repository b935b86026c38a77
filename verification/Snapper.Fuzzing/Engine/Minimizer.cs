using System.Text;

namespace Snapper.Fuzzing.Engine;

/// <summary>Makes a failing input smaller as long as it fails in the same way: takes pieces out, large ones first.</summary>
internal static class Minimizer
{
    private const int TriesMax = 600;

    /// <summary>The smaller input.</summary>
    /// <param name="input">Fails.</param>
    /// <param name="byLines">Takes out whole lines; else bytes.</param>
    /// <param name="fails">Whether a candidate still fails so.</param>
    public static byte[] Shrink(byte[] input, bool byLines, Func<byte[], bool> fails)
    {
        if (!byLines)
        {
            return Shrink([.. input], static bytes => [.. bytes], fails);
        }

        var lines = Encoding.UTF8.GetString(input).Split('\n').ToList();
        return Shrink(lines, static kept => Encoding.UTF8.GetBytes(string.Join('\n', kept)), fails);
    }

    private static byte[] Shrink<T>(List<T> parts, Func<List<T>, byte[]> join, Func<byte[], bool> fails)
    {
        var tries = 0;
        for (var size = Math.Max(1, parts.Count / 2); ; size = Math.Max(1, size / 2))
        {
            var smaller = false;
            for (var at = 0; at < parts.Count && tries < TriesMax;)
            {
                var candidate = new List<T>(parts);
                candidate.RemoveRange(at, Math.Min(size, parts.Count - at));
                tries++;
                if (candidate.Count > 0 && fails(join(candidate)))
                {
                    parts = candidate;
                    smaller = true;
                }
                else
                {
                    at += size;
                }
            }

            if (tries >= TriesMax || (size == 1 && !smaller))
            {
                return join(parts);
            }
        }
    }
}
