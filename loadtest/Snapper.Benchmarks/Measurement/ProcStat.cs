using System.Globalization;

namespace Snapper.Benchmarks.Measurement;

/// <summary>What <c>/proc/PID/stat</c> says about a process. Linux only, as is everything in this folder.</summary>
/// <param name="ProcessId">Its id.</param>
/// <param name="Name">Its short name, at most 15 characters.</param>
/// <param name="ParentId">Its parent.</param>
/// <param name="CpuTicks">User and system time in clock ticks.</param>
public readonly record struct ProcStat(int ProcessId, string Name, int ParentId, long CpuTicks)
{
    /// <summary>Clock ticks per second; 100 on every Linux that .NET runs on (USER_HZ is part of the kernel's interface).</summary>
    public const long TicksPerSecond = 100;

    /// <summary>CPU time in microseconds, in steps of 10,000.</summary>
    public long CpuMicroseconds => CpuTicks * (1_000_000 / TicksPerSecond);

    /// <summary>Reads a process; null when there is none of that id.</summary>
    public static ProcStat? TryRead(int processId)
    {
        try
        {
            return Parse(File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"/proc/{processId}/stat")));
        }
        catch (Exception gone) when (gone is FileNotFoundException or DirectoryNotFoundException or IOException)
        {
            return null;
        }
    }

    /// <summary>Reads a process that must be there.</summary>
    /// <exception cref="InvalidOperationException">It has ended.</exception>
    public static ProcStat Read(int processId) =>
        TryRead(processId) ?? throw new InvalidOperationException($"Process {processId} is measured, but it has ended.");

    /// <summary>Parses the line. The name stands in parentheses and may hold blanks and parentheses itself.</summary>
    /// <exception cref="FormatException">Not such a line.</exception>
    public static ProcStat Parse(string line)
    {
        var open = line.IndexOf('(', StringComparison.Ordinal);
        var close = line.LastIndexOf(')');
        if (open < 1 || close < open)
        {
            throw new FormatException($"Not a line of /proc/PID/stat: \"{line}\".");
        }

        // After the name: state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime ...
        var fields = line[(close + 1)..].Split(' ', StringSplitOptions.RemoveEmptyEntries);
        if (fields.Length < 13)
        {
            throw new FormatException($"A line of /proc/PID/stat with too few fields: \"{line}\".");
        }

        return new ProcStat(
            int.Parse(line.AsSpan(0, open), NumberStyles.AllowTrailingWhite, CultureInfo.InvariantCulture),
            line[(open + 1)..close],
            int.Parse(fields[1], CultureInfo.InvariantCulture),
            long.Parse(fields[11], CultureInfo.InvariantCulture) + long.Parse(fields[12], CultureInfo.InvariantCulture));
    }

    /// <summary>Resident memory in bytes, from <c>/proc/PID/status</c>.</summary>
    /// <exception cref="InvalidOperationException">The process has ended.</exception>
    public static long ResidentBytes(int processId)
    {
        foreach (var line in File.ReadLines(string.Create(CultureInfo.InvariantCulture, $"/proc/{processId}/status")))
        {
            if (line.StartsWith("VmRSS:", StringComparison.Ordinal))
            {
                return ParseKilobytes(line);
            }
        }

        throw new InvalidOperationException($"Process {processId} has no resident memory: it has ended.");
    }

    /// <summary>The bytes of a line such as <c>VmRSS:     1234 kB</c>.</summary>
    internal static long ParseKilobytes(string line)
    {
        var value = line[(line.IndexOf(':', StringComparison.Ordinal) + 1)..].Trim();
        if (!value.EndsWith(" kB", StringComparison.Ordinal))
        {
            throw new FormatException($"Not a line of kilobytes: \"{line}\".");
        }

        return long.Parse(value[..^3], CultureInfo.InvariantCulture) * 1024;
    }
}
