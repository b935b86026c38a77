using System.Collections.Concurrent;
using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Snapper.Cluster.Links;
using Snapper.Cluster.Mailboxes;
using Snapper.Protocol.Identity;
using Snapper.Storage.Membership;

namespace Snapper.Runtime.Tests.Links;

/// <summary>Two workers' mailboxes with real links between them, and a stand-in for the sidecars that counts.</summary>
internal sealed class LinkedPair : IAsyncDisposable
{
    public const string System = "a system";
    public static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(400);

    private LinkedPair(End one, End two) => (One, Two) = (one, two);

    public End One { get; }

    public End Two { get; }

    public static DirectLinkOptions Options(byte key = 1) =>
        new() { Keys = [[key]], Patience = Patience, RetryDelay = TimeSpan.FromMilliseconds(5),
            RetryDelayMax = TimeSpan.FromMilliseconds(20) };

    public static LinkedPair Start(DirectLinkOptions? one = null, DirectLinkOptions? two = null)
    {
        var hubs = new ConcurrentDictionary<int, MailboxHub>();
        return new LinkedPair(End.Start(new(1, 7), hubs, one ?? Options()),
            End.Start(new(2, 5), hubs, two ?? Options()));
    }

    /// <summary>Both know each other, at these addresses or at their own.</summary>
    public LinkedPair Meet(string? addressOfTwo = null, string? addressOfOne = null, Incarnation? two = null)
    {
        Member[] members =
        [
            MemberOf(One.Own, addressOfOne ?? One.Links.Address.ToString()),
            MemberOf(two ?? Two.Own, addressOfTwo ?? Two.Links.Address.ToString()),
        ];
        One.Links.OnMembers(System, members);
        Two.Links.OnMembers(System, members);
        return this;
    }

    public static Member MemberOf(Incarnation life, string link) => new()
    {
        Incarnation = life, State = MemberState.Live, CurrentEpoch = life.Epoch, Remaining = TimeSpan.FromSeconds(5),
            LiveFor = TimeSpan.FromSeconds(5),
        Entries = 1, Rescuer = default, Expirations = 0, Evictions = 0,
            Address = new MemberAddress("app", "", 1, "test", link),
    };

    public static async Task Until(Func<bool> holds, string what)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(20));
        while (!holds())
        {
            if (limit.IsCancellationRequested)
            {
                throw new TimeoutException($"Waited 20 s: {what}.");
            }

            await Task.Delay(5);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await One.DisposeAsync();
        await Two.DisposeAsync();
    }

    /// <summary>One of them.</summary>
    internal sealed class End : IMailboxOwner, IMailboxTransport, IAsyncDisposable
    {
        private readonly ConcurrentDictionary<int, MailboxHub> _hubs;
        private int _throughSidecar;

        private End(ConcurrentDictionary<int, MailboxHub> hubs) => _hubs = hubs;

        public required Incarnation Own { get; init; }

        public LinkTransport Links { get; private set; } = null!;

        public MailboxHub Hub { get; private set; } = null!;

        public ConcurrentQueue<string> Heard { get; } = new();

        public int ThroughSidecar => Volatile.Read(ref _throughSidecar);

        public bool IsBusy => false;

        public static End Start(Incarnation own, ConcurrentDictionary<int, MailboxHub> hubs, DirectLinkOptions options)
        {
            var end = new End(hubs) { Own = own };
            end.Links = LinkTransport.Start(options, end, NullLogger.Instance);
            var mailboxes = new MailboxOptions { AnswerTimeout = Patience,
                RetryDelayMax = TimeSpan.FromMilliseconds(20) };
            end.Hub = new MailboxHub(own, end.Links, end, mailboxes, TimeProvider.System);
            hubs[own.Worker] = end.Hub;
            end.Links.Open(end.Hub);
            return end;
        }

        public bool IsDirect(int worker) => Links.RouteOf(worker) is { IsDirect: true };

        public string? Problem(int worker) => Links.RouteOf(worker)?.Problem;

        public void Send(Incarnation to, int number) => Hub.Send(to, Encoding.UTF8.GetBytes($"{number}"));

        Task<ReadOnlyMemory<byte>> IMailboxTransport.Deliver(int worker, ReadOnlyMemory<byte> packet,
            CancellationToken cancellation)
        {
            Interlocked.Increment(ref _throughSidecar);
            return Task.FromResult(_hubs[worker].Deliver(packet));
        }

        public object? Read(Incarnation from, ReadOnlyMemory<byte> message, out string problem)
        {
            problem = "";
            return Encoding.UTF8.GetString(message.Span);
        }

        public void OnMessage(Incarnation from, object message) => Heard.Enqueue((string)message);

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

        public void OnViolation(Exception violation) => Heard.Enqueue(violation.Message);

        public int WriteHeader(int worker, TimeSpan waited, Span<byte> header) => 0;

        public async ValueTask DisposeAsync()
        {
            Hub.Dispose();
            await Links.DisposeAsync();
        }
    }
}
