using System.Collections.Immutable;
using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.DependencyInjection;
using Snapper.Baselines.Orleans.Grains;
using Snapper.Benchmarks.HotLists;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;
using Snapper.Benchmarks.Systems;

namespace Snapper.Baselines.Orleans;

/// <summary>
/// Loads that run in the silo's own process, by commands of one line: <c>join N SILOS</c>, <c>run N {OrleansRun}</c>,
/// <c>sum N plain|transactions ACCOUNTS</c>. N is repeated in the answer: <c>result N ...</c>.
/// </summary>
public sealed class Driver(WebApplication silo)
{
    private readonly Bank _bank = silo.Services.GetRequiredService<Bank>();
    private readonly TransactionalLists _lists = silo.Services.GetRequiredService<TransactionalLists>();
    private int _runs;

    /// <summary>Does what a line asks for.</summary>
    /// <exception cref="FormatException">It is no command.</exception>
    public async Task<string> Answer(string line)
    {
        var words = line.Split(' ', 3);
        var result = words switch
        {
            ["join", _, var silos] => await Join(Number(silos)),
            ["run", _, var run] => JsonSerializer.Serialize(await Run(JsonSerializer.Deserialize<OrleansRun>(run)!)),
            ["sum", _, var what] => await Sum(what.Split(' ')),
            _ => throw new FormatException($"Not a command: \"{line}\"."),
        };
        return $"result {words[1]} {result}";
    }

    /// <summary>Runs a load, and checks what it left behind.</summary>
    public Task<RunResult> Run(OrleansRun run)
    {
        var times = new RunTimes(TimeSpan.FromSeconds(run.Warmup), TimeSpan.FromSeconds(run.Measured));
        return SideOf(run).RunAsync(new LoadShape(run.Loops), times, run.Seed);
    }

    /// <summary>The load, to be run by loops of this process.</summary>
    public Side SideOf(OrleansRun run)
    {
        var shape = new LoadShape(run.Loops);
        var others = run.Others.Select(static id => new MeasuredProcess(OrleansSystem.Role, id)).ToArray();
        var side = run.Work is OrleansWork.Plain or OrleansWork.Parallel or OrleansWork.Sorted
            ? Transfers(run, shape, others)
            : Lists(run, shape, others);
        return side with { OwnRole = OrleansSystem.Role, AbortsAllowed = true };
    }

    private Side Transfers(OrleansRun run, LoadShape shape, MeasuredProcess[] others)
    {
        var chooser = new TransferChooser(new ZipfSampler(run.Accounts, run.Zipf), 4);
        var ids = Ids(run.Accounts);
        return new Side(
            OrleansSystem.Role, [shape], (_, seed) => new BankPipeline(_bank, ids, chooser, run.Work, seed), others)
        {
            Check = async () => Balances.Judge(await _bank.Sum(run.Work == OrleansWork.Plain, ids), run.Accounts),
        };
    }

    private Side Lists(OrleansRun run, LoadShape shape, MeasuredProcess[] others)
    {
        var lists = new Called(_lists, run.Work);
        return ListSide.Of(
            OrleansSystem.Role, shape, () => $"p{++_runs}", (of, seed) => new ListPipeline(of, lists.Execute, seed),
            lists.Read, others);
    }

    private async Task<string> Join(int silos)
    {
        await SiloHost.WaitForAsync(silo, silos);
        return "joined";
    }

    private async Task<string> Sum(string[] what) => what is ["plain" or "transactions", var accounts]
        ? (await _bank.Sum(what[0] == "plain", Ids(Number(accounts)))).ToString(CultureInfo.InvariantCulture)
        : throw new FormatException("sum plain|transactions ACCOUNTS");

    private static string[] Ids(int accounts) => Enumerable.Range(0, accounts).Select(AccountIds.Of).ToArray();

    private static int Number(string text) => int.Parse(text, NumberStyles.None, CultureInfo.InvariantCulture);

    private sealed class Called(TransactionalLists lists, OrleansWork way)
    {
        public ValueTask<TransactionEnd> Execute(ListTransaction transaction) => Endings.Of(
            lists.Execute(transaction, way, new ImmutableList<long>?[transaction.Operations.Count]));

        public async Task<IReadOnlyList<long>> Read(string key)
        {
            var seen = new ImmutableList<long>?[1];
            await lists.Execute(new ListTransaction([new ListOperation(key, null)], 0), way, seen);
            return seen[0]!;
        }
    }

    private sealed class BankPipeline(
        Bank bank, string[] ids, IAccountChooser chooser, OrleansWork way, ulong seed) : IPipeline
    {
        private FastRandom _random = new(seed);

        public async ValueTask RunOnceAsync(Tally tally)
        {
            var transfer = Transfer.Draw(chooser, ref _random);
            string[] to = [ids[transfer.To1], ids[transfer.To2], ids[transfer.To3]];
            var end = await Endings.Of(bank.Transfer(way, ids[transfer.Root], to));
            end.CountIn(tally, act: true);
        }

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
