using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;

namespace Snapper.Cli.Doctor;

/// <summary>What earlier runs on the data directory left: processes, and the reason for which a worker ended.</summary>
internal static class RunChecks
{
    // How a worker's log begins the line with which it ends for good; see ServerLog.
    private static readonly (string Mark, string Fix)[] Ends =
    [
        ("LOST LOG.", FixHints.LostLog),
        ("DAMAGED ", FixHints.DamagedLog),
        ("OTHER PLACEMENT.", FixHints.OtherPlacement),
    ];

    /// <summary>A row for what still runs, and one for each worker that ended for good.</summary>
    public static IEnumerable<DoctorRow> All(string data, int workers)
    {
        yield return Earlier(data);
        for (var i = 1; i <= workers; i++)
        {
            if (LastEnd(data, $"w{i}") is { } row) yield return row;
        }
    }

    private static DoctorRow Earlier(string data)
    {
        const string check = "earlier run";
        var file = DataDirectory.RunStateIn(data);
        if (!File.Exists(file)) return new DoctorRow(Health.Good, check, "nothing is left of one");
        if (new RunStateFile(file).Read() is not { } state) return new DoctorRow(Health.Limited, check, $"{file} cannot be read; the next 'up' writes it anew", "look with 'ps' whether parts of it still run");
        if (state.Supervisor.IsAlive()) return new DoctorRow(Health.Good, check, $"runs now (pid {state.Supervisor.Pid})");
        var left = state.Children().Where(c => c.Process.IsAlive()).Select(c => $"{c.Name} (pid {c.Process.Pid})").ToArray();
        return left.Length == 0
            ? new DoctorRow(Health.Good, check, "was killed; nothing of it runs")
            : new DoctorRow(Health.Limited, check, $"was killed, and left {string.Join(", ", left)}", $"the next 'up' ends them; should one not end: {FixHints.Leftover}");
    }

    /// <summary>Not broken: what was put right since then is not known here; <see cref="LogChecks"/> looks at the log itself.</summary>
    private static DoctorRow? LastEnd(string data, string worker)
    {
        const int enough = 300;
        var last = new LogFile(Path.Combine(data, "logs", $"worker-{worker}.log")).Tail(1).FirstOrDefault();
        foreach (var (mark, fix) in Ends)
        {
            if (last?.IndexOf(mark, StringComparison.Ordinal) is not (>= 0 and var at)) continue;
            var line = last[at..];
            return new DoctorRow(Health.Limited, $"last end of {worker}", line.Length <= enough ? line : line[..enough] + "...", fix);
        }

        return null;
    }
}
