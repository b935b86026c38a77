using System.Diagnostics;
using System.Globalization;

namespace Snapper.Load.Running;

/// <summary>
/// How much of the cores' time the machine under us gave to others: a virtual machine's cores stand still then, whoever runs on them, and no program can be punctual. Linux tells it in ticks
/// of 10 ms, over all cores.
/// </summary>
internal sealed class StolenTime
{
    private const int TicksPerSecond = 100;
    private const int StolenField = 8; // "cpu", user, nice, system, idle, iowait, irq, softirq, steal

    private readonly long _begin = Stopwatch.GetTimestamp();
    private readonly long? _ticks = Read("/proc/stat");

    /// <summary>Percent of the cores' time since this was made; null: this system does not tell.</summary>
    public double? Percent() =>
        _ticks is { } before && Read("/proc/stat") is { } now
            ? 100.0 * (now - before) / TicksPerSecond / (Stopwatch.GetElapsedTime(_begin).TotalSeconds * Environment.ProcessorCount)
            : null;

    /// <summary>The same as the kernel counts it, over all cores; null: it does not tell.</summary>
    public long? Ticks() => _ticks is { } before && Read("/proc/stat") is { } now ? now - before : null;

    /// <summary>In words, for reports.</summary>
    public static string Describe(double? percent) =>
        percent is { } known ? string.Create(CultureInfo.InvariantCulture, $"{known:0.##} % of the cores' time taken by the machine's other guests") : "no word about time taken by the machine's other guests";

    /// <summary>Ticks in the file's first line; null: it is not there, or has no such field.</summary>
    internal static long? Read(string path)
    {
        if (!File.Exists(path))
        {
            return null;
        }

        using var lines = new StreamReader(path);
        var fields = (lines.ReadLine() ?? "").Split(' ', StringSplitOptions.RemoveEmptyEntries);
        return fields.Length > StolenField && fields[0] == "cpu" && long.TryParse(fields[StolenField], NumberStyles.None, CultureInfo.InvariantCulture, out var ticks) ? ticks : null;
    }
}
