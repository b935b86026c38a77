using System.Globalization;

namespace Snapper.Simulation.Running;

/// <summary>What the numbers of a scenario's text may be: a run beyond would end in an exception somewhere, or not at all.</summary>
internal static class ScenarioLimits
{
    private const int DayMs = 24 * 60 * 60 * 1000;

    /// <summary>The value.</summary>
    /// <exception cref="FormatException">It is out of its range; says which.</exception>
    public static int Check(string name, int value)
    {
        var (least, most) = Of(name);
        var none = value == 0 && name is "state" or "numbers"; // no small limit
        return (value >= least && value <= most) || none
            ? value
            : throw new FormatException(string.Create(CultureInfo.InvariantCulture, $"'{name}' of a scenario is {least} to {most}, not {value}."));
    }

    private static (int Least, int Most) Of(string name) => name switch
    {
        "workload" => (0, (int)WorkloadKind.Bank),
        "executors" or "coordinators" => (1, 64),
        "open" => (1, 16),
        "batch" => (1, 10_000),
        "clients" or "each" or "actors" => (1, 10_000),
        "steps" => (1, 1_000),
        "pact" or "abort" or "decides" or "unruly" or "misdeclared" or "delay" or "keyed" => (0, 100),
        "requests" or "storage" => (0, 1_000),
        "checkpoint" => (10, 3_600_000),
        "state" => (64, 1 << 20),
        "files" or "remembers" => (0, 1),
        "numbers" => (8, 1_000_000),
        "offset" => (0, 59_999),
        "segment" => (100, 1 << 20),
        "stepped" => (0, 100),
        "mark" => (0, 1),
        "sweep" or "faults" => (0, DayMs),
        "room" => (0, 1_000_000),
        "callers" => (0, 10_000),
        _ => throw new FormatException($"A scenario has no '{name}'."),
    };
}
