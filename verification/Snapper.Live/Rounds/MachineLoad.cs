using System.Globalization;

namespace Snapper.Live.Rounds;

/// <summary>
/// How busy the machine is. Bounds are promised to those whose processes get processor time: a bound that is missed while many more threads want to run than
/// there are cores says nothing about the product, and is reported without failing the run. What must never happen must not happen then either.
/// </summary>
internal static class MachineLoad
{
    /// <summary>The clients, the system and its servers alone stay below it on two cores.</summary>
    public const double Crowded = 4;

    /// <summary>What is said of a bound that was missed while the machine was crowded; null: it was not.</summary>
    /// <param name="late">What took too long.</param>
    public static string? Excuse(string late) => PerCore() is > Crowded and var load
        ? string.Create(CultureInfo.InvariantCulture, $" LATE while {load:0.0} threads per core wanted to run: {late}")
        : null;

    /// <summary>Threads that wanted to run in the last minute, on average, per core; 0 where the system does not tell.</summary>
    public static double PerCore()
    {
        const string told = "/proc/loadavg";
        return File.Exists(told) && double.TryParse(File.ReadAllText(told).Split(' ')[0], NumberStyles.Float, CultureInfo.InvariantCulture, out var load)
            ? load / Environment.ProcessorCount
            : 0;
    }
}
