using System.Collections.Concurrent;
using System.Diagnostics;

namespace Snapper.Cli.Supervision;

/// <summary>
/// Starts all children from one thread that lives as long as the process. The kernel's parent-death signal fires when the starting <em>thread</em>
/// ends, so a child that a thread of the pool started would be killed whenever the pool shrinks. Thread-safe.
/// </summary>
internal sealed class ProcessSpawner
{
    private readonly BlockingCollection<(ProcessStartInfo Start, TaskCompletionSource<Process> Started)> _requests = [];

    /// <summary>Starts the thread.</summary>
    public ProcessSpawner()
    {
        new Thread(Run) { IsBackground = true, Name = "process spawner" }.Start();
    }

    /// <summary>Starts a process.</summary>
    /// <exception cref="System.ComponentModel.Win32Exception">It could not be started.</exception>
    public Task<Process> Start(ProcessStartInfo start)
    {
        var started = new TaskCompletionSource<Process>(TaskCreationOptions.RunContinuationsAsynchronously);
        _requests.Add((start, started));
        return started.Task;
    }

    private void Run()
    {
        foreach (var (start, started) in _requests.GetConsumingEnumerable())
        {
            try
            {
                started.SetResult(Process.Start(start)!);
            }
            catch (Exception problem)
            {
                started.SetException(problem);
            }
        }
    }
}
