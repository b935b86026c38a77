using System.Text.Encodings.Web;
using System.Text.Json;

namespace Snapper.Load.Reporting;

/// <summary>A report for programs.</summary>
internal static class ReportJson
{
    private static readonly JsonSerializerOptions s_json = new(JsonSerializerDefaults.Web) { WriteIndented = true, Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    public static string Of(LoadReport report) => JsonSerializer.Serialize(report, s_json);
}
