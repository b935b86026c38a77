using System.Diagnostics;
using System.Text.Json;
using Snapper.Actors.Generated;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Redis;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>
/// A Redis that writes its file each second comes back without the last checkpoints, and with everything that was
/// ever logged.
/// </summary>
public sealed class LostCheckpointTests
{
    [RedisFact]
    public async Task A_worker_whose_folds_are_lost_notices_stops_and_finds_everything_in_its_log()
    {
        await using var redis = await RedisServer.Start("--appendfsync", "everysec");
        await using var connections = await RedisConnections.Connect(new RedisOptions { Port = redis.Port });
        var failed = new TaskCompletionSource<Exception>(TaskCreationOptions.RunContinuationsAsynchronously);
        var host = await Open(connections, failed);
        Assert.Equal(7, Rig.Seen(await Run(host, Step.Add(7), Step.Get()))[0]);
        await Task.Delay(1500); // by now the record is on the server's disk, whatever happens
        var aof = new FileInfo(Directory.GetFiles(Path.Combine(redis.Folder, "appendonlydir"), "*.incr.aof").Single());
        var length = aof.Length;
        await host.Worker.Checkpoints.CheckpointNow();
        await redis.Kill();
        using (var file = aof.Open(FileMode.Open))
        {
            Assert.True(file.Length > length);
            file.SetLength(length); // its machine went down within the second
        }

        await redis.Restart();
        var watch = Stopwatch.StartNew();
        var failure = Assert.IsType<LogLostFailure>(await failed.Task.WaitAsync(TimeSpan.FromSeconds(10)));
        Assert.InRange(watch.Elapsed, TimeSpan.Zero, TimeSpan.FromSeconds(2));
        Assert.Equal(AppendStatus.Gap, failure.Status);
        Assert.Contains("checkpoints, trims or saved outcomes", failure.Message, StringComparison.Ordinal);
        await host.DisposeAsync();

        await using var later = await RedisConnections.Connect(new RedisOptions { Port = redis.Port }); // another process makes its own
        var again = await Open(later, new TaskCompletionSource<Exception>());
        Assert.Equal(7, Rig.Seen(await Run(again, Step.Get()))[0]);
        await again.Worker.Checkpoints.CheckpointNow();
        Assert.Equal(8, Rig.Seen(await Run(again, Step.Add(1), Step.Get()))[0]);
        Assert.Null(again.Failure);
        await again.DisposeAsync();
    }

    private static Task<WorkerHost> Open(RedisConnections connections, TaskCompletionSource<Exception> failed)
    {
        var log = new RedisTransactionLog(connections, "w1");
        return WorkerHost.Start(
            new WorkerSetup
            {
                Options = new WorkerOptions { Executors = 1, DrainTimeout = TimeSpan.FromSeconds(1) },
                ActorTypes = SnapperRuntimeTestsActors.All,
                Log = log,
                Store = new RedisStateStore(log, TimeProvider.System, new StateStoreOptions()),
                Checkpointing = new CheckpointerOptions { Interval = TimeSpan.FromHours(1) },
                Failed = exception => failed.TrySetResult(exception),
            },
            CancellationToken.None);
    }

    private static Task<TransactionEnvelope> Run(WorkerHost host, params Step[] steps) => host.Door.Submit(
        new TransactionRequest
        {
            Actor = new ActorKey("Box", "a"), Method = "Run", Input = JsonSerializer.SerializeToUtf8Bytes(new Script(steps)), Mode = TransactionMode.Act, Timeout = TimeSpan.FromSeconds(10),
        },
        CancellationToken.None);
}
