using System.Globalization;
using Snapper.Dashboard.Workers;

namespace Snapper.Dashboard.Actions;

/// <summary>Many changes of states, each a transaction of its own: some at a time, what was not taken in again under the same id, until all are done or it is stopped.</summary>
/// <param name="change">Asks for one change under an id.</param>
/// <param name="changes">What shall be changed.</param>
/// <param name="id">Begins the ids: the same run twice changes nothing twice.</param>
public sealed class StateRun(Func<StateChange, string, CancellationToken, Task<Outcome>> change, IReadOnlyList<StateChange> changes, string id)
{
    private const int AtOnce = 4;
    private const int FailuresMax = 50;
    private const int Attempts = 6;
    private static readonly TimeSpan s_shortest = TimeSpan.FromMilliseconds(200);

    private readonly Lock _lock = new();
    private readonly List<(StateChange Change, string Problem)> _failures = [];
    private int _done;
    private int _failed;

    /// <summary>All.</summary>
    public int Count => changes.Count;

    /// <summary>Committed.</summary>
    public int Done => Volatile.Read(ref _done);

    /// <summary>Refused, or without an answer after all attempts.</summary>
    public int Failed => Volatile.Read(ref _failed);

    /// <summary>The first of those that failed.</summary>
    public IReadOnlyList<(StateChange Change, string Problem)> Failures
    {
        get
        {
            lock (_lock) return [.. _failures];
        }
    }

    /// <summary>Makes the changes.</summary>
    /// <param name="progress">Called after each, from any thread.</param>
    /// <param name="cancellation">Stops it: what is done stays done.</param>
    /// <exception cref="OperationCanceledException">It was stopped.</exception>
    public Task Run(Action progress, CancellationToken cancellation) => Parallel.ForEachAsync(
        Enumerable.Range(0, changes.Count),
        new ParallelOptions { MaxDegreeOfParallelism = AtOnce, CancellationToken = cancellation },
        async (at, token) =>
        {
            var outcome = await One(changes[at], string.Create(CultureInfo.InvariantCulture, $"{id}-{at}"), token);
            if (outcome.Problem is { } problem)
            {
                Interlocked.Increment(ref _failed);
                lock (_lock)
                {
                    if (_failures.Count < FailuresMax) _failures.Add((changes[at], problem));
                }
            }
            else
            {
                Interlocked.Increment(ref _done);
            }

            progress();
        });

    private async Task<Outcome> One(StateChange one, string key, CancellationToken cancellation)
    {
        for (var attempt = 1; ; attempt++)
        {
            var outcome = await change(one, key, cancellation);
            if (outcome.Problem is null || attempt == Attempts || outcome.Status is not (0 or StatusCodes.Status429TooManyRequests or StatusCodes.Status503ServiceUnavailable or StatusCodes.Status504GatewayTimeout)) return outcome;
            await Task.Delay(s_shortest * (1 << (attempt - 1)), cancellation);
        }
    }
}
