using System.Buffers.Binary;
using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Snapper.Cluster.Mailboxes;
using Snapper.Cluster.Wire;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Execution;
using Snapper.Storage.Log;
using Snapper.Storage.Membership;

namespace Snapper.Cluster.Node;

/// <summary>
/// Where a worker meets the others from the moment its log is open: while it recovers it asks and answers what became of things that were prepared (R2), and keeps
/// whatever else comes until the worker exists. Thread-safe.
/// </summary>
internal sealed class PeerMessenger : IMailboxOwner, IDisposable
{
    private const byte WaitedHeader = 1;
    private const int WaitedBytes = 1 + sizeof(long);

    private readonly Lock _gate = new();
    private readonly long[] _waited = new long[ClusterOptions.LastWorker + 1]; // of the packet that is handed over, in ticks; a peer's packets come one at a time
    private readonly long[] _unreadable = new long[ClusterOptions.LastWorker + 1]; // epochs of which a line says so
    private readonly Background _background;
    private readonly ILogger _logger;
    private readonly Action<Exception> _failed;
    private readonly IMailboxTransport _transport;
    private readonly ClaimedLives _claimed;
    private readonly ConcurrentDictionary<long, Promise<bool>> _asked = new();
    private readonly ConcurrentDictionary<int, StreamRead> _streams = new(); // as each worker's was read last
    private List<Action<INode>>? _early = [];
    private INode? _node;

    public PeerMessenger(
        Incarnation self, IClusterMembers members, IMailboxTransport transport, MailboxOptions options,
        TimeProvider time, Background background, ILogger logger, Action<Exception> failed)
    {
        Self = self;
        _background = background;
        _logger = logger;
        _failed = failed;
        _transport = transport;
        _claimed = new ClaimedLives(self, members, time, background, failed);
        Hub = new MailboxHub(self, transport, this, options, time);
    }

    public Incarnation Self { get; }

    public MailboxHub Hub { get; }

    /// <summary>Id of the directory that this worker belongs to; empty: it is not registered yet.</summary>
    public string System { get; set; } = "";

    /// <summary>The workers were read.</summary>
    public void OnMembers(IReadOnlyList<Member> members) => _transport.OnMembers(System, members);

    /// <summary>How packets to a worker go now; null: there is but one way.</summary>
    public MailboxRoute? RouteOf(int worker) => _transport.RouteOf(worker);

    /// <summary>Questions that were asked and not answered.</summary>
    public int OpenQuestions => _asked.Count;

    /// <summary>Decisions that the streams name which were read here.</summary>
    public int DecisionsRead => _streams.Values.Sum(static stream => stream.Decided.Count);

    /// <summary>The worker exists: it gets what has come, and from now on all that comes.</summary>
    public void Attach(INode node)
    {
        lock (_gate)
        {
            foreach (var early in _early!)
            {
                early(node);
            }

            _early = null;
            _node = node;
        }
    }

    /// <summary>
    /// A stream of a worker was read to its end, its writers fenced: these ACTs were decided in it for others, too, and
    /// no other ones of lives before this epoch. What an earlier reading found and this one does not was trimmed: no
    /// worker can ask for it any more (L8).
    /// </summary>
    public void Read(int worker, long throughEpoch, IEnumerable<TransactionId> decided)
    {
        var read = new StreamRead(throughEpoch, [.. decided]);
        _streams.AddOrUpdate(
            worker, read, (_, known) => known.ThroughEpoch > throughEpoch ? known : read);
    }

    /// <summary>Sends a message; see <see cref="INode.Send"/>.</summary>
    public bool Send(Incarnation to, WireMessage message)
    {
        if (to.IsNone || to.Worker == Self.Worker)
        {
            return false;
        }

        var writer = WireWriter.Begin(message.Kind);
        message.Write(writer);

        // New work is refused at the door while the channel is full. What is left is owed by work that was let in: without it the channel would have a hole, and nobody could say what the
        // other side believes. It is that side's fault, and not this worker, that ends then (R5).
        return Hub.Send(to, writer.Written, beyondLimit: true) == EnqueueResult.Queued;
    }

    /// <summary>Asks what became of something.</summary>
    /// <param name="whom">Who knows.</param>
    /// <param name="number">The global batch or the ACT.</param>
    /// <param name="root">Of an ACT: the life of the worker in which its root ran.</param>
    /// <param name="wait">For how long.</param>
    /// <param name="time">Its clock.</param>
    /// <param name="cancellation">Gives up.</param>
    /// <returns>
    /// Null: no answer in time; ask again, perhaps another worker. An answer that comes later is taken by that
    /// question, until <see cref="EndAsking"/> forgets it.
    /// </returns>
    public async Task<bool?> Ask(Incarnation whom, long number, Incarnation root, TimeSpan wait, TimeProvider time, CancellationToken cancellation)
    {
        var answer = _asked.GetOrAdd(number, static (_, background) => background.Promise<bool>(), _background);
        var question = new OutcomeQueryMessage(number, root);
        if (whom == Self)
        {
            Pass(node => node.Receive(Self, question));
        }
        else if (!Send(whom, question))
        {
            return null;
        }

        try
        {
            return await answer.Task.WaitAsync(wait, time, cancellation).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            return null;
        }
    }

    /// <summary>The answer is known, from whatever source, or not needed any more.</summary>
    public void EndAsking(long number) => _asked.TryRemove(number, out _);

    bool IMailboxOwner.IsBusy => false;

    bool IMailboxOwner.Believes(Incarnation claimed) => _claimed.Believes(claimed);

    object? IMailboxOwner.Read(Incarnation from, ReadOnlyMemory<byte> message, out string problem) =>
        WireCodec.TryRead(message.Span, from, out problem);

    void IMailboxOwner.OnUnreadable(Incarnation from, string problem)
    {
        // It comes again and again: a line for each life.
        if (Interlocked.Exchange(ref _unreadable[from.Worker], from.Epoch) != from.Epoch)
        {
            RuntimeLog.Unreadable(_logger, from.ToString(), problem);
        }
    }

    void IMailboxOwner.OnMessage(Incarnation from, object message)
    {
        var read = (WireMessage)message;
        if (read is SubmitMessage submitted && _waited[from.Worker] is > 0 and var waited)
        {
            read = submitted.Later(new TimeSpan(waited));
        }

        if (read is VerdictMessage verdict)
        {
            OnVerdict(verdict);
        }
        else if (read is not OutcomeQueryMessage asked || !TryAnswer(from, asked))
        {
            Pass(from, read);
        }
    }

    void IMailboxOwner.OnPacketEnd() => Volatile.Read(ref _node)?.First.Wake?.Invoke();

    void IMailboxOwner.OnHeader(Incarnation from, ReadOnlyMemory<byte> header)
    {
    }

    void IMailboxOwner.OnPeerUp(Incarnation peer) => Pass(node => node.OnUp(peer));

    void IMailboxOwner.OnPeerGone(Incarnation peer) => Pass(node => node.OnGone(peer));

    void IMailboxOwner.OnOwnIncarnationEnded(Incarnation later) => _failed(new LogLostFailure(AppendStatus.Fenced, $"{later} lives: this is {Self}, whose log has another owner."));

    void IMailboxOwner.OnViolation(Exception violation) => _failed(violation);

    /// <summary>Whoever reads it takes it off what is left of a request's time: no clock is common to both.</summary>
    int IMailboxOwner.WriteHeader(int worker, TimeSpan waited, Span<byte> header)
    {
        if (waited == TimeSpan.Zero)
        {
            return 0;
        }

        header[0] = WaitedHeader;
        BinaryPrimitives.WriteInt64LittleEndian(header[1..], waited.Ticks);
        return WaitedBytes;
    }

    void IMailboxOwner.OnPacket(Incarnation from, ReadOnlyMemory<byte> header) =>
        _waited[from.Worker] = header.Length >= WaitedBytes && header.Span[0] == WaitedHeader ? BinaryPrimitives.ReadInt64LittleEndian(header.Span[1..]) : 0;

    void IMailboxOwner.OnRoad(int worker, int via)
    {
        if (via == 0)
        {
            RuntimeLog.DirectAgain(_logger, Incarnation.NameOf(worker));
        }
        else
        {
            RuntimeLog.Detour(_logger, Incarnation.NameOf(worker), Incarnation.NameOf(via));
        }
    }

    public void Dispose()
    {
        _claimed.Dispose();
        Hub.Dispose();
    }

    /// <summary>Somebody has said what became of something.</summary>
    public void OnVerdict(VerdictMessage verdict)
    {
        if (_asked.TryGetValue(verdict.Number, out var asked))
        {
            asked.TrySet(verdict.Committed);
        }
    }

    /// <summary>Of lives that are over, what their streams say: nothing can be added to those.</summary>
    private bool TryAnswer(Incarnation from, OutcomeQueryMessage asked)
    {
        if (asked.Root.IsNone || Decided(new TransactionId(asked.Number), asked.Root) is not { } verdict)
        {
            return false;
        }

        Send(from, new VerdictMessage(asked.Number, verdict));
        return true;
    }

    /// <summary>What became of an ACT of a life whose stream was read to its end, by this worker; null: it was not read.</summary>
    public bool? Decided(TransactionId act, Incarnation root) =>
        _streams.TryGetValue(root.Worker, out var stream) && root.Epoch < stream.ThroughEpoch
            ? stream.Decided.Contains(act)
            : null;

    /// <summary>As the other, for what every packet brings: once the worker exists, a message costs no delegate and no lock.</summary>
    private void Pass(Incarnation from, WireMessage message)
    {
        if (Volatile.Read(ref _node) is { } node)
        {
            node.Receive(from, message, wakes: false);
        }
        else
        {
            Keep(from, message);
        }
    }

    private void Keep(Incarnation from, WireMessage message) => Pass(node => node.Receive(from, message));

    private void Pass(Action<INode> what)
    {
        INode? node;
        lock (_gate)
        {
            node = _node;
            if (node is null)
            {
                _early!.Add(what);
                return;
            }
        }

        what(node);
    }

    private sealed record StreamRead(long ThroughEpoch, HashSet<TransactionId> Decided);
}
