using System.Collections.Concurrent;

namespace Snapper.Runtime.Tests.Support;

/// <summary>
/// A place in an actor's method where a test holds it: the test sees that it was reached, and opens it.
/// </summary>
public sealed class Gate : IDisposable
{
    private static readonly ConcurrentDictionary<string, Gate> All = new();
    private readonly TaskCompletionSource _reached = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _open;
    private readonly ManualResetEventSlim _openForThreads = new();

    /// <param name="inline">What waits goes on where it is opened, so that its executor has the work when <see cref="Open"/> returns.</param>
    public Gate(bool inline = false)
    {
        _open = new(inline ? TaskCreationOptions.None : TaskCreationOptions.RunContinuationsAsynchronously);
        All[Name] = this;
    }

    public string Name { get; } = Guid.NewGuid().ToString("N");

    public static Gate Find(string name) => All[name];

    /// <summary>What the method noted after it went through.</summary>
    public ConcurrentQueue<string> Notes { get; } = new();

    public bool WasReached => _reached.Task.IsCompleted;

    public Task Reached() => _reached.Task.WaitAsync(TimeSpan.FromSeconds(10));

    public Task Pass()
    {
        _reached.TrySetResult();
        return _open.Task;
    }

    /// <summary>The thread that was blocked here last.</summary>
    public Thread? Blocked { get; private set; }

    public void Block()
    {
        Blocked = Thread.CurrentThread;
        _reached.TrySetResult();
        _openForThreads.Wait(TimeSpan.FromSeconds(30));
    }

    public void Open()
    {
        _open.TrySetResult();
        _openForThreads.Set();
    }

    public void Dispose()
    {
        Open();
        All.TryRemove(Name, out _);
    }
}
