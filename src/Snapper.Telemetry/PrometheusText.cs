using System.Globalization;
using System.Text;
using Snapper.Runtime.Inspection;

namespace Snapper.Telemetry;

/// <summary>The table of instruments in Prometheus' text exposition format, version 0.0.4.</summary>
public static class PrometheusText
{
    /// <summary>Its media type.</summary>
    public const string ContentType = "text/plain; version=0.0.4; charset=utf-8";

    /// <summary>Reads all instruments of a worker.</summary>
    public static string Of(IWorkerInspection inspection)
    {
        ArgumentNullException.ThrowIfNull(inspection);
        var now = new Reading(inspection.Status(), inspection.Totals(), inspection.Checks());
        var text = new StringBuilder(8192);
        foreach (var one in Instruments.All)
        {
            if (one.Prometheus is { } name && one.Read(now) is { } samples)
            {
                text.Append("# HELP ").Append(name).Append(' ').Append(one.Help).Append('\n');
                text.Append("# TYPE ").Append(name).Append(' ').Append(TypeOf(one.Kind)).Append('\n');
                foreach (var sample in samples)
                {
                    Write(text, one, sample);
                }
            }
        }

        return text.ToString();
    }

    private static void Write(StringBuilder text, Instrument one, in Sample sample)
    {
        text.Append(one.Prometheus).Append(sample.Part);
        var separator = '{';
        for (var i = 0; i < sample.Labels.Length; i++)
        {
            if (sample.Labels[i] is { } label)
            {
                text.Append(separator).Append(one.Labels[i].Name).Append("=\"").Append(Escaped(label)).Append('"');
                separator = ',';
            }
        }

        text.Append(separator == ',' ? "} " : " ").Append(Number(sample.Value)).Append('\n');
    }

    /// <summary>A value or a bound: enough digits to read the same number again.</summary>
    internal static string Number(double value) =>
        double.IsPositiveInfinity(value) ? "+Inf" : value.ToString("R", CultureInfo.InvariantCulture);

    private static string TypeOf(InstrumentKind kind) => kind switch
    {
        InstrumentKind.Counter => "counter",
        InstrumentKind.Histogram => "histogram",
        _ => "gauge",
    };

    private static string Escaped(string label) => label
        .Replace("\\", "\\\\", StringComparison.Ordinal).Replace("\"", "\\\"", StringComparison.Ordinal)
        .Replace("\n", "\\n", StringComparison.Ordinal);
}
