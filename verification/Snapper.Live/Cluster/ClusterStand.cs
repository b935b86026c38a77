using Snapper.Live.Running;

namespace Snapper.Live.Cluster;

/// <summary>
/// Scripts that stand in for redis-server and daprd when <c>up</c> starts several workers: Redis listens on another port than it was told, and so
/// does each sidecar, which finds its worker at another one, so that links lie on these roads. Each worker tells the
/// others another port for direct links than it listens on.
/// </summary>
internal sealed class ClusterStand
{
    private readonly StandFolder _folder;

    /// <summary>Writes the scripts.</summary>
    /// <param name="folder">Made when it is not there.</param>
    /// <param name="redisPort">Where Redis really listens.</param>
    /// <param name="sidecarsFrom">The port of the first sidecar − that of the first worker + 1.</param>
    public ClusterStand(string folder, int redisPort, int sidecarsFrom)
    {
        _folder = new StandFolder(folder);
        Redis = _folder.WriteRedis(redisPort);
        // 'up' gives each worker a port that its sidecar alone calls. Here it calls it by the link, which is told the
        // port.
        var own = StandFolder.Text(AppShift + 1 - sidecarsFrom);
        Daprd = _folder.Write("daprd", $$"""
            --dapr-http-port) app=$((word + {{own}})); word=$((word + {{StandFolder.Text(SidecarShift)}}));;
            --app-port)
              told='{{_folder.PathOf(AppPort)}}'${app:?}
              printf %s "$word" >"$told.next" && mv "$told.next" "$told"
              word=$app
              ;;
            """);
        Links = new LinkPlaces(_folder);
        Clocks = new Clocks(_folder, Links.Tells);
    }

    private const string AppPort = "app-port-";

    /// <summary>Sidecars find their worker so much above its port.</summary>
    public const int AppShift = 40;

    /// <summary>Sidecars listen so much above the port at which their worker looks for them.</summary>
    public const int SidecarShift = 20;

    /// <summary>Where a worker is called by its sidecar alone; null: its sidecar was not started yet.</summary>
    /// <param name="link">The port of the link that leads there.</param>
    public int? AppPortAsked(int link) => _folder.Told(AppPort + StandFolder.Text(link));

    /// <summary>The script to name by SNAPPER_REDIS_SERVER.</summary>
    public string Redis { get; }

    /// <summary>The script to name by SNAPPER_DAPRD.</summary>
    public string Daprd { get; }

    /// <summary>Clocks of workers, and of Redis.</summary>
    public Clocks Clocks { get; }

    /// <summary>Where workers take direct links of others.</summary>
    public LinkPlaces Links { get; }

    /// <summary>What the next redis-server is told.</summary>
    public StandFolder Folder => _folder;
}
