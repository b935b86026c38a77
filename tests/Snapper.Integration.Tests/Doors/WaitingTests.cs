using System.Diagnostics;
using Snapper.Integration.Tests.Harness;
using Xunit;

namespace Snapper.Integration.Tests.Doors;

/// <summary>Nobody waits for long: not for slow methods, not behind clients that went away.</summary>
[Collection(OnDaprAndRedis.Name)]
[RequiresServers]
public sealed class WaitingTests(DaprAndRedisSystem system) : SystemTests(system)
{
    private static readonly TimeSpan TurnBound = TimeSpan.FromSeconds(1);

    // A busy machine is slow, but not by seconds per transaction.
    private static readonly TimeSpan Slack = TimeSpan.FromSeconds(3);

    /// <summary>A method that takes 6 s while others wait ends at the bound, and they go on.</summary>
    [SystemFact]
    public Task A_slow_method_with_others_waiting_ends_at_the_turn_bound() => Task.WhenAll(
        (from slowIsPact in new[] { true, false } from door in new[] { Door.Direct, Door.Service } select (slowIsPact, door)).Select(async row =>
        {
            var (x, id) = (Name("x"), Name("slow"));
            var operations = new[] { Lists.Append(x, -1) };
            var started = Stopwatch.GetTimestamp();
            var slow = Client.Submit(
                (row.slowIsPact ? Lists.ExecutePact(x, operations, delayMs: 6000) : Lists.Execute(x, operations, delayMs: 6000).Act()) with { RequestId = id }, row.door);
            await Running(id);

            await Task.WhenAll(Enumerable.Range(0, 10).Select(index => Commit(index % 2 == 0 ? Lists.AppendTo(x, index).Pact() : Lists.AppendTo(x, index).Act(), row.door)));
            var elapsed = Stopwatch.GetElapsedTime(started);

            AssertAborted(await slow, "timeout", row.door, "a slow method with others waiting");
            Assert.True(elapsed < TurnBound + Slack, $"those behind a slow method waited {elapsed}");
            Assert.DoesNotContain(-1, await List(x));
        }));

    /// <summary>The bound counts only while somebody waits.</summary>
    [SystemFact]
    public async Task A_slow_method_that_nobody_waits_for_may_finish()
    {
        var (x, y) = (Name("x"), Name("y"));

        await Task.WhenAll(
            Commit(Lists.ExecutePact(x, [Lists.Append(x, 1)], delayMs: 1800)),
            Commit(Lists.Execute(y, [Lists.Append(y, 2)], delayMs: 1800).Act()));

        await AssertList(x, 1);
        await AssertList(y, 2);
    }

    /// <summary>A slow transaction on one actor does not touch others.</summary>
    [SystemFact]
    public async Task A_slow_method_holds_up_only_those_on_its_actors()
    {
        var (x, id) = (Name("x"), Name("slow"));
        var slow = Client.Submit(Lists.ExecutePact(x, [Lists.Append(x, 1)], delayMs: 2000) with { RequestId = id });
        await Running(id);
        var started = Stopwatch.GetTimestamp();

        await Task.WhenAll(Enumerable.Range(0, 20).Select(index => Commit(index % 2 == 0 ? Lists.AppendTo(Name("y"), 1).Act() : Lists.ReadOf(Name("y")).Act())));

        Assert.False(slow.IsCompleted, "The slow transaction ended before the others, so they prove nothing.");
        Assert.True(Stopwatch.GetElapsedTime(started) < TimeSpan.FromSeconds(1.5));
        Assert.Equal(Verdict.Committed, (await slow).Verdict);
    }

    /// <summary>A transaction's own deadline ends its waiting.</summary>
    [SystemFact]
    public async Task The_requests_own_timeout_ends_it()
    {
        var started = Stopwatch.GetTimestamp();

        var x = Name("x");
        await Abort(Lists.Execute(x, [Lists.Append(x, 1)], delayMs: 5000).Act() with { TimeoutMs = 300 }, "timeout");
        await Abort(Lists.ExecutePact(x, [Lists.Append(x, 1)], delayMs: 5000) with { TimeoutMs = 300 }, "timeout");

        Assert.True(Stopwatch.GetElapsedTime(started) < TimeSpan.FromSeconds(5), $"two timeouts of 300 ms took {Stopwatch.GetElapsedTime(started)}");
        await AssertList(x);
    }

    /// <summary>Clients that hang up leave no lock and no turn behind, and each transaction still happens once or not at all.</summary>
    [SystemFact]
    public Task A_client_that_goes_away_holds_nobody_up() => All([Door.Direct, Door.Service], async door =>
    {
        const int Clients = 6;
        var x = Name("x");
        using var impatience = new CancellationTokenSource();
        var gone = Enumerable.Range(0, Clients).Select(index =>
        {
            var operations = new[] { Lists.Append(x, index) };
            return Client.Submit(
                (index % 2 == 0 ? Lists.ExecutePact(x, operations, delayMs: 500) : Lists.Execute(x, operations, delayMs: 500).Act()) with { RequestId = $"{x}-{index}" }, door, impatience.Token);
        }).ToArray();
        await Running($"{x}-0", $"{x}-1");
        await impatience.CancelAsync();

        var started = Stopwatch.GetTimestamp();
        await Commit(Lists.AppendTo(x, 100).Pact(), door);
        Assert.True(Stopwatch.GetElapsedTime(started) < TimeSpan.FromSeconds(2) + Slack, $"waited {Stopwatch.GetElapsedTime(started)}");

        Assert.True(await HungUp(gone) > 0, "Every client was answered before it could hang up: nothing was tested.");

        var outcomes = await Task.WhenAll(Enumerable.Range(0, Clients).Select(index => Decided($"{x}-{index}")));
        var expected = Enumerable.Range(0, Clients).Where(index => outcomes[index]).Select(index => (long)index).Append(100);
        Assert.Equal(expected, (await List(x)).Order());
    });

    /// <summary>How many of the clients went away without an answer; on a busy machine some may have been answered just before.</summary>
    private static async Task<int> HungUp(Task<Answer>[] clients)
    {
        var count = 0;
        foreach (var client in clients)
        {
            try
            {
                await client;
            }
            catch (OperationCanceledException)
            {
                count++;
            }
        }

        return count;
    }

    /// <summary>Committed or not, once the system has made up its mind; a request that never arrived is not committed.</summary>
    private async Task<bool> Decided(string id)
    {
        var answer = await Client.Find(id);
        await Eventually.Holds($"a decision on {id}", TimeSpan.FromSeconds(10), async () =>
        {
            answer = await Client.Find(id);
            return answer.Verdict is Verdict.Committed or Verdict.Aborted || answer.Status == 404 ? null : answer.ToString();
        });
        return answer.Verdict == Verdict.Committed;
    }

    private Task Running(params string[] ids) => Eventually.Holds($"one of {string.Join(", ", ids)} to be running", TimeSpan.FromSeconds(5), async () =>
    {
        var answers = await Task.WhenAll(ids.Select(Client.Find));
        return answers.Any(answer => answer.Verdict == Verdict.Running) ? null : string.Join('\n', answers.Select(answer => answer.ToString()));
    });
}
