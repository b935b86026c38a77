using Microsoft.Extensions.Logging;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;

namespace Snapper.Cluster.Links;

/// <summary>
/// Packets by direct links, and through the sidecars while there is none: to a worker that takes no links, or whose
/// address
/// is not reached. Thread-safe.
/// </summary>
public sealed class LinkTransport : IMailboxTransport, IAsyncDisposable
{
    private readonly DirectLinkOptions _options;
    private readonly IMailboxTransport _sidecar;
    private readonly ILogger _logger;
    private readonly LinkListener _listener;
    private readonly PeerLink?[] _links = new PeerLink?[TransactionId.WorkerLimit];
    private readonly string?[] _noLink = new string?[TransactionId.WorkerLimit];
    private readonly Lock _gate = new();
    private readonly List<Task> _ending = [];
    private MailboxHub? _hub;
    private bool _isDisposed;

    private LinkTransport(DirectLinkOptions options, IMailboxTransport sidecar, LinkListener listener, ILogger logger)
    {
        (_options, _sidecar, _listener, _logger) = (options, sidecar, listener, logger);
        var host = options.Host ?? listener.Address.Address.ToString();
        Address = new LinkAddress(host, options.HostPort > 0 ? options.HostPort : listener.Address.Port,
            Environment.MachineName);
    }

    /// <summary>Where this worker takes links, as it is registered.</summary>
    public LinkAddress Address { get; }

    /// <summary>Begins to listen. Nothing is linked before <see cref="Open"/> and <see cref="OnMembers"/>.</summary>
    /// <param name="options">How workers link.</param>
    /// <param name="sidecar">The other way.</param>
    /// <param name="logger">For lines.</param>
    /// <exception cref="ArgumentException">A setting is wrong.</exception>
    /// <exception cref="System.Net.Sockets.SocketException">The address cannot be listened on.</exception>
    public static LinkTransport Start(DirectLinkOptions options, IMailboxTransport sidecar, ILogger logger)
    {
        options.Validate();
        return new LinkTransport(options, sidecar, LinkListener.Start(options, logger), logger);
    }

    /// <summary>The mailboxes of this worker.</summary>
    public void Open(MailboxHub hub) => Volatile.Write(ref _hub, hub);

    /// <inheritdoc />
    public Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet,
        CancellationToken cancellation) =>
        Volatile.Read(ref _links[worker])?.Link is { } link
            ? link.Call(packet, cancellation)
            : _sidecar.Deliver(worker, packet, cancellation);

    /// <inheritdoc />
    public void OnMembers(string system, IReadOnlyList<Member> members)
    {
        if (Volatile.Read(ref _hub) is not { } hub)
        {
            return;
        }

        _listener.Open(hub, system);
        lock (_gate)
        {
            foreach (var member in members)
            {
                if (!_isDisposed)
                {
                    Follow(hub.Own, member, system);
                }
            }
        }
    }

    /// <inheritdoc />
    public MailboxRoute? RouteOf(int worker)
    {
        var link = Volatile.Read(ref _links[worker]);
        return new MailboxRoute(link?.Link is not null, link is null ? Volatile.Read(ref _noLink[worker])
            : link.Problem);
    }

    /// <inheritdoc />
    public async ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            _isDisposed = true;
            for (var worker = 0; worker < _links.Length; worker++)
            {
                Drop(worker);
            }
        }

        await Task.WhenAll(_ending).ConfigureAwait(false);
        await _listener.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>Links to the incarnation that is registered now, and to no earlier one; the gate is held.</summary>
    private void Follow(Incarnation own, Member member, string system)
    {
        var worker = member.Incarnation.Worker;
        if (member.Incarnation.Worker == own.Worker)
        {
            return;
        }

        var problem = member.State is MemberState.Left or MemberState.Fenced ? "it is no member any more"
            : !LinkAddress.TryParse(member.Address.Link, out var read) ? "it takes no direct links"
            : read.Value.IsLoopback && read.Value.Machine != Environment.MachineName
                ? $"it takes links on loopback of {read.Value.Machine} alone: "
                    + "Snapper:Cluster:LinkAddress names another address"
            : null;
        Volatile.Write(ref _noLink[worker], problem);
        if (_links[worker] is { } link
            && (problem is not null || link.Own != own || link.To != member.Incarnation
            || link.Address.ToString() != member.Address.Link))
        {
            Drop(worker);
        }

        if (problem is null && _links[worker] is null && LinkAddress.TryParse(member.Address.Link, out var address))
        {
            Volatile.Write(ref _links[worker],
                new PeerLink(own, member.Incarnation, address.Value, system, _options, _logger));
        }
    }

    private void Drop(int worker)
    {
        if (Interlocked.Exchange(ref _links[worker], null) is { } link)
        {
            _ending.RemoveAll(static ended => ended.IsCompletedSuccessfully);
            _ending.Add(link.DisposeAsync().AsTask());
        }
    }
}
