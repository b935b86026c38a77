using Microsoft.Extensions.Logging.Abstractions;
using Snapper.Cluster.Links;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;

namespace Snapper.Benchmarks.Clusters;

/// <summary>
/// The mailboxes of two workers with direct links between them, in this process; each message is answered by one.
/// </summary>
public sealed class LinkedMailboxes : IAsyncDisposable
{
    private const string System = "bench";
    private readonly End _one;
    private readonly End _two;

    private LinkedMailboxes(End one, End two) => (_one, _two) = (one, two);

    /// <summary>Messages that have come, at both ends.</summary>
    public long Messages => _one.Messages + _two.Messages;

    /// <summary>Packets that were sent, by both ends.</summary>
    public long Packets => _one.Packets + _two.Packets;

    /// <summary>Starts both and waits for the links.</summary>
    public static async Task<LinkedMailboxes> StartAsync()
    {
        var (one, two) = (End.Start(new Incarnation(1, 1)), End.Start(new Incarnation(2, 1)));
        Member[] members = [one.AsMember(), two.AsMember()];
        one.Links.OnMembers(System, members);
        two.Links.OnMembers(System, members);
        while (one.Links.RouteOf(2) is not { IsDirect: true } || two.Links.RouteOf(1) is not { IsDirect: true })
        {
            await Task.Delay(5);
        }

        return new LinkedMailboxes(one, two);
    }

    /// <summary>Sends messages, each of which goes to and fro from then on, until <see cref="Cease"/>.</summary>
    public void Begin(int count)
    {
        (_one.Echoes, _two.Echoes) = (true, true);
        for (var i = 0; i < count; i++)
        {
            _one.Send(_two.Own);
        }
    }

    /// <summary>Messages that come are answered no more.</summary>
    public void Cease() => (_one.Echoes, _two.Echoes) = (false, false);

    /// <inheritdoc />
    public async ValueTask DisposeAsync()
    {
        await _one.DisposeAsync();
        await _two.DisposeAsync();
    }

    private sealed class End : IMailboxOwner, IMailboxTransport, IAsyncDisposable
    {
        private static readonly byte[] s_message = new byte[200];
        private long _messages;

        public required Incarnation Own { get; init; }

        public LinkTransport Links { get; private set; } = null!;

        public volatile bool Echoes;

        public long Messages => Interlocked.Read(ref _messages);

        public long Packets => _hub!.Status().Sum(static mailbox => mailbox.PacketsSent);

        public bool IsBusy => false;

        private MailboxHub? _hub;

        public static End Start(Incarnation own)
        {
            var end = new End { Own = own };
            end.Links = LinkTransport.Start(new DirectLinkOptions { Keys = [] }, end, NullLogger.Instance);
            end._hub = new MailboxHub(own, end.Links, end, new MailboxOptions(), TimeProvider.System);
            end.Links.Open(end._hub);
            return end;
        }

        public Member AsMember() => new()
        {
            Incarnation = Own, State = MemberState.Live, CurrentEpoch = Own.Epoch, Remaining = TimeSpan.FromSeconds(5),
            LiveFor = TimeSpan.FromSeconds(5), Entries = 1, Rescuer = default, Expirations = 0, Evictions = 0,
            Address = new MemberAddress("bench", "", Environment.ProcessId, "bench", Links.Address.ToString()),
        };

        public void Send(Incarnation to) => _hub!.Send(to, s_message);

        Task<ReadOnlyMemory<byte>> IMailboxTransport.Deliver(
            int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation) =>
            throw new IOException("There are no sidecars.");

        public object? Read(Incarnation from, ReadOnlyMemory<byte> message, out string problem)
        {
            problem = "";
            return s_message;
        }

        public void OnMessage(Incarnation from, object message)
        {
            Interlocked.Increment(ref _messages);
            if (Echoes)
            {
                Send(from);
            }
        }

        public void OnHeader(Incarnation from, ReadOnlyMemory<byte> header)
        {
        }

        public void OnPeerUp(Incarnation peer)
        {
        }

        public void OnPeerGone(Incarnation peer)
        {
        }

        public void OnOwnIncarnationEnded(Incarnation later)
        {
        }

        public void OnViolation(Exception violation) => throw violation;

        public int WriteHeader(int worker, TimeSpan waited, Span<byte> header) => 0;

        public async ValueTask DisposeAsync()
        {
            _hub!.Dispose();
            await Links.DisposeAsync();
        }
    }
}
