using System.Text.Json;

namespace Snapper.Judging.Serializability;

/// <summary>A verdict for programs.</summary>
public static class CheckReportJson
{
    /// <summary>Writes one JSON object; <c>docs/histories.md</c> says what is in it.</summary>
    public static void WriteJson(this CheckReport report, Utf8JsonWriter json)
    {
        ArgumentNullException.ThrowIfNull(report);
        ArgumentNullException.ThrowIfNull(json);
        json.WriteStartObject();
        json.WriteString("verdict", report.Passed ? "clean" : "anomalies");
        json.WriteStartObject("counts");
        foreach (var (kind, count) in report.Counts)
        {
            json.WriteNumber(kind.ToString(), count);
        }

        json.WriteEndObject();
        json.WriteStartArray("anomalies");
        foreach (var anomaly in report.Anomalies)
        {
            Write(anomaly, json);
        }

        json.WriteEndArray();
        json.WriteStartObject("inDoubt");
        json.WriteNumber("happened", report.InDoubt.Count(one => one.Outcome == InDoubtOutcome.Happened));
        json.WriteNumber("notSeen", report.InDoubt.Count(one => one.Outcome == InDoubtOutcome.NotSeen));
        json.WriteNumber("undecided", report.InDoubt.Count(one => one.Outcome == InDoubtOutcome.Undecided));
        json.WriteEndObject();
        Write(report.Statistics, json);
        json.WriteEndObject();
    }

    private static void Write(Anomaly anomaly, Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteString("kind", anomaly.Kind.ToString());
        if (anomaly.Pattern is not null)
        {
            json.WriteString("pattern", anomaly.Pattern);
        }

        json.WriteStartArray("transactions");
        foreach (var id in anomaly.Transactions)
        {
            json.WriteStringValue(id);
        }

        json.WriteEndArray();
        json.WriteString("explanation", anomaly.Explanation);
        json.WriteEndObject();
    }

    private static void Write(CheckStatistics statistics, Utf8JsonWriter json)
    {
        json.WriteStartObject("statistics");
        json.WriteNumber("transactions", statistics.Transactions);
        json.WriteNumber("committed", statistics.Committed);
        json.WriteNumber("aborted", statistics.Aborted);
        json.WriteNumber("unknown", statistics.Unknown);
        json.WriteNumber("keys", statistics.Keys);
        json.WriteNumber("writes", statistics.Appends);
        json.WriteNumber("reads", statistics.Reads);
        json.WriteNumber("edges", statistics.Edges);
        json.WriteNumber("checkSeconds", Math.Round(statistics.Elapsed.TotalSeconds, 3));
        json.WriteEndObject();
    }
}
