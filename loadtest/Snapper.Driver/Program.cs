using System.Globalization;
using System.Text.Json;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Statistics;

// One worker in a process of its own, driven by commands on standard input; `single-worker-cpu` starts one of an older build and one of this tree, and lets them take turns.
//   run NAME SHARE LOOPS WARMUP MEASURED SEED    SHARE of PACTs, 0..1; seconds; answered with `result NAME {json}`
// It ends with its input.
if (args is not [var folder, var accountsText] || !int.TryParse(accountsText, NumberStyles.None, CultureInfo.InvariantCulture, out var accounts))
{
    Console.Error.WriteLine("usage: Snapper.Driver FOLDER ACCOUNTS");
    return 2;
}

await using var system = new SnapperInProcess(new InProcessSettings(accounts, folder));
await system.StartAsync(CancellationToken.None);
Console.WriteLine("ready");
while (Console.ReadLine() is { } line)
{
    if (line.Split(' ') is not ["run", var name, var share, var loops, var warmup, var measured, var seed])
    {
        Console.Error.WriteLine($"Not a command: \"{line}\".");
        return 2;
    }

    var mix = new Mix(Number(share));
    var chooser = new TransferChooser(new ZipfSampler(accounts, 0), 4);
    var side = new Side("one worker", [], (_, ownSeed) => new InProcessPipeline(system, chooser, mix, ownSeed), system.Processes)
    {
        OwnRole = "runtime and driver",
        AbortsAllowed = mix.PactShare < 1,
    };
    var times = new RunTimes(TimeSpan.FromSeconds(Number(warmup)), TimeSpan.FromSeconds(Number(measured)));
    var run = await side.RunAsync(new LoadShape(int.Parse(loops, CultureInfo.InvariantCulture)), times, ulong.Parse(seed, CultureInfo.InvariantCulture));
    Console.WriteLine($"result {name} " + JsonSerializer.Serialize(run));
}

return 0;

static double Number(string text) => double.Parse(text, CultureInfo.InvariantCulture);
