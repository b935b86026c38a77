using System.Collections.Concurrent;
using System.Globalization;
using Snapper.Integration.Tests.Harness;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Integration.Tests.Crash;

/// <summary>
/// kill -9 of the server, daprd or redis-server under mixed load, again and again (SNAPPER_CRASH_ROUNDS times). Every request carries an id.
/// Afterwards: every request is decided; every acknowledged commit is there, once; money is conserved; no aborted write was ever seen; the history is
/// strictly serializable; and each process was ready again in the end. How long each took is in the output.
/// </summary>
public abstract class CrashTests(bool embedded, ITestOutputHelper output)
{
    private const int CommitsBetweenKills = 60;
    private static readonly TimeSpan ReadyAtLast = TimeSpan.FromSeconds(30);

    // Each process that can be killed, twice.
    private static int Rounds(int victims) => int.TryParse(
        Environment.GetEnvironmentVariable("SNAPPER_CRASH_ROUNDS"), NumberStyles.None, CultureInfo.InvariantCulture,
        out var rounds) ? rounds : 2 * victims;

    [SystemFact]
    public async Task What_was_acknowledged_survives_kill_9_under_load()
    {
        var seed = LoadOptions.SeedOr(201);
        await using var snapper = await SnapperProcess.Start(UpOptions.Random(embedded));
        using var client = new SnapperClient(snapper.Worker.Url, snapper.Worker.Sidecar);
        var options = new LoadOptions { Seed = seed, Clients = 8, Patience = TimeSpan.FromSeconds(90) };
        var lists = new ListAppendLoad(client, options, "x");
        var bank = new BankLoad(client, options with { HotKeys = 12 }, "b");

        using var stop = new CancellationTokenSource();
        var load = Task.WhenAll(lists.Run(stop.Token), bank.Run(stop.Token));
        var recoveries = await KillAgainAndAgain(snapper, client, load, () => lists.Committed.Count + bank.Committed.Count, new Random(seed));
        await stop.CancelAsync();
        await load;

        output.WriteLine(string.Join('\n', recoveries));
        await AssertNothingLost(client, lists, bank);
        Assert.All(recoveries, recovery => Assert.True(
            recovery.ReadyAfter <= ReadyAtLast, $"slower than {ReadyAtLast.TotalSeconds} s: {recovery}"));

        await snapper.Stop();
        Directory.Delete(snapper.Options.Data, recursive: true);
    }

    private static async Task<List<Recovery>> KillAgainAndAgain(SnapperProcess snapper, SnapperClient client, Task load, Func<int> committed, Random random)
    {
        var victims = Victim.Of(snapper, client);
        var rounds = Rounds(victims.Length);
        var recoveries = new List<Recovery>();
        for (var round = 0; round < rounds; round++)
        {
            // Each kill meets work under way, at a random moment of it.
            var goal = committed() + CommitsBetweenKills + random.Next(CommitsBetweenKills * 4);
            await Eventually.Holds($"{goal} commits before round {round}", TimeSpan.FromSeconds(60), async () =>
            {
                if (load.IsCompleted)
                {
                    await load;
                }

                return committed() >= goal ? null : $"{committed()} commits";
            });
            recoveries.Add(await victims[round % victims.Length].KillAndAwaitRecovery());
        }

        return recoveries;
    }

    private async Task AssertNothingLost(SnapperClient client, ListAppendLoad lists, BankLoad bank)
    {
        var report = await lists.Judge();
        var money = await bank.Judge();
        var text = $"{lists.Describe(report)}\n{bank.Describe(money)}";
        output.WriteLine(text);

        Assert.True(report.Passed, $"{text}\n{(report.Passed ? "" : $"The history is in {lists.Save("crash")}")}");
        Assert.True(lists.Problems.IsEmpty, text);
        Assert.True(money.Passed, text);
        Assert.False(lists.Outcomes.ContainsKey("unknown") || bank.Outcomes.ContainsKey("unknown"), $"A request was never decided: {text}");
        Assert.True(lists.Submitter.Repeats + bank.Submitter.Repeats > 0, $"No request was hit by a kill, so nothing is proved: {text}");
        await AssertFoundById(client, lists.Committed);
        await AssertFoundById(client, bank.Committed);
    }

    private static async Task AssertFoundById(SnapperClient client, ConcurrentDictionary<string, (string Result, long At)> committed)
    {
        var wrong = await Acknowledged.Missing(client, committed);
        Assert.True(wrong.Count == 0, $"{wrong.Count} of {committed.Count} acknowledged commits are not found by their id:\n{string.Join('\n', wrong.Take(5))}");
    }
}

/// <summary>On the stand-ins: the server alone can die.</summary>
public sealed class EmbeddedCrashTests(ITestOutputHelper output) : CrashTests(embedded: true, output);

/// <summary>On the real daprd and Redis.</summary>
[RequiresServers]
public sealed class DaprCrashTests(ITestOutputHelper output) : CrashTests(embedded: false, output);
