using System.Diagnostics;
using System.Text.Json;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Files;
using Snapper.Storage.Log;
using Snapper.Storage.Redis;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Runtime.Tests;

/// <summary>
/// States of the largest size, hundreds of them at once, on the logs that keep data: all of it commits, and survives.
/// </summary>
public sealed class LargeBatchTests(ITestOutputHelper output)
{
    private const int Actors = 300;
    private const int StateLength = (1 << 20) - 100;

    [Fact]
    public async Task Three_hundred_states_of_a_mebibyte_at_once_commit_on_the_file_log()
    {
        var folder = Directory.CreateTempSubdirectory("snapper-large-").FullName;
        await Run(() =>
        {
            var log = new FileTransactionLog(folder);
            return (log, new FileStateStore(log, TimeProvider.System, new StateStoreOptions()));
        });
        Directory.Delete(folder, recursive: true);
    }

    [RedisFact]
    public async Task Three_hundred_states_of_a_mebibyte_at_once_commit_on_Redis()
    {
        await using var redis = await RedisServer.Start();
        await using var connections = await RedisConnections.Connect(new RedisOptions { Port = redis.Port });
        await Run(() =>
        {
            var log = new RedisTransactionLog(connections, "w1");
            return (log, new RedisStateStore(log, TimeProvider.System, new StateStoreOptions()));
        });
    }

    private async Task Run(Func<(ITransactionLog Log, IStateStore Store)> storage)
    {
        var watch = Stopwatch.StartNew();
        var failures = new List<Exception>();
        await using (var worker = await Worker.Start(storage(), failures))
        {
            using var gate = new Gate();
            var holder = worker.Submit("Box", "h", "RunMarked", new Script([Step.Wait(gate)]), ["h"]);
            await gate.Reached();

            // Behind the holder they become one batch, which a single record could not hold.
            var all = Enumerable.Range(0, Actors).Select(i => worker.Submit("Odd", $"n{i}", "Grow", new Growth(StateLength, null), [$"n{i}"])).ToArray();
            gate.Open();
            Rig.Seen(await holder.WaitAsync(TimeSpan.FromSeconds(100)));
            foreach (var one in all)
            {
                Assert.Equal(StateLength, Rig.Seen1(await one.WaitAsync(TimeSpan.FromSeconds(100))));
            }

            Assert.Null(worker.Host.Failure);
            output.WriteLine($"committed after {watch.Elapsed.TotalSeconds:0.0} s, {worker.Host.Worker.Commits.Undos} divisions");

            // An ACT is one record, too: it cannot be divided, and it aborts when it is too large.
            var wide = await worker.Submit("Odd", "n0", "GrowAll", Enumerable.Range(1, 80).Select(i => $"n{i}").ToArray(), null).WaitAsync(TimeSpan.FromSeconds(100));
            Rig.Aborted(wide, Protocol.Messages.AbortReason.Application);
            Assert.Contains("the limit is 67108864", wide.Abort!.Message, StringComparison.Ordinal);
        }

        await using (var again = await Worker.Start(storage(), failures))
        {
            foreach (var i in new[] { 0, 1, Actors / 2, Actors - 1 })
            {
                Assert.Equal(StateLength, Rig.Seen1(await again.Submit("Odd", $"n{i}", "Size", null, null).WaitAsync(TimeSpan.FromSeconds(100))));
            }
        }

        Assert.Empty(failures);
        output.WriteLine($"all of it after {watch.Elapsed.TotalSeconds:0.0} s");
    }

    private sealed class Worker(WorkerHost host, ITransactionLog log, IStateStore store) : IAsyncDisposable
    {
        public WorkerHost Host => host;

        public static async Task<Worker> Start((ITransactionLog Log, IStateStore Store) storage, List<Exception> failures) => new(
            await WorkerHost.Start(
                new WorkerSetup
                {
                    // Hundreds of megabytes on a crowded machine: how long a turn takes is another test's matter.
                    Options = new WorkerOptions { Executors = 1, DrainTimeout = TimeSpan.FromSeconds(30), TurnBound = TimeSpan.FromSeconds(30) },
                    ActorTypes = SnapperRuntimeTestsActors.All,
                    Log = storage.Log,
                    Store = storage.Store,
                    Failed = exception =>
                    {
                        lock (failures)
                        {
                            failures.Add(exception);
                        }
                    },
                },
                CancellationToken.None),
            storage.Log, storage.Store);

        public Task<TransactionEnvelope> Submit(string type, string id, string method, object? input, string[]? access) => host.Door.Submit(
            new TransactionRequest
            {
                Actor = new ActorKey(type, id),
                Method = method,
                Input = input is null ? default : JsonSerializer.SerializeToUtf8Bytes(input),
                Mode = access is null ? TransactionMode.Act : TransactionMode.Pact,
                Access = access?.Select(a => new DeclaredAccess(new ActorKey(type, a), 1)).ToArray(),
                Timeout = TimeSpan.FromSeconds(90),
                Caller = "tester",
            },
            CancellationToken.None);

        public async ValueTask DisposeAsync()
        {
            await host.DisposeAsync();
            await store.DisposeAsync();
            await log.DisposeAsync();
        }
    }
}

/// <summary>
/// Needs redis-server; without it the test says so instead of running, and with CI=true it runs and fails.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class RedisFactAttribute : FactAttribute
{
    public RedisFactAttribute()
    {
        if (RedisServer.FindExecutable() is null && Environment.GetEnvironmentVariable("CI") != "true")
        {
            Skip = RedisServer.NotFound;
        }
    }
}
