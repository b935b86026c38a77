using System.CommandLine;
using System.Text.Json.Nodes;
using Snapper.Fuzzing.Engine;
using Snapper.Terminal;
using Snapper.Judging.Histories;
using Snapper.Judging.Serializability;

namespace Snapper.Verify;

/// <summary><c>./snapper verify --history</c>: the judge of recorded histories.</summary>
internal static class HistoryCommand
{
    private static readonly Option<string?> s_history = new("--history")
    {
        HelpName = "FILE",
        Description = "the history, JSON lines as in docs/histories.md; - reads standard input",
        Required = true,
    };

    private static readonly Option<bool> s_json = Options.Flag("--json", "the verdict as one JSON object");

    private static readonly Option<bool> s_noRealTime = Options.Flag(
        "--no-real-time", "plain serializability: the times of the history order nothing");

    /// <summary>Exit codes: 0 clean; 1 anomalies; 2 the history cannot be read or makes no sense, so nothing is known.</summary>
    public static readonly Command Command = CommandLines.Command(
        VerifyCommand.Name, "judges a recorded history of any system", Run, s_history, s_json, s_noRealTime);

    private static Task<int> Run(ParseResult line, TextWriter output, TextWriter errors)
    {
        var (path, asJson) = (line.GetValue(s_history)!, line.GetValue(s_json));
        CheckReport report;
        try
        {
            var history = Read(path);
            if (history.Count == 0)
            {
                throw new InvalidHistoryException(
                    "the history is empty: it has no transaction, so nothing can be said of it");
            }

            report = SerializabilityChecker.Check(
                history, new CheckOptions { RealTime = !line.GetValue(s_noRealTime) });
        }
        catch (Exception wrong) when (
            wrong is InvalidHistoryException or IOException or UnauthorizedAccessException or OutOfMemoryException)
        {
            var why = wrong is OutOfMemoryException ? "the history does not fit into memory" : wrong.Message;
            errors.WriteLine($"snapper: {path}: {why}");
            if (asJson)
            {
                output.WriteLine(new JsonObject { ["verdict"] = "invalid", ["error"] = why }.ToJsonString());
            }

            return Task.FromResult(CommandLines.WrongLine);
        }

        if (asJson)
        {
            using var buffer = new MemoryStream();
            using (var json = new System.Text.Json.Utf8JsonWriter(buffer))
            {
                report.WriteJson(json);
            }

            output.WriteLine(System.Text.Encoding.UTF8.GetString(buffer.ToArray()));
        }
        else
        {
            output.Write(report.ToString());
        }

        return Task.FromResult(report.Passed ? 0 : 1);
    }

    private static History Read(string path)
    {
        if (path != "-")
        {
            return HistoryFile.Read(CallersPath.Of(path));
        }

        using var input = Console.OpenStandardInput();
        return HistoryFile.Read(input);
    }
}
