using System.Diagnostics;

namespace Snapper.Integration.Tests.Doors;

/// <summary>Innocent transactions that run while something bad happens: all must commit, none may wait, and the worker must stay the same process.</summary>
internal sealed class BystanderLoad : IAsyncDisposable
{
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(3);

    private readonly SnapperClient _client;
    private readonly CancellationTokenSource _stop = new();
    private readonly Task _run;
    private readonly int _pid;
    private int _committed;

    private BystanderLoad(SnapperClient client, int pid, string name)
    {
        _client = client;
        _pid = pid;
        _run = Run(name);
    }

    public static async Task<BystanderLoad> Start(SnapperClient client, string name) =>
        new(client, (await client.Status() ?? throw new InvalidOperationException("The worker does not answer.")).GetProperty("pid").GetInt32(), name);

    /// <summary>Ends it and throws if anything was noticed.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _run;
        _stop.Dispose();
        var pid = (await _client.Status())?.GetProperty("pid").GetInt32();
        if (pid != _pid)
        {
            throw new InvalidOperationException($"The worker was process {_pid} and is now {pid?.ToString() ?? "not answering"}.");
        }

        if (_committed < 5)
        {
            throw new InvalidOperationException($"Only {_committed} bystanders committed, so they prove nothing.");
        }
    }

    private async Task Run(string name)
    {
        for (var index = 0; !_stop.IsCancellationRequested || index < 10; index++)
        {
            var started = Stopwatch.GetTimestamp();
            var transfer = Accounts.Transfer($"{name}-{index % 4}", $"{name}-{(index + 1) % 4}", 1);
            var answer = await _client.Submit(index % 2 == 0 ? transfer.Pact($"{name}-{(index + 1) % 4}") : transfer.Act(), Door.Service);
            if (answer.Verdict != Verdict.Committed || Stopwatch.GetElapsedTime(started) > LongestWait)
            {
                throw new InvalidOperationException($"A bystander noticed, after {Stopwatch.GetElapsedTime(started).TotalSeconds:0.00} s: {answer}");
            }

            _committed++;
            await Task.Delay(5);
        }
    }
}
