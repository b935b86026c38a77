namespace Snapper.Live.Running;

/// <summary>
/// Scripts that stand in for redis-server and daprd when <c>up</c> starts them, with ports changed, so that a <see cref="Links.Link"/> lies on its roads.
/// </summary>
internal sealed class Stand
{
    private const string AppPort = "app-port";
    private const string PlacementPort = "placement-port";

    private readonly StandFolder _folder;

    /// <summary>Writes the scripts.</summary>
    /// <param name="folder">Made when it is not there.</param>
    /// <param name="redisPort">Where Redis really listens.</param>
    /// <param name="appPort">Where daprd finds its app.</param>
    /// <param name="placementPort">Where daprd finds placement.</param>
    public Stand(string folder, int redisPort, int appPort, int placementPort)
    {
        _folder = new StandFolder(folder);
        Redis = _folder.WriteRedis(redisPort);
        Daprd = _folder.Write("daprd", $$"""
            --app-port) {{_folder.Tells("$word", AppPort)}}; word={{StandFolder.Text(appPort)}};;
            --placement-host-address) {{_folder.Tells("${word##*:}", PlacementPort)}}; word=127.0.0.1:{{StandFolder.Text(placementPort)}};;
            """);
    }

    /// <summary>The script to name by SNAPPER_REDIS_SERVER.</summary>
    public string Redis { get; }

    /// <summary>What the next redis-server is told.</summary>
    public StandFolder Folder => _folder;

    /// <summary>The script to name by SNAPPER_DAPRD.</summary>
    public string Daprd { get; }

    /// <summary>The port on which <c>up</c> wanted Redis, where the worker looks for it; null: not started yet.</summary>
    public int? RedisPortAsked => _folder.RedisPortAsked;

    /// <summary>
    /// The port of the worker for its sidecar alone that <c>up</c> named to daprd; null: not started yet.
    /// </summary>
    public int? AppPortAsked => _folder.Told(AppPort);

    /// <summary>The port of placement that <c>up</c> named to daprd; null: not started yet.</summary>
    public int? PlacementPortAsked => _folder.Told(PlacementPort);
}
