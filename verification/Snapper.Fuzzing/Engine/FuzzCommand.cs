using System.CommandLine;
using Snapper.Failures;
using Snapper.Terminal;

namespace Snapper.Fuzzing.Engine;

/// <summary><c>./snapper verify --fuzz</c>.</summary>
internal static class FuzzCommand
{
    private static readonly Option<string?> s_fuzz = new("--fuzz")
    {
        HelpName = "TARGET,...", Arity = ArgumentArity.ZeroOrOne, Description = "only these targets: " + string.Join(", ", FuzzTargets.Names),
    };

    private static readonly Option<int?> s_minutes = Options.Of<int?>(
        "--minutes", "M", "so long for all targets together (1)", text => Values.Whole(1, 10_000)(text));

    private static readonly Option<long?> s_runs = Options.Of<long?>(
        "--runs", "N", "so many inputs for each", text => Values.Long(1, long.MaxValue)(text));

    private static readonly Option<int?> s_seed = Options.Of<int?>(
        "--seed", "S", "the inputs of this seed (a new one each time)", text => Values.Whole(0, int.MaxValue)(text));

    private static readonly Option<string?> s_input = Options.Text(
        "--input", "FILE", "one input alone, as a failing run has written it; needs the TARGET");

    private static readonly Option<string?> s_collect = Options.Text("--collect", "DIR", "keeps every input that reached something new");

    /// <summary>Where inputs go that broke something; ignored by git.</summary>
    private static readonly string FailureFolder = Path.Combine(".snapper", "fuzz");

    /// <summary>The command. It returns 0: nothing was found; 1: something was; 2: the line is wrong.</summary>
    /// <param name="interrupted">Ends it early; it says so.</param>
    public static Command Of(CancellationToken interrupted) => CommandLines.Command(
        "./snapper verify", "throws broken input at everything that reads input; nothing but a clear error may come out",
        (line, _, _) => Task.FromResult(Run(line, interrupted)), s_fuzz, s_minutes, s_runs, s_seed, s_input, s_collect);

    private static int Run(ParseResult line, CancellationToken interrupted)
    {
        var (minutes, runs, seed) = (line.GetValue(s_minutes), line.GetValue(s_runs), line.GetValue(s_seed));
        var targets = line.GetValue(s_fuzz)?.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries) ?? [.. FuzzTargets.Names];
        if (targets.Length == 0)
        {
            throw new UsageException("--fuzz names no target.");
        }

        if (Array.Find(targets, name => !FuzzTargets.Names.Contains(name)) is { } unknown)
        {
            throw new UsageException($"There is no target '{unknown}'.");
        }

        if (runs is not null && minutes is not null)
        {
            throw new UsageException("--runs and --minutes both say when it ends; give one.");
        }

        var collect = line.GetValue(s_collect);
        if (line.GetValue(s_input) is { } input)
        {
            return minutes is not null || runs is not null || seed is not null || collect is not null
                    ? throw new UsageException("--seed, --runs, --minutes and --collect say nothing beside --input, which runs one input.")
                : targets.Length != 1 ? throw new UsageException("--input needs the one target that it is for.")
                : Replay(targets[0], input);
        }

        if (collect is not null && Unwritable(CallersPath.Of(collect)) is { } why)
        {
            throw new UsageException($"--collect: {why}");
        }

        var time = runs is null ? TimeSpan.FromMinutes(minutes ?? 1) : TimeSpan.FromDays(1);
        return Fuzz(new Arguments(targets, seed ?? Environment.TickCount & int.MaxValue, runs ?? long.MaxValue, time, collect), interrupted);
    }

    private static int Replay(string name, string path)
    {
        byte[] input;
        try
        {
            input = File.ReadAllBytes(CallersPath.Of(path));
        }
        catch (Exception unreadable) when (unreadable is IOException or UnauthorizedAccessException)
        {
            throw new UsageException($"--input: {unreadable.Message}");
        }

        using var target = FuzzTargets.Create(name);
        if (target.Lacks is { } lacks)
        {
            throw new UsageException($"{name}: {lacks}");
        }

        var (outcome, failure) = FuzzRun.One(target, input);
        Console.WriteLine(failure is null ? $"ok: {outcome}" : $"FAILED: {(failure is FuzzFailureException ? failure.Message : failure.ToString())}");
        return failure is null ? 0 : 1;
    }

    /// <summary>Before a run of an hour, not after it: what it found would be lost.</summary>
    /// <returns>What is wrong with the folder; null: files can be made in it.</returns>
    private static string? Unwritable(string folder)
    {
        try
        {
            Directory.CreateDirectory(folder);
            var probe = Path.Combine(folder, Path.GetRandomFileName());
            File.WriteAllBytes(probe, []);
            File.Delete(probe);
            return null;
        }
        catch (Exception refused) when (refused is IOException or UnauthorizedAccessException or ArgumentException or NotSupportedException)
        {
            return $"inputs cannot be kept in {folder}: {refused.Message}";
        }
    }

    private static int Fuzz(Arguments parsed, CancellationToken interrupted)
    {
        var (found, done) = (0, 0);
        Console.WriteLine($"seed {parsed.Seed}");
        foreach (var name in parsed.Targets)
        {
            if (interrupted.IsCancellationRequested)
            {
                break;
            }

            using var target = FuzzTargets.Create(name);
            if (target.Lacks is { } lacks)
            {
                Console.WriteLine($"{name,-12} not run: {lacks}");
                continue;
            }

            var corpus = Corpus.Of(name);
            var report = FuzzRun.Execute(target, [.. corpus.Select(one => one.Input)], new FuzzOptions(parsed.Seed, parsed.Runs, parsed.Time / parsed.Targets.Count) { Cancellation = interrupted });
            Console.WriteLine(
                $"{name,-12} {report.Inputs,10:N0} inputs after {report.CorpusInputs} of the corpus, {report.Outcomes,4} different outcomes, {report.Elapsed.TotalSeconds,6:0.0} s, {report.Processor.TotalSeconds,6:0.0} s of processor time, {report.Findings.Count} failures");
            foreach (var finding in report.Findings)
            {
                var path = CallersPath.Show(Corpus.Save(FailureFolder, target, finding.Input));
                Console.WriteLine($"FAILED: ./snapper verify --fuzz {name} --input {path}");
                Console.WriteLine("  " + finding.What.TrimEnd().Replace("\n", "\n  ", StringComparison.Ordinal));
            }

            foreach (var input in parsed.Collect is null ? [] : report.New)
            {
                Corpus.Save(Path.Combine(CallersPath.Of(parsed.Collect!), name), target, input);
            }

            found += report.Findings.Count;
            done += interrupted.IsCancellationRequested ? 0 : 1;
        }

        if (interrupted.IsCancellationRequested)
        {
            Console.WriteLine($"INTERRUPTED: {done} of {parsed.Targets.Count} targets were run to their end; {found} failures so far.");
        }

        return found == 0 ? 0 : 1;
    }

    private sealed record Arguments(IReadOnlyList<string> Targets, int Seed, long Runs, TimeSpan Time, string? Collect);
}
