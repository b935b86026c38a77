using Snapper.AspNetCore.Processes;

namespace Snapper.Cli.Supervision;

/// <summary>Workers that come and go while the others run.</summary>
internal sealed partial class Deployment
{
    /// <summary>Workers of one system at most.</summary>
    public const int Most = 64;

    private readonly TaskCompletionSource _joinedGivenUp = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly SemaphoreSlim _changing = new(1);

    /// <summary>Starts one worker more with its sidecar, the first of w1, w2, ... that does not run, and returns when requests to it succeed. It owns nothing.</summary>
    /// <exception cref="StartupException">It cannot join; the others run on.</exception>
    public async Task<ReadyWorker> Join(CancellationToken cancellation)
    {
        if (options.Workers == 1) throw new StartupException("this system runs with one worker, which joins nobody; end it, and start it with --workers 2 or more");
        await _changing.WaitAsync(cancellation);
        try
        {
            var number = Enumerable.Range(1, Most).FirstOrDefault(i => _workers.All(w => w.Name != $"w{i}"));
            if (number == 0) throw new StartupException($"there are {Most} workers already");
            RequirePorts(number);
            var ports = Ports.Free(3, options.Names);
            var pair = Pair(
                _plan!, _redisPlace, number, new SidecarPorts(ports[0], ports[1], _placementPort, ports[2]));
            _workers = [.. _workers, pair];
            Say($"{pair.Name} joins");
            try
            {
                pair.Worker.Start();
                pair.Sidecar?.Start();
                using var probe = new ReadinessProbe(options.AppId);
                await Until(pair.Name, [pair.Worker, pair.Sidecar!], () => probe.Missing(pair.Url, pair.SidecarUrl, _plan!.Sidecar, cancellation), cancellation);
            }
            catch (StartupException)
            {
                await Remove(pair);
                throw;
            }

            foreach (var process in (SupervisedProcess[])[pair.Worker, pair.Sidecar!])
            {
                process.Settle();
                _ = process.GivenUp.ContinueWith(gone => _joinedGivenUp.TrySetException(gone.Exception!.InnerException!), TaskContinuationOptions.OnlyOnFaulted);
            }

            Say($"{pair.Name} has joined: {pair.Url}, sidecar {pair.SidecarUrl}");
            return Describe(pair);
        }
        finally
        {
            _changing.Release();
        }
    }

    /// <summary>Stops a worker and its sidecar for good. To let nothing wait for it, move what it owns away before.</summary>
    /// <exception cref="StartupException">There is no such worker, or no other.</exception>
    public async Task Leave(string name, CancellationToken cancellation)
    {
        await _changing.WaitAsync(cancellation);
        try
        {
            var pair = _workers.FirstOrDefault(w => w.Name == name) ?? throw new StartupException($"no worker {name} runs here; there are {string.Join(", ", _workers.Select(w => w.Name))}");
            if (_workers.Count == 1) throw new StartupException($"{name} is the only worker; Ctrl-C stops the system");
            Say($"{name} leaves");
            await Remove(pair);
            Say($"{name} has left");
        }
        finally
        {
            _changing.Release();
        }
    }

    private async Task Remove(WorkerPair pair)
    {
        await pair.Worker.Stop(CancellationToken.None);
        await (pair.Sidecar?.Stop(CancellationToken.None) ?? Task.CompletedTask);
        _workers = [.. _workers.Where(w => w != pair)];
        WriteRunState();
    }
}
