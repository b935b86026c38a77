using System.Diagnostics;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Contracts;
using Snapper.Runtime.Inspection;
using Snapper.Telemetry;
using Snapper.Tests.Support;
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

    [Theory]
    [InlineData("4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")]
    [InlineData("xx-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")]
    [InlineData("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")]
    [InlineData("00-00000000000000000000000000000000-00f067aa0ba902b7-01")]
    [InlineData("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01")]
    [InlineData("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01")]
    [InlineData("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x")]
    [InlineData("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-x1")]
    [InlineData("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0F")]
    [InlineData("00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01")]
    [InlineData("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more")]
    [InlineData("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more")]
    [InlineData("00-gggggggggggggggggggggggggggggggg-00f067aa0ba902b7-01")]
    [InlineData("1111111111111111111111111111111111111111111111111111111")]
    public void A_trace_context_that_is_not_valid_counts_as_absent(string traceParent)
    {
        Assert.False(TraceSampling.IsSampled(new TelemetryOptions(true, true, 0, true), "x", traceParent));
        Assert.True(TraceSampling.IsSampled(new TelemetryOptions(true, true, 1, true), "x", traceParent));
        Assert.Equal((null, null), Headers(traceParent, "vendor=1"));
    }

    [Fact]
    public void A_valid_one_counts_also_of_a_version_to_come_and_its_state_goes_along()
    {
        const string later = "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03-more";
        Assert.True(TraceSampling.IsSampled(new TelemetryOptions(true, true, 0, true), "x", later));
        Assert.Equal((later, "vendor=1,other=x y"), Headers(later, "vendor=1,other=x y"));
        Assert.Equal((Sampled, null), Headers(Sampled, "vendor=\u00e9"));
        Assert.Equal((Sampled, null), Headers(Sampled, new string('x', 513)));
        Assert.Equal((Sampled, null), Headers(Sampled, null));
    }

    [Theory]
    [InlineData(Sampled)]
    [InlineData("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03-more")]
    public void Spans_are_below_the_callers_and_have_its_state(string traceParent)
    {
        var spans = Written(traceParent, "vendor=1");
        Assert.All(spans, span => Assert.Equal(("4bf92f3577b34da6a3ce929d0e0e4736", "vendor=1"), (span.TraceId.ToHexString(), span.TraceStateString)));
        Assert.Single(spans, span => span.ParentSpanId.ToHexString() == "00f067aa0ba902b7");
    }

    [Fact]
    public void Spans_of_a_caller_that_cannot_be_read_begin_a_trace_of_their_own()
    {
        var spans = Written("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", null);
        Assert.All(spans, span => Assert.Equal(TraceSampling.TraceOf("told"), span.TraceId));
        Assert.Single(spans, span => span.ParentSpanId == default);
    }

    [Fact]
    public void The_share_is_kept_for_ids_that_are_alike_and_costs_no_memory()
    {
        var options = new TelemetryOptions(true, true, 0.1, true);
        var ids = Enumerable.Range(0, 20_000).Select(i => $"w1-3-9f86d081884c7d65-{i}").ToArray();
        var sampled = 0;
        TraceSampling.IsSampled(options, ids[0], null);
        Assert.Equal(0, Allocations.Of(() =>
        {
            sampled = 0;
            foreach (var id in ids)
            {
                sampled += TraceSampling.IsSampled(options, id, null) ? 1 : 0;
            }
        }));
        Assert.InRange(sampled, 1_600, 2_400);
    }

    private static TelemetryOptions Read(params (string Name, string? Value)[] variables) =>
        TelemetryOptions.Read(name => variables.LastOrDefault(variable => variable.Name == name).Value);

    private static (string? Parent, string? State) Headers(string? traceParent, string? traceState)
    {
        var origin = RequestOrigin.Of(null, traceParent, traceState);
        return (origin.TraceParent, origin.TraceState);
    }

    private static List<Activity> Written(string traceParent, string? traceState)
    {
        var spans = new List<Activity>();
        using var listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name == TransactionSpans.SourceName,
            Sample = static (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded,
            ActivityStopped = spans.Add,
        };
        ActivitySource.AddActivityListener(listener);
        using var writer = new TransactionSpans();
        writer.Write(new TraceView("told", 1, 0, "act", "Account/a", "Get", "w1", 1, "committed", null, 1000, 1001, 1002, 1003), traceParent, traceState);
        return spans;
    }
}
