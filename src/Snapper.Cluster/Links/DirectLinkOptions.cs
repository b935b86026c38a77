using System.Net;
using System.Security.Cryptography.X509Certificates;
using Snapper.Protocol.Channels;

namespace Snapper.Cluster.Links;

/// <summary>How a worker links to the others. <see cref="Validate"/> names what does not go together.</summary>
public sealed class DirectLinkOptions
{
    /// <summary>What is said when some of the three are set.</summary>
    public const string BelongTogether =
        "Snapper:Cluster:LinkCertificate, LinkKey and LinkAuthority belong together: all three are set, or none.";

    /// <summary>Where it listens. Default: loopback, a free port.</summary>
    public IPEndPoint Listen { get; init; } = new(IPAddress.Loopback, 0);

    /// <summary>Under which name others reach it; null: the address on which it listens.</summary>
    public string? Host { get; init; }

    /// <summary>At which port they do, where something stands between; 0: at the one on which it listens.</summary>
    public int HostPort { get; init; }

    /// <summary>Its certificate with its private key, for both ends of a link; null: links are not encrypted.</summary>
    public X509Certificate2? Certificate { get; init; }

    /// <summary>By whom the certificates of all workers are issued.</summary>
    public X509Certificate2Collection? Authority { get; init; }

    /// <summary>Keys that all workers have; the first is used, all are taken. None: a link is not proved.</summary>
    public required IReadOnlyList<byte[]> Keys { get; init; }

    /// <summary>Bounds of the packets.</summary>
    public ChannelLimits Limits { get; init; } = new();

    /// <summary>
    /// How long a connection and its handshake may take, and how long an answer may be missing while nothing else comes
    /// either, 50 ms..1 min. Default: 2 s.
    /// </summary>
    public TimeSpan Patience { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// First pause after an attempt that failed, jittered by a half; doubles each time. Default: 20 ms.
    /// </summary>
    public TimeSpan RetryDelay { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>Longest such pause. Default: 500 ms.</summary>
    public TimeSpan RetryDelayMax { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>Most connections that have not proved yet what they are, 1..10,000. Default: 64.</summary>
    public int MaxUnproved { get; init; } = 64;

    /// <summary>Throws when a setting is out of range, or would leave links open to a network.</summary>
    /// <exception cref="ArgumentException">Names the setting.</exception>
    public void Validate()
    {
        Limits.Validate();
        ArgumentOutOfRangeException.ThrowIfLessThan(Patience, TimeSpan.FromMilliseconds(50), nameof(Patience));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(Patience, TimeSpan.FromMinutes(1), nameof(Patience));
        ArgumentOutOfRangeException.ThrowIfLessThan(RetryDelay, TimeSpan.FromMilliseconds(1), nameof(RetryDelay));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(RetryDelay, RetryDelayMax, nameof(RetryDelay));
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxUnproved, 1, nameof(MaxUnproved));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(MaxUnproved, 10_000, nameof(MaxUnproved));
        if (!IPAddress.IsLoopback(Listen.Address) && Certificate is null)
        {
            throw new ArgumentException(
                $"Direct links would listen on {Listen.Address} without encryption: "
                + "set Snapper:Cluster:LinkCertificate, LinkKey and LinkAuthority, "
                + "or leave Snapper:Cluster:LinkAddress on loopback, or set Snapper:Cluster:Links to 'sidecar'.");
        }

        if (Certificate is null != Authority is null)
        {
            throw new ArgumentException(BelongTogether);
        }

        if (Certificate is { HasPrivateKey: false })
        {
            throw new ArgumentException(
                "Snapper:Cluster:LinkCertificate has no private key: Snapper:Cluster:LinkKey names it.");
        }
    }
}
