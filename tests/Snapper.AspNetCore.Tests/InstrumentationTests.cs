using System.Diagnostics;
using System.Net.Http.Json;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using OpenTelemetry.Metrics;
using OpenTelemetry.Trace;
using Snapper.Actors.Generated;
using Snapper.Client;

namespace Snapper.AspNetCore.Tests;

/// <summary>An application whose OpenTelemetry takes what the worker in it has to say.</summary>
public sealed class InstrumentationTests : IDisposable
{
    private static readonly ActorTypeDescriptor[] s_counter =
        [SnapperAspNetCoreTestsActors.All.Single(static type => type.Type == "Counter")];

    private readonly DirectoryInfo _data = Directory.CreateTempSubdirectory("snapper-otel-");

    public void Dispose() => _data.Delete(recursive: true);

    [Fact]
    public void The_client_s_source_is_the_one_that_is_listened_to() =>
        Assert.Equal(SnapperClient.ActivitySourceName, SnapperTelemetryExtensions.ClientSource);

    [Fact]
    public async Task One_trace_goes_from_the_client_to_the_calls_and_metrics_arrive()
    {
        var (spans, metrics) = (new Received<Activity>(), new Received<MetricSnapshot>());
        await using (var app =
            await WebApp.Start(_data.FullName, s_counter, builder => builder.Services.AddOpenTelemetry()
            .WithTracing(it => it.AddSnapperInstrumentation().AddInMemoryExporter(spans))
            .WithMetrics(it => it.AddSnapperInstrumentation().AddInMemoryExporter(metrics))))
        {
            await using var snapper = new SnapperClient(new SnapperClientOptions { Worker = app.Client.BaseAddress });
            await snapper.Actor<ICounter>("a").Pact(static counter => counter.Add(1));
            await app.Commit("Counter", "b", "Add", 1); // without a caller's span: the application's sampler takes all
            app.Application.Services.GetRequiredService<MeterProvider>().ForceFlush();
        }

        var client = Assert.Single(spans, static span => span.Source.Name == SnapperClient.ActivitySourceName);
        var roots = spans.Where(static span => span.DisplayName == "transaction Counter.Add" && span.Source != null
            && span.Source.Name != SnapperClient.ActivitySourceName).ToArray();
        Assert.Equal(2, roots.Length);
        var below = Assert.Single(roots, root => root.TraceId == client.TraceId);
        Assert.Equal(client.SpanId, below.ParentSpanId);
        Assert.Contains(spans, span => span.DisplayName == "call Counter.Add" && span.ParentSpanId == below.SpanId);
        Assert.Contains(metrics, static metric => metric.Name == "snapper.transaction.duration");
        Assert.Contains(metrics, static metric => metric.Name == "snapper.actor.resident");
    }

    [Fact]
    public async Task The_application_s_sampler_decides_and_decides_alike_wherever_it_is_asked()
    {
        var spans = new Received<Activity>();
        await using (var app =
            await WebApp.Start(_data.FullName, s_counter, builder => builder.Services.AddOpenTelemetry()
            .WithTracing(it => it.SetSampler(new ParentBasedSampler(new TraceIdRatioBasedSampler(0.5)))
                .AddSnapperInstrumentation().AddInMemoryExporter(spans))))
        {
            for (var i = 0; i < 60; i++) await app.Commit("Counter", "a", "Add", 1);
            foreach (var flag in "01")
            {
                app.Client.DefaultRequestHeaders.Remove("traceparent");
                app.Client.DefaultRequestHeaders.Add(
                    "traceparent", $"00-4bf92f3577b34da6a3ce929d0e0e473{flag}-00f067aa0ba902b7-0{flag}");
                await app.Commit("Counter", "a", "Add", 1);
            }
        }

        var roots = spans.Where(static span => span.DisplayName == "transaction Counter.Add").ToArray();
        Assert.InRange(roots.Length, 10, 50); // of 61, each with 0.5: outside once in 10 million runs
        Assert.Contains(roots, static root => root.TraceId.ToString() == "4bf92f3577b34da6a3ce929d0e0e4731");
        Assert.DoesNotContain(roots, static root => root.TraceId.ToString() == "4bf92f3577b34da6a3ce929d0e0e4730");
        // What was sampled was written whole: none was taken and then left by a second look.
        Assert.All(roots, root => Assert.Contains(spans, span => span.ParentSpanId == root.SpanId));
    }

    /// <summary>Filled by several threads.</summary>
    private sealed class Received<T> : ICollection<T>
    {
        private readonly List<T> _items = [];

        public int Count
        {
            get { lock (_items) return _items.Count; }
        }

        public bool IsReadOnly => false;

        public void Add(T item)
        {
            lock (_items) _items.Add(item);
        }

        public void Clear() => throw new NotSupportedException();

        public bool Contains(T item)
        {
            lock (_items) return _items.Contains(item);
        }

        public void CopyTo(T[] array, int arrayIndex) => throw new NotSupportedException();

        public bool Remove(T item) => throw new NotSupportedException();

        public IEnumerator<T> GetEnumerator()
        {
            lock (_items) return ((IEnumerable<T>)_items.ToArray()).GetEnumerator();
        }

        System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => GetEnumerator();
    }
}
