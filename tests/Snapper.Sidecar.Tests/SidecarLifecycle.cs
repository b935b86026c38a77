using System.Net;
using Snapper.Sidecar.Client;
using Xunit;

namespace Snapper.Sidecar.Tests;

[OnRealDapr]
public sealed class Lifecycle_of_real_daprd() : SidecarLifecycle(new RealDapr());

public sealed class Lifecycle_of_the_embedded_stand_in() : SidecarLifecycle(new StandIn());

/// <summary>Tokens, and what happens when one side is not there; each test with a sidecar of its own.</summary>
public abstract class SidecarLifecycle(ISidecarKind kind)
{
    private static readonly byte[] SomeJson = "{}"u8.ToArray();

    [SidecarFact]
    public async Task With_both_tokens_calls_pass_and_strangers_are_refused_on_both_sides()
    {
        await using var rig = await Rig.Start(kind, apiToken: "for-the-sidecar", appApiToken: "for-the-app");
        await rig.WaitForActors();

        Assert.Equal(200, (await rig.Client.InvokeActor("Account", "alice", "Balance", SomeJson, default)).Status);
        Assert.Equal(200, (await rig.Client.InvokeService(HttpMethod.Post, "snapper", "status/200", SomeJson, default)).Status);

        foreach (var token in new[] { null, "for-the-app", "for-the-sidecarx", "for-the-sideca" })
        {
            using var stranger = new DaprSidecarClient(rig.Sidecar.Endpoint, token);
            Assert.Equal(401, (await stranger.InvokeActor("Account", "alice", "Balance", SomeJson, default)).Status);
            Assert.Equal(401, (await stranger.InvokeService(HttpMethod.Post, "snapper", "status/200", SomeJson, default)).Status);
            Assert.True(await stranger.IsHealthy(default), "health must be answered without the token");
        }

        using var past = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{rig.App.Port}") };
        using var direct = await past.PutAsync("/actors/Account/alice/method/Balance", null);
        Assert.Equal(HttpStatusCode.Unauthorized, direct.StatusCode);
    }

    [SidecarFact]
    public async Task A_call_before_the_app_listens_waits_for_it()
    {
        var port = DaprFixture.FreePort();
        await using var sidecar = await kind.Start(new SidecarSetup(port));
        using var client = new DaprSidecarClient(sidecar.Endpoint, null);
        Assert.False(await client.IsHealthy(default));
        Assert.True(await client.IsOutboundHealthy(default));
        Assert.False((await client.GetMetadata(default)).ActorRuntime.HostReady);
        var early = client.InvokeActor("Account", "alice", "Balance", SomeJson, default);

        await using var app = await TestApp.Start(port, new());

        Assert.Equal(200, (await early.WaitAsync(TimeSpan.FromSeconds(30))).Status);
    }

    [SidecarFact]
    public async Task While_the_app_is_down_calls_fail_at_once_with_a_clear_error_and_work_when_it_is_back()
    {
        await using var rig = await Rig.Start(kind);
        await rig.WaitForActors();
        Assert.Equal(200, (await rig.Client.InvokeActor("Account", "alice", "Balance", SomeJson, default)).Status);
        var port = rig.App.Port;
        await rig.App.DisposeAsync();

        var actor = await rig.Client.InvokeActor("Account", "alice", "Balance", SomeJson, default).WaitAsync(TimeSpan.FromSeconds(10));
        var service = await rig.Client.InvokeService(HttpMethod.Post, "snapper", "status/200", SomeJson, default).WaitAsync(TimeSpan.FromSeconds(10));

        Assert.Equal((500, "ERR_ACTOR_INVOKE_METHOD"), (actor.Status, actor.SidecarError!.Code));
        Assert.Contains("refused", actor.SidecarError.Message, StringComparison.Ordinal);
        Assert.Equal((500, "ERR_DIRECT_INVOKE"), (service.Status, service.SidecarError!.Code));
        Assert.Contains("refused", service.SidecarError.Message, StringComparison.Ordinal);

        await using var again = await TestApp.Start(port, new());
        Assert.Equal(200, (await rig.Client.InvokeActor("Account", "alice", "Balance", SomeJson, default)).Status);
    }

    [SidecarFact]
    public async Task A_sidecar_that_stops_deactivates_its_actors()
    {
        await using var app = await TestApp.Start(0, new());
        string[] ids = ["alice", "a/b%", "it's 😀"];
        await using (var sidecar = await kind.Start(new SidecarSetup(app.Port)))
        {
            using var client = new DaprSidecarClient(sidecar.Endpoint, null);
            foreach (var id in ids)
            {
                Assert.Equal(200, (await client.InvokeActor("Account@w1", id, "Balance", SomeJson, default)).Status);
            }
        }

        Assert.Equal(ids.Order().Select(id => ("Account@w1", id)), app.Host.Deactivated.Order());
    }

    [SidecarFact]
    public async Task A_sidecar_that_is_gone_is_reported_as_unreachable()
    {
        await using var app = await TestApp.Start(0, new());
        var sidecar = await kind.Start(new SidecarSetup(app.Port));
        using var client = new DaprSidecarClient(sidecar.Endpoint, null);
        await sidecar.DisposeAsync();

        var unreachable = await Assert.ThrowsAsync<SidecarUnreachableException>(() => client.InvokeActor("Account", "alice", "Balance", SomeJson, default));

        Assert.True(unreachable.NeverSent);
        Assert.Contains(sidecar.Endpoint.ToString(), unreachable.Message, StringComparison.Ordinal);
        Assert.False(await client.IsHealthy(default));
    }
}
