using System.Diagnostics;
using Snapper.Sidecar.Client;
using Xunit;

namespace Snapper.Sidecar.Tests;

/// <summary>The files in components/, as the real daprd reads them.</summary>
public sealed class ComponentsTests
{
    private static readonly byte[] SomeJson = "{}"u8.ToArray();

    [DaprFact]
    public async Task Daprd_reads_them_without_complaint()
    {
        await using var app = await TestApp.Start(0, new());
        await using var dapr = await Start(app, null);
        await dapr.WaitForActors();

        Assert.Contains("Using 'actorstate' as actor state store", dapr.Log, StringComparison.Ordinal);
        Assert.Contains("Loading Resiliency configuration: snapper", dapr.Log, StringComparison.Ordinal);
        Assert.DoesNotContain("level=error", dapr.Log, StringComparison.Ordinal);
        Assert.DoesNotContain("metric spec: {\\\"enabled\\\":true", dapr.Log, StringComparison.Ordinal);
    }

    [DaprFact]
    public async Task Calls_to_our_types_that_no_host_serves_fail_at_once()
    {
        await using var app = await TestApp.Start(0, new());
        await using var dapr = await Start(app, null);
        await dapr.WaitForActors();
        using var client = new DaprSidecarClient(dapr.Endpoint, null);

        var clock = Stopwatch.StartNew();
        var answer = await client.InvokeActor("ListAppend", "k7", "Read", SomeJson, default);

        Assert.Contains("did not find address", answer.SidecarError!.Message, StringComparison.Ordinal);
        Assert.InRange(clock.Elapsed, TimeSpan.Zero, TimeSpan.FromSeconds(2));
    }

    [DaprFact]
    public async Task Daprd_does_not_repeat_calls_that_a_change_of_hosts_cuts_off()
    {
        var drain = new Hosting.DaprHostOptions { DrainOngoingCallTimeout = TimeSpan.FromSeconds(1) };
        await using var first = await TestApp.Start(0, drain);
        await using var dapr = await Start(first, null);
        await dapr.WaitForActors();
        using var client = new DaprSidecarClient(dapr.Endpoint, null);
        var gate = first.Host.GateOf("moving");
        var calls = Enumerable.Range(0, 20).Select(_ => client.InvokeActor("Account", "moving", "wait", SomeJson, default)).ToArray();
        await gate.Filled(20);

        await using var second = await TestApp.Start(0, drain);
        await using var other = await Start(second, dapr);
        await other.WaitForActors();
        var answers = await Task.WhenAll(calls).WaitAsync(TimeSpan.FromSeconds(30));

        Assert.All(answers, answer => Assert.Equal((500, "ERR_ACTOR_INVOKE_METHOD"), (answer.Status, answer.SidecarError?.Code)));
        Assert.Equal(20, gate.Entered + second.Host.GateOf("moving").Entered);
    }

    private static Task<DaprFixture> Start(TestApp app, DaprFixture? placement) =>
        DaprFixture.Start(new DaprFixtureOptions
        {
            AppPort = app.Port,
            Resources = Repository.Path("components"),
            Config = Repository.Path("components", "config.yaml"),
            Placement = placement,
        });
}
