using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using Snapper.AspNetCore.Processes;
using Snapper.Failures;
using Snapper.Terminal;

namespace Snapper.Verify;

/// <summary>
/// All verification that takes longer than tests may: one part after another, and a row of a Markdown table for each.
/// </summary>
internal static class NightlyRun
{
    private const string Tests = "dotnet test -c Release tests/";

    private static readonly Part[] s_parts =
    [
        new("seeds", "./snapper verify --seeds 100000", "transactions"),
        new("cluster-seeds", "./snapper verify --workers any --seeds 50000", "transactions"),
        new("plant", "./snapper verify --plant", "caught"),
        new("cluster-plant", "./snapper verify --plant --workers any", "caught"),
        new("mutation-build", Tests + "Snapper.Simulation.Tests --filter Lane=nightly", "Passed!"),
        new("model", "./snapper verify --model", "schedules"),
        new("fuzz", "./snapper verify --fuzz --minutes 20", "inputs"),
        new("live", "./snapper verify --live --rounds 100", "rounds in"),
        new("cluster-live", "./snapper verify --live --workers 3 --rounds 200", "rounds in"),
        new("exhaust", "./snapper verify --live --exhaust --minutes 60", "Bars:"),
        new("systems", Tests + "Snapper.Integration.Tests --filter Lane=nightly|FullyQualifiedName~Workers_start", "Passed!")
            { Environment = { ["SNAPPER_WORKERS"] = "8" } },
        new("ids", Tests + "Snapper.Runtime.Tests --filter FullyQualifiedName~IdRetriesTests", "Passed!")
            { Environment = { ["SNAPPER_ID_RETRIES"] = "1000000" } },
        new("judge", Tests + "Snapper.Judging.Tests --filter FullyQualifiedName~ScaleTests", "Passed!")
            { Environment = { ["SNAPPER_CHECKER_SCALE"] = "1000000" } },
        new("soak", Tests + "Snapper.Dashboard.Tests --filter FullyQualifiedName~SoakTests", "Passed!")
            { Environment = { ["SNAPPER_SOAK_MINUTES"] = "20" } },
    ];

    private static readonly Option<string[]> s_nightly = new("--nightly")
    {
        HelpName = "PART", Arity = ArgumentArity.ZeroOrMore, AllowMultipleArgumentsPerToken = true,
        Description = "only these parts: " + string.Join(", ", s_parts.Select(part => part.Name)),
    };

    /// <summary><c>verify --nightly</c>: runs the parts; each part's output is kept when it fails.</summary>
    /// <param name="interrupted">Ends the part that runs, and the run.</param>
    public static Command Command(CancellationToken interrupted) => CommandLines.Command(
        VerifyCommand.Name, "all that takes longer than tests may; a row of a table each",
        (line, _, _) => Run(line.GetValue(s_nightly)!, interrupted), s_nightly);

    private static async Task<int> Run(string[] names, CancellationToken interrupted)
    {
        if (names.Except(s_parts.Select(part => part.Name)).FirstOrDefault() is { } unknown)
        {
            throw new UsageException($"--nightly has no part '{unknown}'; its parts are {string.Join(", ", s_parts.Select(part => part.Name))}.");
        }

        var failed = 0;
        Console.WriteLine("| part | command | result | minutes |\n|---|---|---|---|");
        foreach (var part in s_parts.Where(part => names.Length == 0 || names.Contains(part.Name)))
        {
            if (interrupted.IsCancellationRequested)
            {
                break;
            }

            var began = Stopwatch.GetTimestamp();
            var (exit, output) = await Run(part, interrupted);
            var last = output.LastOrDefault(line => line.Contains(part.Shows, StringComparison.Ordinal))?.Trim() ?? "";
            var hasFailed = exit != 0 && !interrupted.IsCancellationRequested;
            failed += hasFailed ? 1 : 0;
            var result = exit == 0 ? last : hasFailed ? $"FAILED, {Keep(part, output)}" : "interrupted";
            var minutes = Stopwatch.GetElapsedTime(began).TotalMinutes;
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture, $"| {part.Name} | `{part.CommandLine}` | {result} | {minutes:0.0} |"));
        }

        return failed == 0 ? 0 : 1;
    }

    private static async Task<(int Exit, List<string> Output)> Run(Part part, CancellationToken interrupted)
    {
        string[] words = part.CommandLine.Split(' ');
        var start = new ProcessStartInfo(words[0], words[1..])
        {
            UseShellExecute = false, RedirectStandardOutput = true, RedirectStandardError = true,
        };
        foreach (var (name, value) in part.Environment)
        {
            start.Environment[name] = value;
        }

        var output = new List<string>();
        using var process = new Process { StartInfo = start };
        process.OutputDataReceived += (_, line) => Add(line.Data);
        process.ErrorDataReceived += (_, line) => Add(line.Data);
        process.Start();
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
        await using (interrupted.Register(() => Posix.Send(process.Id, Posix.Terminate)))
        {
            await process.WaitForExitAsync(CancellationToken.None);
        }

        return (process.ExitCode, output);

        void Add(string? line)
        {
            lock (output)
            {
                if (line is not null)
                {
                    output.Add(line);
                }
            }
        }
    }

    private static string Keep(Part part, IReadOnlyList<string> output)
    {
        var path = Path.Combine(Directory.CreateTempSubdirectory("snapper-nightly-").FullName, part.Name + ".txt");
        File.WriteAllLines(path, output);
        return path;
    }

    /// <param name="Name">As it is asked for.</param>
    /// <param name="CommandLine">What runs, from the root of the repository.</param>
    /// <param name="Shows">The last line of its output that has this is the result.</param>
    private sealed record Part(string Name, string CommandLine, string Shows)
    {
        public Dictionary<string, string> Environment { get; } = [];
    }
}
