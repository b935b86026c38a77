using Snapper.Benchmarks;
using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Reporting;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Suite;
using Snapper.Benchmarks.Systems;
using Snapper.Terminal;

return await CommandLines.Run(BenchmarkOptions.Command(Run, List), args, Console.Out, Console.Error);

static int List()
{
    foreach (var benchmark in BenchmarkSuite.All)
    {
        Console.WriteLine($"{benchmark.Name,-16} {benchmark.What}");
    }

    return 0;
}

static async Task<int> Run(BenchmarkOptions options)
{
    var selected = BenchmarkSuite.Select(options.Names);
    var root = ServerTools.RepositoryRoot();
    var machine = MachineFacts.Read(root);
    var context = new BenchmarkContext(options, InProcess: static settings => new SnapperInProcess(settings), Console.WriteLine);
    var results = new List<BenchmarkResult>();
    foreach (var benchmark in selected)
    {
        Console.WriteLine($"{benchmark.Name}: {benchmark.What}");
        results.Add(await BenchmarkRunner.RunAsync(benchmark, context));
    }

    var report = new Report(machine, options, results);
    Console.WriteLine();
    Console.WriteLine(report.ToMarkdown());
    var today = Path.Combine(root, "loadtest", "results", "today");
    report.WriteTo(today);
    Console.WriteLine($"written to {today}");
    if (options.Out is { } folder)
    {
        report.WriteTo(folder);
        Console.WriteLine($"written to {folder}");
    }

    // A missed bar is a finding, not a failure of the program; a benchmark without a result is one.
    return results.Exists(static result => result.Missing is not null) ? 1 : 0;
}
