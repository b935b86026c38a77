using System.Text;

namespace Snapper.Fuzzing.Engine;

/// <summary>Ways to break bytes and texts that every target uses.</summary>
internal static class Pieces
{
    private static readonly byte[][] Awkward =
    [
        [0], [0xFF], [0x80], [0x7F], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xEF, 0xBB, 0xBF], [0xFF, 0xFE],
        [0xFF, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0x7F], [0, 0, 0, 0x80],
        [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    ];

    /// <summary>One of several.</summary>
    public static T One<T>(this Random random, params ReadOnlySpan<T> of) => of[random.Next(of.Length)];

    /// <summary>True that often.</summary>
    public static bool Percent(this Random random, int percent) => random.Next(100) < percent;

    /// <summary>Changes bytes from a position on: flips, overwrites, takes out, doubles, moves, puts in what is awkward or another input's.</summary>
    public static byte[] Break(byte[] input, byte[] other, Random random, int from = 0)
    {
        var bytes = new List<byte>(input);
        for (var changes = 1 + random.Next(3); changes > 0; changes--)
        {
            if (bytes.Count <= from)
            {
                bytes.AddRange(random.One(Awkward));
                continue;
            }

            var at = from + random.Next(bytes.Count - from);
            var size = Math.Min(random.Next(1, random.Percent(80) ? 9 : 200), bytes.Count - at);
            switch (random.Next(9))
            {
                case 0: bytes[at] ^= (byte)(1 << random.Next(8)); break;
                case 1: bytes[at] = (byte)random.Next(256); break;
                case 2: bytes[at] += (byte)random.One(1, -1, 127, -128); break;
                case 3: bytes.RemoveRange(at, size); break;
                case 4: bytes.InsertRange(at, bytes.GetRange(at, size)); break;
                case 5: bytes.InsertRange(from + random.Next(bytes.Count - from), bytes.GetRange(at, size)); break;
                case 6: bytes.InsertRange(at, random.One(Awkward)); break;
                case 7 when other.Length > from:
                    var start = from + random.Next(other.Length - from);
                    bytes.InsertRange(at, other[start..Math.Min(other.Length, start + random.Next(1, 100))]);
                    break;
                case 8 when random.Percent(30): bytes.RemoveRange(at, bytes.Count - at); break;
                default:
                    var awkward = random.One(Awkward);
                    bytes.RemoveRange(at, Math.Min(awkward.Length, bytes.Count - at));
                    bytes.InsertRange(at, awkward);
                    break;
            }
        }

        return [.. bytes];
    }

    /// <summary>A whole number as text: small, at a border, beyond every range, or none.</summary>
    public static string Number(Random random) => random.Next(4) == 0
        ? random.Next(100).ToString(System.Globalization.CultureInfo.InvariantCulture)
        : random.One(
            "0", "1", "-1", "2147483647", "2147483648", "-2147483648", "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808",
            "-9223372036854775808", "18446744073709551615", "18446744073709551616", "1e3", "1.5", "007", "+5", " 5", "٣", "NaN", "Infinity", "0x10", "");

    /// <summary>A text that names are not made of, or are.</summary>
    public static string Word(Random random) => random.Next(3) == 0
        ? new string((char)random.Next(33, 126), random.One(1, 2, 63, 64, 65, 128, 129, 512, 513, 5000))
        : random.One(
            "alice", "a/b", "%", "%2F", "..", ".", "é", "🏦", "\u0001", "\u007f", "{}", "[1]", "'", "\"", "\\", " ", "\t", "null", "true", "--data", "=", ";", "*", "\ufeff", "\u2028", "a\u0301", "ﬀ", "İ");

    /// <summary>Bytes of a text.</summary>
    public static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);
}
