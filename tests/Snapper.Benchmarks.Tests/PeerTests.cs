using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Snapper.Baselines.Orleans;
using Snapper.Baselines.Orleans.Grains;
using Snapper.Benchmarks.HotLists;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.OnMemory;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Suite;
using Snapper.Benchmarks.Systems;
using Xunit;

namespace Snapper.Benchmarks.Tests;

/// <summary>Orleans beside the product: both sides run, and neither can lose anything unnoticed.</summary>
public sealed class PeerTests
{
    private const int Accounts = 20;
    private const int Loops = 4;
    private const int Transactions = 60;

    [Fact]
    public async Task A_silo_serves_all_loads_from_within_and_over_HTTP_and_a_sum_that_is_wrong_is_noticed()
    {
        var (port, http) = (Ports.FreeRun(2), Ports.Free());
        await using var silo = SiloHost.Build(new SiloPorts(port, port + 1, http, port));
        await silo.StartAsync();
        var driver = new Driver(silo);
        Assert.Equal("result 1 joined", await driver.Answer("join 1 1"));
        foreach (var work in new[]
            { OrleansWork.Plain, OrleansWork.Sorted, OrleansWork.SortedLists, OrleansWork.AppendsFirst })
        {
            await Run(driver.SideOf(Load(work)));
        }

        var door = new Uri($"http://127.0.0.1:{http}");
        var lists = new HttpListDoor(_ => door, OrleansDoor.PathOf(OrleansWork.AppendsFirst), ListRequests.WriteInput);
        var transfers = OrleansSystem.MultiTransfer(OrleansWork.Sorted, Context.Transfers(), door);
        await Run(new Side(
            "transfers over HTTP", [new LoadShape(Loops)], (_, seed) => new HttpPipeline(transfers, seed), []));
        await Run(ListSide.Of(
            "lists over HTTP", new LoadShape(Loops), static () => "h", (run, seed) => HttpLists.Loop(run, lists, seed),
            key => OrleansSystem.ListAsync(door, key), []));

        Assert.Equal($"result 2 {Accounts * Balances.Initial}", await driver.Answer($"sum 2 transactions {Accounts}"));
        var answer = await driver.Answer($"run 3 {JsonSerializer.Serialize(Load(OrleansWork.Sorted))}");
        var measured = JsonSerializer.Deserialize<RunResult>(answer["result 3 ".Length..])!;
        Assert.Equal((Loops, 0), (measured.Pipelines, measured.Errors.Count));
        await Assert.ThrowsAsync<FormatException>(() => driver.Answer("nonsense"));

        await silo.Services.GetRequiredService<IGrainFactory>().GetGrain<IAccountGrain>(AccountIds.Of(3)).Deposit(1);
        var problem = await driver.SideOf(Load(OrleansWork.Sorted)).Check!();
        Assert.Equal("20 accounts hold 200001 in all, and must hold 200000", problem);
    }

    [Fact]
    public async Task A_worker_on_a_log_in_memory_runs_transfers_and_hot_lists()
    {
        await using var memory = await SnapperOnMemory.StartAsync();
        var sides = new DoorSides(Context, memory.Door, "log in memory", []);
        await Run(sides.Transfers(TransactionKind.Pact, 0));
        await Run(sides.Transfers(TransactionKind.Act, 0.9));
        await Run(sides.Lists(ListMix.Pacts));
        await Run(sides.Lists(ListMix.Mixed));
    }

    [Fact]
    public void Each_of_our_sides_is_compared_with_the_peers_first_and_our_first_with_all_of_the_peers()
    {
        var result = PeerComparison.Compare(
            "orleans-uniform",
            "what",
            [SideRuns("ours", 400), SideRuns("ours, other", 100)],
            [null, new Goal(1.2, 3, true)],
            [SideRuns("theirs", 100), SideRuns("theirs, other", 200)],
            new Dictionary<string, string> { ["fact"] = "here" },
            1);
        Assert.Equal(4, result.Measured);
        Assert.Equal(["ours", "theirs", "ours, other", "theirs, other"], result.Sides.Select(static side => side.Name));
        Assert.Equal("here", result.Notes["fact"]);
        Assert.Equal(
            "throughput 4.00 [4.00–4.00], CPU per transaction 0.250 [0.250–0.250]", result.Notes["ours ÷ theirs"]);
        Assert.EndsWith("; bar 1.2, aim 3: BAR MISSED", result.Notes["ours, other ÷ theirs"], StringComparison.Ordinal);
        Assert.StartsWith("throughput 2.00", result.Notes["ours ÷ theirs, other"], StringComparison.Ordinal);
        Assert.DoesNotContain("ours, other ÷ theirs, other", result.Notes.Keys);
    }

    [Fact]
    public void A_path_is_of_one_load()
    {
        Assert.Equal("/sortedlists", OrleansDoor.PathOf(OrleansWork.SortedLists));
        Assert.Equal(OrleansWork.SortedLists, OrleansDoor.WorkOf("/sortedlists"));
        Assert.Null(OrleansDoor.WorkOf("/"));
    }

    private static BenchmarkContext Context { get; } =
        new(Parsed.Options(["--accounts", $"{Accounts}", "--pipelines", $"{Loops}"]), null, static _ => { });

    private static OrleansRun Load(OrleansWork work) => new(work, Accounts, 0, Loops, 0.01, 0.1, 1, []);

    // As many as it takes, not as long: how many a busy machine runs in a time is no matter of this test.
    private static async Task Run(Side side)
    {
        var loops = Enumerable.Range(0, Loops).Select(loop => side.Pipeline(side.Shapes[0], (ulong)loop)).ToArray();
        var tally = await ClosedLoop.RunCountAsync(loops, 1, Transactions);
        Assert.Equal("none", RunResult.Describe(tally.Errors));
        Assert.Equal(Transactions, tally.Committed + tally.Aborts.Values.Sum());
        Assert.True(tally.Committed > Transactions / 2, RunResult.Describe(tally.Aborts));
        Assert.Null(side.Check is null ? null : await side.Check());
    }

    private static SideRuns SideRuns(string name, int committed)
    {
        var run = new RunResult
        {
            Pipelines = 1, Seconds = 1, Committed = committed, Attempts = committed, ActAttempts = 0, ActAborted = 0,
            Aborts = new Dictionary<string, long>(), Errors = new Dictionary<string, long>(),
            Cpu = [new CpuShare("server", 1000)], P50 = 1, P99 = 1, Max = 1, Void = null,
        };
        return new SideRuns(name, new LoadShape(1), [run, run], []);
    }
}
