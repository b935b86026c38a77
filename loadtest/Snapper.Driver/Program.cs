using System.Globalization;
using System.Text.Json;
using Snapper.Benchmarks.Clusters;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;

// One worker or several in a process of their own, driven by commands on standard input; `single-worker-cpu` and `two-worker-cpu` start one of an older build and one of this
// tree, and let them take turns.
//   run NAME SHARE LOOPS WARMUP MEASURED SEED    SHARE of PACTs, 0..1, on several workers 0 or 1; seconds; answered with `result NAME {json}`
// On several workers each transaction is over two of them. It ends with its input.
if (args.Length is not (2 or 3)
    || !int.TryParse(args[1], NumberStyles.None, CultureInfo.InvariantCulture, out var accounts)
    || !int.TryParse(args.ElementAtOrDefault(2) ?? "1", NumberStyles.None, CultureInfo.InvariantCulture, out var workers))
{
    Console.Error.WriteLine("usage: Snapper.Driver FOLDER ACCOUNTS [WORKERS]");
    return 2;
}

await using var alone = workers == 1 ? new SnapperInProcess(new InProcessSettings(accounts, args[0])) : null;
if (alone is not null)
{
    await alone.StartAsync(CancellationToken.None);
}

await using var cluster = alone is null ? await ClusterInProcess.StartAsync(workers, accounts) : null;
Console.WriteLine("ready");
while (Console.ReadLine() is { } line)
{
    if (line.Split(' ') is not ["run", var name, var share, var loops, var warmup, var measured, var seed])
    {
        Console.Error.WriteLine($"Not a command: \"{line}\".");
        return 2;
    }

    var shape = new LoadShape(int.Parse(loops, CultureInfo.InvariantCulture));
    var side = alone is not null ? Alone(alone, new Mix(Number(share)), shape)
        : ClusterSide.Of(cluster!, "several workers", new ClusterMix(Number(share) == 1 ? TransactionKind.Pact : TransactionKind.Act, 1), shape);
    var times = new RunTimes(TimeSpan.FromSeconds(Number(warmup)), TimeSpan.FromSeconds(Number(measured)));
    var run = await side.RunAsync(shape, times, ulong.Parse(seed, CultureInfo.InvariantCulture));
    Console.WriteLine($"result {name} " + JsonSerializer.Serialize(run));
}

return 0;

Side Alone(SnapperInProcess system, Mix mix, LoadShape shape)
{
    var chooser = new TransferChooser(new ZipfSampler(accounts, 0), 4);
    return new Side("one worker", [shape], (_, ownSeed) => new InProcessPipeline(system, chooser, mix, ownSeed), system.Processes)
    {
        OwnRole = "runtime and driver",
        AbortsAllowed = mix.PactShare < 1,
    };
}

static double Number(string text) => double.Parse(text, CultureInfo.InvariantCulture);
