using System.Text.Json;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Redis;
using Snapper.Storage.States;
using Snapper.Storage.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>
/// New transactions are refused before the Redis of log and states is full, so that what is under way still fits, and
/// checkpoints and trims give room again.
/// </summary>
public sealed class StoreFullTests
{
    private const long MaxBytes = 160L << 20;
    private const int Size = 200_000;

    [RedisFact]
    public async Task A_flood_is_refused_before_Redis_is_full_and_there_is_room_again_after_a_trim()
    {
        await using var redis = await RedisServer.Start(
            "--maxmemory", $"{MaxBytes}", "--maxmemory-policy", "noeviction");
        await using var connections = await RedisConnections.Connect(new RedisOptions { Port = redis.Port });
        var lines = new LogLines();
        var host = await Open(connections, lines);
        var flood = 0;
        TransactionEnvelope? refused = null;
        for (; flood < 1_000 && refused is null; flood++)
        {
            var answer = await Rig.Within(Write(host, $"f{flood % 8}", Size, $"f{flood}"), "one of the flood");
            Assert.True(answer.Outcome is Outcome.Committed or Outcome.Rejected, TestWorker.Describe(answer));
            refused = answer.Outcome == Outcome.Rejected ? answer : null;
        }

        Rig.Rejected(refused!, RejectionKind.Full);
        Assert.Contains("85 %", refused!.Rejection!.Detail, StringComparison.Ordinal);
        Assert.NotNull(refused.Rejection.RetryAfter);
        Assert.InRange(flood, 400, 760); // 136 MiB hold 713 of them

        // All others, too; but what only reads, and what had its answer before, is answered.
        Rig.Rejected(await Write(host, "other", 1), RejectionKind.Full);
        Rig.Rejected(await Write(host, "other", 1, "new"), RejectionKind.Full);
        Assert.Equal(Outcome.Committed, (await Write(host, "f0", Size, "f0")).Outcome);
        Assert.Equal(Size, Rig.Seen1(await Run(host, "f0", "Size", null, null)));
        var check = Assert.Single(host.Inspection.Checks(), check => check.Name == "memory");
        Assert.False(check.Healthy);
        Assert.Equal(refused.Rejection.Detail, host.Inspection.Status().StoreFull);

        // Folding, filing and trimming go on, and are what makes room.
        await host.Worker.Checkpoints.CheckpointNow();
        await Rig.Until(() => host.Worker.StoreFull is null, "there is room again");
        Assert.Equal(Outcome.Committed, (await Write(host, "other", 1, "new")).Outcome);
        Assert.True(host.Inspection.Checks().All(one => one.Healthy));
        Assert.Null(host.Inspection.Status().StoreFull);
        Assert.DoesNotContain(lines.Lines, line => line.Text.Contains("OOM", StringComparison.Ordinal));
        await host.DisposeAsync();
    }

    [Theory]
    [InlineData(84, 100, false)]
    [InlineData(85, 100, true)]
    [InlineData(1_000, 0, false)] // no limit
    public async Task Full_is_a_part_of_the_limit(long used, long max, bool isFull)
    {
        await using var rig = await Rig.Start();
        rig.Host.Worker.NoteStoreMemory(new StoreMemory(used, max));
        Assert.Equal(isFull, rig.Host.Worker.StoreFull is not null);
        Assert.Equal(isFull, (await rig.Act("a", Step.Add())).Rejection?.Kind == RejectionKind.Full);
    }

    private static Task<WorkerHost> Open(RedisConnections connections, LogLines lines)
    {
        var log = new RedisTransactionLog(connections, "w1");
        return WorkerHost.Start(
            new WorkerSetup
            {
                Options = new WorkerOptions { Executors = 1, DrainTimeout = TimeSpan.FromSeconds(1) },
                ActorTypes = SnapperRuntimeTestsActors.All,
                Log = log,
                Store = new RedisStateStore(log, TimeProvider.System, new StateStoreOptions()),
                ReadStoreMemory = cancellation => RedisMemory.Read(connections, cancellation),
                Checkpointing = new CheckpointerOptions
                {
                    Interval = TimeSpan.FromHours(1), UnfoldedBytesMax = 1L << 40,
                },
                Logger = lines,
            },
            CancellationToken.None);
    }

    private static Task<TransactionEnvelope> Write(WorkerHost host, string actor, int size, string? id = null) =>
        Run(host, actor, "Spoil", new string('x', size), id);

    private static Task<TransactionEnvelope> Run(
        WorkerHost host, string actor, string method, string? input, string? id) => host.Door.Submit(
        new TransactionRequest
        {
            Actor = new ActorKey("Odd", actor),
            Method = method,
            Input = input is null ? default : JsonSerializer.SerializeToUtf8Bytes(input),
            Mode = TransactionMode.Act,
            Id = id,
            Timeout = TimeSpan.FromSeconds(10),
        },
        CancellationToken.None);
}
