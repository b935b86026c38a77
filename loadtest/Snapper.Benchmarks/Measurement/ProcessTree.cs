using System.Globalization;

namespace Snapper.Benchmarks.Measurement;

/// <summary>Finds the processes that a process has started, and theirs.</summary>
public static class ProcessTree
{
    /// <summary>The process and all its living descendants, without servers of the compiler that a build left running for the next build.</summary>
    public static IReadOnlyList<ProcStat> Of(int rootId)
    {
        var all = new List<ProcStat>();
        foreach (var directory in Directory.EnumerateDirectories("/proc"))
        {
            if (int.TryParse(Path.GetFileName(directory.AsSpan()), NumberStyles.None, CultureInfo.InvariantCulture, out var id)
                && ProcStat.TryRead(id) is { } process)
            {
                all.Add(process);
            }
        }

        return Descendants(rootId, all).Where(static process => !IsBuildServer(process.ProcessId)).ToList();
    }

    private static bool IsBuildServer(int id)
    {
        try
        {
            var command = File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"/proc/{id}/cmdline"));
            return command.Contains("VBCSCompiler", StringComparison.Ordinal) || command.Contains("/nodemode:", StringComparison.OrdinalIgnoreCase);
        }
        catch (IOException)
        {
            return false;
        }
    }

    /// <summary>The same over a given list of processes.</summary>
    internal static IReadOnlyList<ProcStat> Descendants(int rootId, IReadOnlyList<ProcStat> all)
    {
        var found = new List<ProcStat>();
        foreach (var process in all)
        {
            if (process.ProcessId == rootId)
            {
                found.Add(process);
            }
        }

        for (var next = 0; next < found.Count; next++)
        {
            foreach (var process in all)
            {
                if (process.ParentId == found[next].ProcessId)
                {
                    found.Add(process);
                }
            }
        }

        return found;
    }
}
