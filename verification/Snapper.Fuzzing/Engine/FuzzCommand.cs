using System.Globalization;

namespace Snapper.Fuzzing.Engine;

/// <summary><c>./snapper verify --fuzz</c>.</summary>
internal static class FuzzCommand
{
    /// <summary>Its lines in the help of <c>verify</c>.</summary>
    public const string Help = """
        ./snapper verify --fuzz [TARGET,...]      throws broken input at everything that reads input; nothing but a clear error may come out
          --minutes M       so long for all targets together (1)      --runs N     or so many inputs for each
          --seed S          the inputs of this seed (a new one each time)
          --input FILE      one input alone, as a failing run has written it; needs the TARGET
          --collect DIR     keeps every input that reached something new
        """;

    /// <summary>Where inputs go that broke something; ignored by git.</summary>
    private static readonly string FailureFolder = Path.Combine(".snapper", "fuzz");

    /// <summary>Runs.</summary>
    /// <param name="arguments">With <c>--fuzz</c>.</param>
    /// <param name="interrupted">Ends it early; it says so.</param>
    /// <returns>0: nothing was found; 1: something was; 2: the arguments are wrong.</returns>
    public static int Run(IReadOnlyList<string> arguments, CancellationToken interrupted = default)
    {
        Arguments parsed;
        try
        {
            parsed = Arguments.Parse(arguments);
        }
        catch (FormatException wrong)
        {
            Console.Error.WriteLine(wrong.Message);
            Console.Error.WriteLine("'./snapper verify --fuzz --help' says all options and targets.");
            return 2;
        }

        if (parsed.ShowHelp)
        {
            Console.WriteLine(Help);
            Console.WriteLine($"Targets: {string.Join(", ", FuzzTargets.Names)}.");
            return 0;
        }

        if (parsed.Input is { } input)
        {
            return Replay(parsed.Targets[0], input);
        }

        if (parsed.Collect is { } folder && Unwritable(CallersPath.Of(folder)) is { } why)
        {
            Console.Error.WriteLine($"--collect: {why}");
            return 2;
        }

        return Fuzz(parsed, interrupted);
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
            Console.Error.WriteLine($"--input: {unreadable.Message}");
            return 2;
        }

        using var target = FuzzTargets.Create(name);
        if (target.Lacks is { } lacks)
        {
            Console.Error.WriteLine($"{name}: {lacks}");
            return 2;
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

    private sealed record Arguments(IReadOnlyList<string> Targets, int Seed, long Runs, TimeSpan Time, string? Input, string? Collect)
    {
        public bool ShowHelp { get; private init; }

        public static Arguments Parse(IReadOnlyList<string> arguments)
        {
            var parsed = new Arguments([.. FuzzTargets.Names], Environment.TickCount & int.MaxValue, long.MaxValue, TimeSpan.FromMinutes(1), null, null);
            var given = new HashSet<string>(StringComparer.Ordinal);
            for (var i = 0; i < arguments.Count; i++)
            {
                var name = arguments[i];
                string Value() => ++i < arguments.Count ? arguments[i] : throw new FormatException($"{name} needs a value.");
                if (!given.Add(name))
                {
                    throw new FormatException($"{name} was given twice.");
                }

                parsed = name switch
                {
                    "--fuzz" when i + 1 < arguments.Count && !arguments[i + 1].StartsWith("--", StringComparison.Ordinal) => parsed with { Targets = Named(Value()) },
                    "--fuzz" => parsed,
                    "--help" => parsed with { ShowHelp = true },
                    "--seed" => parsed with { Seed = (int)Number(name, Value(), 0, int.MaxValue) },
                    "--runs" => parsed with { Runs = Number(name, Value(), 1, long.MaxValue), Time = TimeSpan.FromDays(1) },
                    "--minutes" => parsed with { Time = TimeSpan.FromMinutes(Number(name, Value(), 1, 10_000)) },
                    "--input" => parsed with { Input = Value() },
                    "--collect" => parsed with { Collect = Value() },
                    _ => throw new FormatException($"'verify --fuzz' has no option '{name}'."),
                };
            }

            if (parsed.Input is not null && Array.Find(s_notWithInput, given.Contains) is { } idle)
            {
                throw new FormatException($"{idle} says nothing beside --input, which runs one input.");
            }

            if (given.Contains("--runs") && given.Contains("--minutes"))
            {
                throw new FormatException("--runs and --minutes both say when it ends; give one.");
            }

            return parsed.Input is null || parsed.Targets.Count == 1 ? parsed : throw new FormatException("--input needs the one target that it is for.");
        }

        private static readonly string[] s_notWithInput = ["--seed", "--runs", "--minutes", "--collect"];

        private static IReadOnlyList<string> Named(string text)
        {
            var names = text.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
            return Array.Find(names, name => !FuzzTargets.Names.Contains(name)) is { } unknown ? throw new FormatException($"There is no target '{unknown}'.")
                : names.Length > 0 ? names : throw new FormatException("--fuzz names no target.");
        }

        private static long Number(string name, string text, long least, long most) =>
            long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number >= least && number <= most
                ? number
                : throw new FormatException($"{name} must be a whole number from {least} to {most}, not '{text}'.");
    }
}
