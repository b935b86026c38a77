using System.Globalization;

namespace Snapper.Telemetry;

/// <summary>What is told to a collector, by OpenTelemetry's own environment variables; the exporter reads the rest of them (protocol, headers, timeouts, export interval) itself.</summary>
/// <param name="Traces">Spans are sent.</param>
/// <param name="Metrics">Metrics are sent.</param>
/// <param name="Ratio">Share of the transactions without a caller's decision that are traced, 0 to 1.</param>
/// <param name="FollowsCaller">The caller's decision counts (W3C <c>traceparent</c>, its sampled flag).</param>
public sealed record TelemetryOptions(bool Traces, bool Metrics, double Ratio, bool FollowsCaller)
{
    /// <summary>Share that is traced unless something else is said: every transaction would be too much at thousands a second.</summary>
    public const double UsualRatio = 0.01;

    /// <summary>Nothing is sent: <c>OTEL_EXPORTER_OTLP_ENDPOINT</c> is not set, or <c>OTEL_SDK_DISABLED</c> is.</summary>
    public static TelemetryOptions Off { get; } = new(false, false, 0, false);

    /// <summary>Something is sent.</summary>
    public bool IsOn => Traces || Metrics;

    /// <summary>Reads the variables.</summary>
    /// <param name="variable">The value of one; null: it is not set.</param>
    /// <exception cref="FormatException">A variable has a value that is not supported.</exception>
    public static TelemetryOptions Read(Func<string, string?> variable)
    {
        if (string.Equals(variable("OTEL_SDK_DISABLED"), "true", StringComparison.OrdinalIgnoreCase))
        {
            return Off;
        }

        var all = IsSet(variable, "OTEL_EXPORTER_OTLP_ENDPOINT");
        var traces = (all || IsSet(variable, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")) && Exports(variable, "OTEL_TRACES_EXPORTER");
        var metrics = (all || IsSet(variable, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")) && Exports(variable, "OTEL_METRICS_EXPORTER");
        var (ratio, follows) = Sampler(variable("OTEL_TRACES_SAMPLER"), variable("OTEL_TRACES_SAMPLER_ARG"));
        return new TelemetryOptions(traces, metrics, ratio, follows);
    }

    private static bool IsSet(Func<string, string?> variable, string name)
    {
        var value = variable(name);
        if (string.IsNullOrWhiteSpace(value))
        {
            return false;
        }

        return Uri.TryCreate(value, UriKind.Absolute, out var address) && address.Scheme is "http" or "https"
            ? true
            : throw new FormatException($"{name} must be an http or https address, http://collector:4317 say.");
    }

    private static bool Exports(Func<string, string?> variable, string name) => variable(name) switch
    {
        null or "" or "otlp" => true,
        "none" => false,
        var other => throw new FormatException($"{name} is '{other}'; it may be otlp or none."),
    };

    private static (double Ratio, bool FollowsCaller) Sampler(string? name, string? argument)
    {
        var ratio = UsualRatio;
        if (!string.IsNullOrWhiteSpace(argument)
            && !(double.TryParse(argument, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out ratio) && ratio is >= 0 and <= 1))
        {
            throw new FormatException($"OTEL_TRACES_SAMPLER_ARG is '{argument}'; it must be a number from 0 to 1.");
        }

        return name switch
        {
            null or "" or "parentbased_traceidratio" => (ratio, true),
            "traceidratio" => (ratio, false),
            "parentbased_always_on" => (1, true),
            "always_on" => (1, false),
            "parentbased_always_off" => (0, true),
            "always_off" => (0, false),
            _ => throw new FormatException(
                $"OTEL_TRACES_SAMPLER is '{name}'; it may be always_on, always_off, traceidratio, or one of these with parentbased_ before it."),
        };
    }
}
