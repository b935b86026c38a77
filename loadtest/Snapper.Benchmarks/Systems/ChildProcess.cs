using System.Diagnostics;
using System.Runtime.InteropServices;
using Snapper.Benchmarks.Measurement;

namespace Snapper.Benchmarks.Systems;

/// <summary>A server that the benchmark started and ends, with all that it started itself. Keeps the last lines it printed, for error messages.</summary>
public sealed partial class ChildProcess : IAsyncDisposable
{
    private const int LinesMax = 40;
    private const int SignalTerminate = 15;
    private static readonly TimeSpan StopDeadline = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan OrphanDeadline = TimeSpan.FromSeconds(5);

    private readonly Process process;
    private readonly Queue<string> lines = new();
    private readonly Lock gate = new();
    private readonly string name;
    private Func<string, bool>? awaited;
    private TaskCompletionSource<string>? found;

    private ChildProcess(string name, Process process)
    {
        this.name = name;
        this.process = process;
    }

    /// <summary>Its process id.</summary>
    public int Id => process.Id;

    /// <summary>True when it is no more.</summary>
    public bool HasExited => process.HasExited;

    /// <summary>Starts a program.</summary>
    /// <param name="name">What error messages call it.</param>
    /// <param name="program">Path.</param>
    /// <param name="arguments">Its arguments.</param>
    /// <param name="environment">Variables to add; a null value removes one.</param>
    /// <param name="workingDirectory">Where it runs; null: here.</param>
    public static ChildProcess Start(
        string name,
        string program,
        IEnumerable<string> arguments,
        IReadOnlyDictionary<string, string?>? environment = null,
        string? workingDirectory = null)
    {
        var start = new ProcessStartInfo(program)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            RedirectStandardInput = true,
            WorkingDirectory = workingDirectory ?? Environment.CurrentDirectory,
        };
        foreach (var argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        foreach (var (variable, value) in environment ?? new Dictionary<string, string?>())
        {
            start.Environment[variable] = value;
        }

        var child = new ChildProcess(name, new Process { StartInfo = start });
        child.process.OutputDataReceived += (_, line) => child.OnLine(line.Data);
        child.process.ErrorDataReceived += (_, line) => child.OnLine(line.Data);
        child.process.Start();
        child.process.BeginOutputReadLine();
        child.process.BeginErrorReadLine();
        return child;
    }

    /// <summary>Writes a line to its input.</summary>
    public async Task WriteLineAsync(string line)
    {
        await process.StandardInput.WriteLineAsync(line);
        await process.StandardInput.FlushAsync();
    }

    /// <summary>Waits for a line that it prints, from now or among the last ones.</summary>
    /// <exception cref="InvalidOperationException">It ended, or did not print the line in time.</exception>
    public async Task<string> WaitForLineAsync(Func<string, bool> isIt, TimeSpan deadline, string what)
    {
        Task<string> line;
        lock (gate)
        {
            if (lines.FirstOrDefault(isIt) is { } already)
            {
                return already;
            }

            awaited = isIt;
            found = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
            line = found.Task;
        }

        var exit = process.WaitForExitAsync();
        await Task.WhenAny(line, exit, Task.Delay(deadline));
        if (line.IsCompletedSuccessfully)
        {
            return await line;
        }

        throw Failure($"did not print {what} within {deadline.TotalSeconds:0} s");
    }

    /// <summary>Polls a condition until it holds.</summary>
    /// <exception cref="InvalidOperationException">It ended, or the condition did not come true in time.</exception>
    public async Task WaitUntilAsync(Func<Task<bool>> condition, TimeSpan deadline, string what)
    {
        var since = Stopwatch.GetTimestamp();
        while (!await condition())
        {
            if (process.HasExited || Stopwatch.GetElapsedTime(since) > deadline)
            {
                throw Failure($"was awaited ({what}) for {Stopwatch.GetElapsedTime(since).TotalSeconds:0.0} s in vain");
            }

            await Task.Delay(50);
        }
    }

    /// <summary>Asks it to end, with all that it started; what does not end within 20 s (orphans: 5 s more) is killed.</summary>
    public async ValueTask DisposeAsync()
    {
        var family = ProcessTree.Of(process.Id);
        if (!process.HasExited && Kill(process.Id, SignalTerminate) != 0)
        {
            process.Kill();
        }

        await WaitForEndAsync(() => !process.HasExited, StopDeadline);

        // What the child did not end itself is asked as well; a shell script, for one, passes no signal on.
        foreach (var left in Living(family))
        {
            _ = Kill(left.ProcessId, SignalTerminate);
        }

        await WaitForEndAsync(() => Living(family).Any(), OrphanDeadline);
        foreach (var left in Living(family))
        {
            Console.Error.WriteLine($"{name} left process {left.ProcessId} ({left.Name}) behind; it is killed.");
            using var orphan = Process.GetProcessById(left.ProcessId);
            orphan.Kill();
        }

        process.Dispose();
    }

    private static async Task WaitForEndAsync(Func<bool> lives, TimeSpan deadline)
    {
        var since = Stopwatch.GetTimestamp();
        while (lives() && Stopwatch.GetElapsedTime(since) < deadline)
        {
            await Task.Delay(20);
        }
    }

    // An id may have been given to another process meanwhile; the name tells them apart well enough. A zombie is nobody.
    private static IEnumerable<ProcStat> Living(IReadOnlyList<ProcStat> family) =>
        family.Where(member => ProcStat.TryRead(member.ProcessId) is { } now && now.Name == member.Name && !IsZombie(member.ProcessId));

    private static bool IsZombie(int id)
    {
        try
        {
            var line = File.ReadAllText($"/proc/{id}/stat");
            return line[line.LastIndexOf(')')..].StartsWith(") Z", StringComparison.Ordinal);
        }
        catch (IOException)
        {
            return true;
        }
    }

    private void OnLine(string? line)
    {
        if (line is null)
        {
            return;
        }

        lock (gate)
        {
            lines.Enqueue(line);
            if (lines.Count > LinesMax)
            {
                lines.Dequeue();
            }

            if (awaited?.Invoke(line) == true)
            {
                found!.TrySetResult(line);
            }
        }
    }

    private InvalidOperationException Failure(string what)
    {
        lock (gate)
        {
            var state = process.HasExited ? $" and ended with code {process.ExitCode}" : "";
            return new InvalidOperationException($"{name} {what}{state}. Its last lines:\n{string.Join('\n', lines)}");
        }
    }

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    private static partial int Kill(int processId, int signal);
}
