using Snapper.Telemetry;
using Xunit;

namespace Snapper.Server.Tests.Telemetry;

/// <summary>What is exported, and which transactions are traced.</summary>
public sealed class TelemetrySettingsTests
{
    private const string Sampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    private const string NotSampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

    [Fact]
    public void Without_an_endpoint_nothing_is_exported() => Assert.False(Read().IsOn);

    [Fact]
    public void An_endpoint_is_enough_and_each_kind_can_be_switched_off()
    {
        var all = Read(("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317"));
        Assert.Equal((true, true, TelemetryOptions.UsualRatio, true), (all.Traces, all.Metrics, all.Ratio, all.FollowsCaller));
        Assert.False(Read(("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317"), ("OTEL_SDK_DISABLED", "true")).IsOn);
        Assert.False(Read(("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317"), ("OTEL_TRACES_EXPORTER", "none")).Traces);
        Assert.False(Read(("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector:4317")).Metrics);
    }

    [Theory]
    [InlineData("always_on", null, 1, false)]
    [InlineData("parentbased_always_off", null, 0, true)]
    [InlineData("traceidratio", "0.25", 0.25, false)]
    [InlineData("parentbased_traceidratio", "0.5", 0.5, true)]
    public void Samplers_have_their_standard_names(string name, string? argument, double ratio, bool follows)
    {
        var options = Read(("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"), ("OTEL_TRACES_SAMPLER", name), ("OTEL_TRACES_SAMPLER_ARG", argument));
        Assert.Equal((ratio, follows), (options.Ratio, options.FollowsCaller));
    }

    [Theory]
    [InlineData("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317")]
    [InlineData("OTEL_TRACES_SAMPLER", "sometimes")]
    [InlineData("OTEL_TRACES_SAMPLER_ARG", "2")]
    [InlineData("OTEL_TRACES_EXPORTER", "zipkin")]
    public void A_wrong_value_is_named_with_its_variable(string variable, string value)
    {
        var problem = Assert.Throws<FormatException>(() => Read(("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"), (variable, value)));
        Assert.Contains(variable, problem.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_caller_decides_when_it_counts()
    {
        var none = new TelemetryOptions(true, true, 0, true);
        Assert.True(TraceSampling.IsSampled(none, "x", Sampled));
        Assert.False(TraceSampling.IsSampled(none, "x", null));
        Assert.False(TraceSampling.IsSampled(none with { Ratio = 1 }, "x", NotSampled));
        Assert.True(TraceSampling.IsSampled(new TelemetryOptions(true, true, 1, false), "x", NotSampled));
    }

    [Fact]
    public void The_share_is_kept_for_ids_that_are_alike_and_costs_no_memory()
    {
        var options = new TelemetryOptions(true, true, 0.1, true);
        var ids = Enumerable.Range(0, 20_000).Select(i => $"w1-3-9f86d081884c7d65-{i}").ToArray();
        var sampled = 0;
        TraceSampling.IsSampled(options, ids[0], null);
        var before = GC.GetAllocatedBytesForCurrentThread();
        foreach (var id in ids)
        {
            sampled += TraceSampling.IsSampled(options, id, null) ? 1 : 0;
        }

        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());
        Assert.InRange(sampled, 1_600, 2_400);
    }

    private static TelemetryOptions Read(params (string Name, string? Value)[] variables) =>
        TelemetryOptions.Read(name => variables.LastOrDefault(variable => variable.Name == name).Value);
}
