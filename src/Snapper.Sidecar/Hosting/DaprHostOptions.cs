namespace Snapper.Sidecar.Hosting;

/// <summary>How an app hosts actors behind a sidecar.</summary>
public sealed class DaprHostOptions
{
    /// <summary>
    /// Largest request body in bytes that reaches the host. Range: 1 to 1 GiB. Default: 4 MiB. Start daprd with a larger
    /// <c>--max-body-size</c> (16Mi): a body over daprd's own limit gets daprd's answer, not the host's.
    /// </summary>
    public int MaxBodyBytes { get; set; } = 4 * 1024 * 1024;

    /// <summary>
    /// How long an actor may be idle before the sidecar drops its entry, of some 2 KB. daprd counts from the start of
    /// the last call and cuts off calls that still run, so it must be out of their reach: none takes more than 300 s.
    /// Default: an hour, as long as the worker keeps the actor.
    /// </summary>
    public TimeSpan ActorIdleTimeout { get; set; } = TimeSpan.FromHours(1);

    /// <summary>
    /// How long the sidecar lets calls of a type finish when the hosts of that type change, before it cancels them and
    /// sends them again. New calls to the type wait meanwhile, those between workers, too: a call over workers that is under way
    /// cannot end then, and after a restart of placement two or three such rounds follow each other. Range: 0 to 24 s (daprd cuts
    /// off there). Default: 1 s, longer than a transaction should take; a restart of a sidecar is two rounds, and
    /// must end before the others evict its worker, after 3 s.
    /// </summary>
    public TimeSpan DrainOngoingCallTimeout { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Token that the sidecar must present in <c>dapr-api-token</c>; null or empty: none is asked for. Default: environment variable
    /// <c>APP_API_TOKEN</c>, the one that daprd reads.
    /// </summary>
    public string? AppApiToken { get; set; } = Environment.GetEnvironmentVariable("APP_API_TOKEN");

    /// <summary>Whether to serve <c>GET /healthz</c>. Default: true. Switch it off where the app serves its own.</summary>
    public bool MapHealth { get; set; } = true;

    /// <summary>
    /// Another host of actors, as that of Dapr's SDK, is mapped in the same app: calls of its types are left to it, and
    /// <c>/dapr/config</c> is answered here, <c>/dapr/subscribe</c> there. Default: false.
    /// </summary>
    public bool BesideOthers { get; set; }

    internal void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxBodyBytes, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(MaxBodyBytes, 1 << 30);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(ActorIdleTimeout, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfLessThan(DrainOngoingCallTimeout, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(DrainOngoingCallTimeout, TimeSpan.FromSeconds(24));
    }
}
