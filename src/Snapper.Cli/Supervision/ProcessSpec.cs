using System.Diagnostics;
using Snapper.AspNetCore.Processes;

namespace Snapper.Cli.Supervision;

/// <summary>How to start one child.</summary>
internal sealed record ProcessSpec
{
    /// <summary>Variables that every program may need.</summary>
    public static IReadOnlySet<string> Common { get; } =
        new HashSet<string> { "PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH" };

    /// <summary>What messages call it, such as <c>worker w1</c>.</summary>
    public required string Name { get; init; }

    public required string Program { get; init; }

    /// <summary>Its arguments, each as it is.</summary>
    public required IReadOnlyList<string> Arguments { get; init; }

    /// <summary>Takes standard output and error.</summary>
    public required LogFile Log { get; init; }

    /// <summary>Where it starts; null: where we are.</summary>
    public string? WorkingDirectory { get; init; }

    /// <summary>Done before each start; null: nothing. An <see cref="IOException"/> or <see cref="UnauthorizedAccessException"/> counts as a start that failed.</summary>
    public Action? Prepare { get; init; }

    /// <summary>
    /// It runs code of others that asks for none of our settings: of our environment it gets <see cref="Common"/>.
    /// </summary>
    public bool HasOwnEnvironment { get; init; }

    /// <summary>Added to what it gets of our environment; a null value removes a variable.</summary>
    public IReadOnlyDictionary<string, string?> Environment { get; init; } = new Dictionary<string, string?>();

    /// <summary>The signal that the kernel sends it when we die without stopping it.</summary>
    public int SignalWhenOrphaned { get; init; } = Posix.Kill;

    /// <summary>How long it may take to end after SIGTERM before it gets SIGKILL.</summary>
    public TimeSpan StopWithin { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Exit codes by which it says that starting it again is of no use: it stays down.</summary>
    public IReadOnlyList<int> FinalExitCodes { get; init; } = [];

    /// <summary>
    /// The command: a shell that only redirects, then <c>setsid</c> and <c>setpriv</c> where the system has them, then the program; each replaces the one
    /// before, so the pid is the program's from the start. setsid: a Ctrl-C at the terminal goes to us alone, and we stop the children in order. setpriv:
    /// the kernel signals the child when we die, even by SIGKILL.
    /// </summary>
    public ProcessStartInfo ToStartInfo(ChildWrappers wrappers)
    {
        var start = new ProcessStartInfo("/bin/sh") { UseShellExecute = false };
        if (WorkingDirectory is not null) start.WorkingDirectory = WorkingDirectory;
        if (HasOwnEnvironment)
        {
            foreach (var name in start.Environment.Keys.Where(name => !Common.Contains(name)).ToArray())
            {
                start.Environment.Remove(name);
            }
        }

        foreach (var (name, value) in Environment) start.Environment[name] = value;
        var arguments = start.ArgumentList;
        arguments.Add("-c");
        arguments.Add("exec \"$@\" >>\"$0\" 2>&1 </dev/null");
        arguments.Add(Log.FilePath);
        if (wrappers.Setsid is not null) arguments.Add(wrappers.Setsid);
        if (wrappers.Setpriv is not null)
        {
            arguments.Add(wrappers.Setpriv);
            arguments.Add("--pdeathsig");
            arguments.Add(SignalWhenOrphaned == Posix.Terminate ? "TERM" : "KILL");
            arguments.Add("--");
        }

        arguments.Add(Program);
        foreach (var argument in Arguments) arguments.Add(argument);
        return start;
    }
}

/// <summary>util-linux's helpers; null where the system lacks one.</summary>
internal sealed record ChildWrappers(string? Setsid, string? Setpriv)
{
    /// <summary>What this machine has. A setpriv without <c>--pdeathsig</c> (busybox) counts as none.</summary>
    public static ChildWrappers Find(ExecutableFinder finder) => new(
        finder.Find("setsid", "SNAPPER_SETSID").FirstOrDefault(),
        finder.Find("setpriv", "SNAPPER_SETPRIV").FirstOrDefault(KnowsParentDeath));

    private static bool KnowsParentDeath(string setpriv)
    {
        using var process = Process.Start(new ProcessStartInfo(setpriv, ["--pdeathsig", "KILL", "--", "/bin/sh", "-c", "exit 0"]) { RedirectStandardError = true })!;
        process.StandardError.ReadToEnd();
        process.WaitForExit();
        return process.ExitCode == 0;
    }
}
