using System.Text.Json;
using Snapper.Server.Commands;
using Snapper.Server.Processes;
using Snapper.Testing.Histories;
using Snapper.Testing.Serializability;

namespace Snapper.Cli.Commands;

/// <summary>The correctness machine's place on the command line: so far, the judge of recorded histories.</summary>
internal static class VerifyCommand
{
    /// <summary>Arguments of <c>verify</c>.</summary>
    public static readonly CommandSyntax Syntax = new(
        "verify",
        "attacks the product, in a simulator or as a running system (--live), or judges a recorded history",
        [
            new("--history", "FILE", "the history, JSON lines as in docs/histories.md; - reads standard input"),
            new("--json", null, "the verdict as one JSON object"),
            new("--no-real-time", null, "plain serializability: the times of the history order nothing"),
        ],
        Rest: "[OPTION ...]",
        PassesOn: true,
        Notes: """
            The attacks, in a clone of the repository:
              ./snapper verify [--seeds N] [--first N] [--minutes M] [--threads N]     runs of the simulator
              ./snapper verify --seed N, --scenario TEXT                               one run again
              ./snapper verify --plant [NAME...], --model, --fuzz [TARGET,...]         mutations, the rules alone, broken input
              ./snapper verify --live [--rounds N] [--faults A,B]                      a running system
              ./snapper verify --nightly [PART...]                                     all of them, for some hours
            './snapper verify --seeds 1 --help', './snapper verify --live --help' and './snapper verify --fuzz --help' say all of them.
            """);

    /// <summary>Runs what was asked for.</summary>
    /// <returns>0: clean; 1: anomalies; 2: the history cannot be read or makes no sense, so nothing is known.</returns>
    public static Task<int> Run(ParsedArguments arguments, TextWriter output, TextWriter errors)
    {
        if (arguments.Text("--history") is not { } path)
        {
            return Attack(arguments, errors);
        }

        if (arguments.Rest.Count > 0)
        {
            throw new UsageException($"'verify --history' has no option '{arguments.Rest[0]}'.");
        }

        var asJson = arguments.Flag("--json");
        CheckReport report;
        try
        {
            var history = Read(path);
            if (history.Count == 0)
            {
                throw new InvalidHistoryException(
                    "the history is empty: it has no transaction, so nothing can be said of it");
            }

            report = SerializabilityChecker.Check(history,
                new CheckOptions { RealTime = !arguments.Flag("--no-real-time") });
        }
        catch (Exception wrong) when (
            wrong is InvalidHistoryException or IOException or UnauthorizedAccessException or OutOfMemoryException)
        {
            var why = wrong is OutOfMemoryException ? "the history does not fit into memory" : wrong.Message;
            errors.WriteLine($"snapper: {path}: {why}");
            if (asJson)
            {
                output.WriteLine(Json(json =>
                {
                    json.WriteStartObject();
                    json.WriteString("verdict", "invalid");
                    json.WriteString("error", why);
                    json.WriteEndObject();
                }));
            }

            return Task.FromResult(ExitCode.Usage);
        }

        output.Write(asJson ? Json(report.WriteJson) + "\n" : report.ToString());
        return Task.FromResult(report.Passed ? ExitCode.Success : ExitCode.Failure);
    }

    // For simulated runs, which make much garbage and much code, and nothing else: 256 MiB between two collections,
    // and code written where it runs. A third more runs
    // for the same processor time; only the environment can say it. Not for a live run, whose servers would inherit it.
    private static readonly KeyValuePair<string,
        string>[] s_fast = [new("DOTNET_GCgen0size", "10000000"), new("DOTNET_EnableWriteXorExecute", "0")];

    private static readonly string[] s_ofProduct = ["--live", "--fuzz", "--nightly"];
    private static readonly string[] s_ofHistories = ["--json", "--no-real-time"];

    /// <summary>The simulator is a program of its own. Mutations, and counts of transitions, are in a build of its
    /// own; what is fuzzed and struck is the product as it ships.</summary>
    private static Task<int> Attack(ParsedArguments arguments, TextWriter errors)
    {
        if (Array.Find(s_ofHistories, arguments.Flag) is { } idle)
        {
            throw new UsageException(
                $"{idle} belongs to --history FILE, which judges a recorded history; attacks have no such option.");
        }

        var simulates = !arguments.Rest.Any(s_ofProduct.Contains);
        return RepositoryProgram.Run(
            "verification/Snapper.Verify", simulates ? "Planted" : "Release", "'verify' without --history",
            arguments.Rest, errors, simulates || arguments.Rest.Contains("--fuzz") ? s_fast : []);
    }

    private static History Read(string path)
    {
        if (path != "-")
        {
            return HistoryFile.Read(path);
        }

        using var input = Console.OpenStandardInput();
        return HistoryFile.Read(input);
    }

    private static string Json(Action<Utf8JsonWriter> write)
    {
        using var buffer = new MemoryStream();
        using (var json = new Utf8JsonWriter(buffer))
        {
            write(json);
        }

        return System.Text.Encoding.UTF8.GetString(buffer.ToArray());
    }
}
