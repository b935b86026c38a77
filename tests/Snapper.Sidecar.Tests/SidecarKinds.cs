using Microsoft.AspNetCore.Server.Kestrel.Core;
using Snapper.Sidecar.Client;
using Snapper.Sidecar.Embedded;
using Snapper.Sidecar.Hosting;
using Xunit;

namespace Snapper.Sidecar.Tests;

/// <summary>What a test asks of the sidecar that it starts.</summary>
public sealed record SidecarSetup(int AppPort, string? ApiToken = null, string? AppApiToken = null);

public interface IRunningSidecar : IAsyncDisposable
{
    Uri Endpoint { get; }
}

/// <summary>A way to have a sidecar.</summary>
public interface ISidecarKind
{
    /// <summary>False: tests of this kind are shown as not run, and nothing is started.</summary>
    bool IsAvailable { get; }

    /// <summary>What the app must speak: <c>http</c> or <c>h2c</c>.</summary>
    string AppProtocol { get; }

    Task<IRunningSidecar> Start(SidecarSetup setup);
}

public class RealDapr : ISidecarKind
{
    public bool IsAvailable => DaprBinaries.SkipReason is null;

    public virtual string AppProtocol => "http";

    public async Task<IRunningSidecar> Start(SidecarSetup setup) =>
        new Running(await DaprFixture.Start(new DaprFixtureOptions
        {
            AppPort = setup.AppPort,
            AppProtocol = AppProtocol,
            DaprApiToken = setup.ApiToken,
            AppApiToken = setup.AppApiToken,
            Resources = Repository.Path("components"),
            Config = Repository.Path("components", "config.yaml"),
        }));

    private sealed class Running(DaprFixture fixture) : IRunningSidecar
    {
        public Uri Endpoint => fixture.Endpoint;

        public ValueTask DisposeAsync() => fixture.DisposeAsync();
    }
}

public sealed class RealDaprOverH2c : RealDapr
{
    public override string AppProtocol => "h2c";
}

public sealed class StandIn : ISidecarKind
{
    public bool IsAvailable => true;

    public string AppProtocol => "http";

    public async Task<IRunningSidecar> Start(SidecarSetup setup) =>
        new Running(await EmbeddedSidecar.Start(
            new EmbeddedSidecarOptions { AppPort = setup.AppPort, Port = 0, ApiToken = setup.ApiToken, AppApiToken = setup.AppApiToken },
            CancellationToken.None));

    private sealed class Running(EmbeddedSidecar sidecar) : IRunningSidecar
    {
        public Uri Endpoint => sidecar.Endpoint;

        public ValueTask DisposeAsync() => sidecar.DisposeAsync();
    }
}

/// <summary>An app, a sidecar beside it, and a client of the sidecar.</summary>
public sealed class Rig : IAsyncDisposable
{
    private Rig(ISidecarKind kind, TestApp app, IRunningSidecar sidecar, DaprSidecarClient client)
    {
        Kind = kind;
        App = app;
        Sidecar = sidecar;
        Client = client;
    }

    public ISidecarKind Kind { get; }

    public TestApp App { get; }

    public TestHost Host => App.Host;

    public IRunningSidecar Sidecar { get; }

    public DaprSidecarClient Client { get; }

    public static async Task<Rig> Start(ISidecarKind kind, string? apiToken = null, string? appApiToken = null)
    {
        var app = await TestApp.Start(
            0,
            new DaprHostOptions { AppApiToken = appApiToken, MaxBodyBytes = 4 * 1024 * 1024 },
            kind.AppProtocol == "h2c" ? HttpProtocols.Http2 : HttpProtocols.Http1);
        var sidecar = await kind.Start(new SidecarSetup(app.Port, apiToken, appApiToken));
        var client = new DaprSidecarClient(sidecar.Endpoint, apiToken);
        return new Rig(kind, app, sidecar, client);
    }

    /// <summary>Waits until calls to actors are served.</summary>
    public async Task WaitForActors()
    {
        var deadline = DateTime.UtcNow + TimeSpan.FromSeconds(30);
        while (!(await Client.IsHealthy(default) && (await Client.GetMetadata(default)).ActorRuntime is { HostReady: true, ActiveActors.Count: > 0 }))
        {
            Assert.True(DateTime.UtcNow < deadline, "Waited 30 s for the sidecar to report hostReady with actor types.");
            await Task.Delay(25);
        }
    }

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await Sidecar.DisposeAsync();
        await App.DisposeAsync();
    }
}

/// <summary>One rig for all tests of a class.</summary>
public sealed class SharedRig<TKind> : IAsyncLifetime
    where TKind : ISidecarKind, new()
{
    public Rig Rig { get; private set; } = null!;

    public async Task InitializeAsync()
    {
        var kind = new TKind();
        if (kind.IsAvailable)
        {
            Rig = await Rig.Start(kind);
            await Rig.WaitForActors();
        }
    }

    public async Task DisposeAsync()
    {
        if (Rig is not null)
        {
            await Rig.DisposeAsync();
        }
    }
}

/// <summary>Files of the repository, wherever the tests run from.</summary>
public static class Repository
{
    public static string Path(params string[] parts)
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(System.IO.Path.Combine(folder.FullName, "Snapper.Dapr.sln")))
            {
                return System.IO.Path.Combine([folder.FullName, .. parts]);
            }
        }

        throw new DirectoryNotFoundException("Snapper.Dapr.sln was found in no folder above the tests.");
    }
}
