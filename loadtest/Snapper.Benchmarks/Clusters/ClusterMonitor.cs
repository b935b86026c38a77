using Microsoft.Extensions.Logging;

namespace Snapper.Benchmarks.Clusters;

/// <summary>
/// Watches that no worker is taken for dead: hears the log lines of all workers, and their failures. A run in which a worker that was alive lost its actors is worth nothing,
/// whatever its throughput. Thread-safe.
/// </summary>
public sealed class ClusterMonitor
{
    /// <summary>The line with which a worker says that it takes over the actors of another ("Worker ... is fenced").</summary>
    internal const int TakingOverEvent = 1009;

    private readonly Lock _gate = new();
    private readonly List<string> _takeOvers = [];
    private readonly List<string> _failures = [];

    /// <summary>Take-overs until now. Nobody was killed, so each is one of a worker that was alive.</summary>
    public int TakeOvers
    {
        get
        {
            lock (_gate)
            {
                return _takeOvers.Count;
            }
        }
    }

    /// <summary>Why a run is void; null: all workers are well.</summary>
    public string? Problem
    {
        get
        {
            lock (_gate)
            {
                return _takeOvers.Count + _failures.Count == 0 ? null : string.Join("; ", [.. _takeOvers, .. _failures]);
            }
        }
    }

    /// <summary>Takes the log lines of a worker.</summary>
    public ILogger LoggerOf(string worker) => new Listener(this, worker);

    /// <summary>A worker has stopped by itself.</summary>
    public void Failed(string worker, Exception failure)
    {
        lock (_gate)
        {
            _failures.Add($"{worker} stopped: {failure.Message}");
        }
    }

    private sealed class Listener(ClusterMonitor vigil, string worker) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Warning;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (eventId.Id == TakingOverEvent)
            {
                lock (vigil._gate)
                {
                    vigil._takeOvers.Add($"{worker} took over one that was alive: {formatter(state, exception)}");
                }
            }
        }
    }
}
