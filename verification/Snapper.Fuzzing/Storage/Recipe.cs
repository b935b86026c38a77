using System.Globalization;
using System.Text;

namespace Snapper.Fuzzing.Storage;

/// <summary>
/// An input of the storage targets: a line that says which sample is written, then lines that break it, one each. Words are separated by spaces.
/// A line that does not fit the sample (no such file, no such offset) does nothing, so that lines can be taken out and put in freely.
/// </summary>
internal sealed record Recipe(int Sample, IReadOnlyList<string[]> Steps)
{
    /// <summary>Reads one; what cannot be read is left out.</summary>
    public static Recipe Read(byte[] input)
    {
        var lines = Encoding.UTF8.GetString(input).Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        var sample = 1;
        var steps = new List<string[]>();
        foreach (var line in lines)
        {
            var words = line.Split(' ');
            if (words[0] == "sample")
            {
                sample = (int)Number(words, 1);
            }
            else if (!line.StartsWith('#'))
            {
                steps.Add(words);
            }
        }

        return new Recipe(sample, steps);
    }

    /// <summary>Adds, takes out or replaces a line, or takes another sample.</summary>
    public static byte[] Mutate(byte[] input, byte[] other, Random random, Func<string> step)
    {
        var lines = Encoding.UTF8.GetString(input).Split('\n', StringSplitOptions.RemoveEmptyEntries).ToList();
        var theirs = Encoding.UTF8.GetString(other).Split('\n', StringSplitOptions.RemoveEmptyEntries);
        switch (random.Next(6))
        {
            case 0 when lines.Count > 2: lines.RemoveAt(random.Next(1, lines.Count)); break;
            case 1 when lines.Count > 1: lines[random.Next(1, lines.Count)] = step(); break;
            case 2 when theirs.Length > 1: lines.Add(theirs[random.Next(1, theirs.Length)]); break;
            case 3: lines[0] = $"sample {random.Next(1, 10_000)}"; break;
            default: lines.Add(step()); break;
        }

        return Encoding.UTF8.GetBytes(string.Join('\n', lines.Take(12)) + "\n");
    }

    /// <summary>The number at a place of a line; 0 when there is none.</summary>
    public static long Number(string[] words, int at) =>
        at < words.Length && long.TryParse(words[at], NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number) ? number : 0;
}
