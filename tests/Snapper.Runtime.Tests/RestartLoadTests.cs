using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Runtime.Tests.Support;
using Snapper.Storage.Log.Records;
using Snapper.Storage.Memory;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>
/// Promise 2 and L7 over workers that are killed under load: whoever opens the log fences the one before.
/// </summary>
public sealed class RestartLoadTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Versions_are_contiguous_and_nothing_is_lost_or_doubled_when_workers_are_killed_under_load(int seed)
    {
        const int Boxes = 6;
        await using var rig = await Rig.Start(new() { Executors = 2, Coordinators = seed, DrainTimeout = TimeSpan.FromSeconds(1) });
        var committed = new long[Boxes];
        var doubtful = new long[Boxes];
        for (var life = 0; life < 4; life++)
        {
            using var end = new CancellationTokenSource();
            var clients = Enumerable.Range(0, 8).Select(client => Task.Run(() => Client(rig, rig.Host, (seed * 100) + (life * 10) + client, committed, doubtful, end.Token))).ToArray();
            await Rig.Until(() => rig.Host.Inspection.Status().Committed >= 150, "the load is under way", 20);
            await rig.Open(); // the old worker is not told; it meets the fence
            end.Cancel();
            await Rig.Within(Task.WhenAll(clients).ContinueWith(t => t.IsCompletedSuccessfully), "every client has its answers");
        }

        Assert.All(rig.Failures, failure => Assert.IsType<LogLostFailure>(failure));
        for (var box = 0; box < Boxes; box++)
        {
            Assert.InRange(await rig.Value("k" + box), committed[box], committed[box] + doubtful[box]);
        }

        await CheckLog(rig.Storage);
    }

    private static async Task Client(Rig rig, WorkerHost host, int seed, long[] committed, long[] doubtful, CancellationToken end)
    {
        var random = new Random(seed);
        while (!end.IsCancellationRequested && host.Failure is null)
        {
            int first = random.Next(committed.Length), second = random.Next(committed.Length);
            Step[] steps = [Step.Add(), Step.Call("k" + second, Step.Add()), .. random.Next(10) == 0 ? [Step.Abort()] : Array.Empty<Step>()];
            var envelope = await rig.Submit("k" + first, steps, random.Next(2) == 0 ? ["k" + first, "k" + second] : null, cancellation: CancellationToken.None);
            var sums = envelope.Outcome switch
            {
                Outcome.Committed => committed,
                Outcome.InDoubt => doubtful,
                _ => null,
            };
            if (sums is not null)
            {
                Interlocked.Increment(ref sums[first]);
                Interlocked.Increment(ref sums[second]);
            }
        }
    }

    private static async Task CheckLog(MemoryStorage storage)
    {
        var versions = new Dictionary<ActorKey, long>();
        var decoder = new GroupDecoder();
        var records = 0;
        await foreach (var group in new MemoryTransactionLog(storage).Read(1, default))
        {
            decoder.Start(group);
            while (decoder.MoveNext())
            {
                records++;
                var changes = decoder.Current switch
                {
                    LocalBatchCommitted batch => batch.Changes,
                    ActCommitted act => act.Changes,
                    _ => throw new InvalidOperationException($"record {decoder.Sequence} is a {decoder.Current.GetType().Name}"),
                };
                foreach (var change in changes)
                {
                    Assert.True(
                        versions.GetValueOrDefault(change.Actor) + 1 == change.Version,
                        $"{change.Actor} goes from version {versions.GetValueOrDefault(change.Actor)} to {change.Version} in record {decoder.Sequence}");
                    versions[change.Actor] = change.Version;
                }
            }
        }

        Assert.True(records > 100, $"only {records} records");
    }
}
