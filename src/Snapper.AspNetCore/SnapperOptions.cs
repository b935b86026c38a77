using System.Reflection;
using Snapper.Actors.Generated;
using Snapper.AspNetCore.Hosting;

namespace Snapper.AspNetCore;

/// <summary>
/// What a web application says of the worker that it becomes. Each can stand in the section <c>Snapper</c> of the
/// configuration, under its name; what code says wins.
/// </summary>
public sealed class SnapperOptions
{
    private readonly List<(string Origin, IReadOnlyList<ActorTypeDescriptor> Types)> _actors = [];

    /// <summary>
    /// The worker's name, unique in the system; one of several is <c>w1</c>, <c>w2</c> and so on. Default: <c>w1</c>.
    /// </summary>
    public string Name { get; set; } = "w1";

    /// <summary>The Dapr app id. Default: what <c>dapr run</c> says (<c>APP_ID</c>), or else <c>snapper</c>.</summary>
    public string? AppId { get; set; }

    /// <summary>Folder of the log, or of what is remembered of it. Default: <c>.snapper</c>.</summary>
    public string DataDirectory { get; set; } = ".snapper";

    /// <summary>Default: Redis when <see cref="Redis"/> is set, else files in <see cref="DataDirectory"/>.</summary>
    public LogKind? Log { get; set; }

    /// <summary>
    /// <c>HOST:PORT</c> or <c>redis://[USER@]HOST:PORT</c>; the password is read from <c>SNAPPER_REDIS_PASSWORD</c> or
    /// <c>SNAPPER_REDIS_PASSWORD_FILE</c>.
    /// </summary>
    public string? Redis { get; set; }

    /// <summary>When an acknowledged write of a log in files is on disk. Default: before it is acknowledged.</summary>
    public FsyncPolicy Fsync { get; set; } = FsyncPolicy.Always;

    /// <summary>
    /// Default: daprd when the application runs under <c>dapr run</c> (<c>DAPR_HTTP_PORT</c> is set), else the embedded
    /// stand-in, which is not for production.
    /// </summary>
    public SidecarKind? Sidecar { get; set; }

    /// <summary>Port of the sidecar's HTTP API. Default: <c>DAPR_HTTP_PORT</c>, or else 3500.</summary>
    public int? SidecarPort { get; set; }

    /// <summary>
    /// It is one of several workers: so many divide the actors at the very beginning, 1 to 1023. Needs Redis, daprd and
    /// <c>SNAPPER_MAILBOX_SECRET</c>. Default: it is alone.
    /// </summary>
    public int? Workers { get; set; }

    /// <summary>Under which address others show this worker. Default: loopback with the application's port.</summary>
    public string? Url { get; set; }

    /// <summary>
    /// For how long, when it is told to stop, it gives what it owns to the other workers before it stops. Default: not
    /// at all.
    /// </summary>
    public TimeSpan? LeaveOnStop { get; set; }

    /// <summary>Having joined others and owning nothing, it asks for its share. Default: false.</summary>
    public bool TakeShare { get; set; }

    internal IReadOnlyList<(string Origin, IReadOnlyList<ActorTypeDescriptor> Types)> Actors => _actors;

    /// <summary>
    /// Hosts actor types: the list that the generator of <c>Snapper.Actors</c> makes of a project's,
    /// <c>BankActors.All</c>.
    /// </summary>
    public SnapperOptions AddActors(IReadOnlyList<ActorTypeDescriptor> types)
    {
        ArgumentNullException.ThrowIfNull(types);
        _actors.Add(($"the list of AddActors with {types.FirstOrDefault()?.Type ?? "nothing"}", types));
        return this;
    }

    /// <summary>Hosts all actor types of an assembly.</summary>
    /// <exception cref="ArgumentException">It has none.</exception>
    public SnapperOptions AddActors(Assembly assembly)
    {
        ArgumentNullException.ThrowIfNull(assembly);
        _actors.Add((assembly.GetName().Name!, ActorCatalogueAttribute.RequiredTypesOf(assembly)));
        return this;
    }
}
