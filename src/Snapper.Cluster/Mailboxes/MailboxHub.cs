using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Mailboxes;

/// <summary>
/// The mailboxes of one life of a worker: one-way messages to and from the current lives of all others, in order and exactly once between two lives
/// (<see cref="ChannelSender"/>, <see cref="ChannelReceiver"/>). Thread-safe.
/// </summary>
/// <remarks>
/// Each peer has a mailbox of its own, so one that is slow or away delays no other. What is queued while a packet is under way goes in the next one. Nothing
/// is sent, and no timer runs, while nothing is queued.
/// </remarks>
public sealed class MailboxHub : IDisposable
{
    private readonly Mailbox?[] _mailboxes = new Mailbox?[TransactionId.WorkerLimit];
    private readonly IMailboxTransport _transport;
    private readonly IMailboxOwner _owner;
    private readonly MailboxOptions _options;
    private readonly TimeProvider _time;
    private long _unreadable;
    private long _passedOn;
    private volatile bool _disposed;

    /// <param name="own">This worker in this life.</param>
    /// <param name="transport">The road to the others. Not disposed.</param>
    /// <param name="owner">Hears what comes. It may be called before the constructor returns to whoever called it, once <see cref="Deliver"/> is.</param>
    /// <param name="options">Bounds and pauses.</param>
    /// <param name="time">For pauses and deadlines.</param>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of range, or <paramref name="own"/> is nobody.</exception>
    public MailboxHub(Incarnation own, IMailboxTransport transport, IMailboxOwner owner, MailboxOptions options, TimeProvider time)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(own.Worker, 1, nameof(own));
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(own.Worker, TransactionId.WorkerLimit, nameof(own));
        ArgumentOutOfRangeException.ThrowIfLessThan(own.Epoch, 1, nameof(own));
        ArgumentNullException.ThrowIfNull(transport);
        ArgumentNullException.ThrowIfNull(owner);
        ArgumentNullException.ThrowIfNull(options);
        ArgumentNullException.ThrowIfNull(time);
        options.Validate();
        Own = own;
        _transport = transport;
        _owner = owner;
        _options = options;
        _time = time;
    }

    /// <summary>The answer of a worker that is starting or stopping.</summary>
    public static ReadOnlyMemory<byte> NotReady { get; } = new ChannelAnswer { Kind = AnswerKind.NotReady }.ToBytes();

    /// <summary>This worker in this life.</summary>
    public Incarnation Own { get; }

    /// <summary>Most bytes of an input or a result in a message; the rest of it is for names and lists.</summary>
    internal int MaxContentBytes => _options.Limits.ContentBytes;

    /// <summary>Packets that could not be read, or of which a message could not.</summary>
    public long Unreadable => Interlocked.Read(ref _unreadable);

    /// <summary>Packets of others that were passed on.</summary>
    public long PassedOn => Interlocked.Read(ref _passedOn);

    /// <summary>Queues a message; copies it. Does not wait, and sends nothing on this thread.</summary>
    /// <param name="to">Exactly the life that shall get it: no other one will. A later one than is known ends the earlier one, as <see cref="Learn"/> does.</param>
    /// <param name="message">The message.</param>
    /// <param name="beyondLimit">Also when more is queued than the channel's hard limit.</param>
    /// <exception cref="ArgumentException">The message is too long, or for this worker itself.</exception>
    public EnqueueResult Send(Incarnation to, ReadOnlySpan<byte> message, bool beyondLimit = false) => Of(to.Worker).Send(to, message, beyondLimit);

    /// <summary>
    /// Sends a packet to a worker even if no message waits for it: to carry the head that <see cref="IMailboxOwner.WriteHeader"/> writes, or to learn which life
    /// of it answers, which <see cref="IMailboxOwner.OnPeerUp"/> then tells. Repeated until it is answered.
    /// </summary>
    public void RequestPacket(int worker) => Of(worker).RequestPacket();

    /// <summary>A life of a worker was heard of elsewhere. A later one than is known becomes the current one; others change nothing.</summary>
    public void Learn(Incarnation life) => Of(life.Worker).Learn(life);

    /// <summary>A life of a worker was fenced elsewhere: it and all earlier ones are over, though no later one may be known.</summary>
    public void Retire(Incarnation life) => Of(life.Worker).Retire(life);

    /// <summary>The current life of a worker; nobody while none is known.</summary>
    public Incarnation Known(int worker) => Find(worker)?.Known ?? default;

    /// <summary>So much is queued for a worker that no new work should be begun that needs it.</summary>
    public bool IsFull(int worker) => Find(worker)?.IsFull ?? false;

    /// <summary>Bytes that are queued for a worker or under way to it.</summary>
    public long QueuedBytes(int worker) => Find(worker)?.QueuedBytes ?? 0;

    /// <summary>
    /// For how long a worker has answered nothing, since a packet was first sent to it (R5); zero: it has answered, or was sent nothing. Who wants to know of
    /// a silent worker sends it something: <see cref="RequestPacket"/>.
    /// </summary>
    public TimeSpan Unanswered(int worker) => Find(worker)?.Unanswered ?? TimeSpan.Zero;

    /// <summary>For how long more is queued for a worker than the channel's hard limit; zero: it is not. It takes too little, if it answers at all (R5).</summary>
    public TimeSpan Overfull(int worker) => Find(worker)?.Overfull ?? TimeSpan.Zero;

    /// <summary>The life of a worker that answered last, whatever it said; nobody: none did.</summary>
    public Incarnation Answered(int worker) => Find(worker)?.Answered ?? default;

    /// <summary>
    /// Sends an empty packet to this worker itself, by the same road on which packets to others go: when it does not come back, it is this end of the road that is broken.
    /// </summary>
    /// <returns>False, or an error of the transport's: it did not come back.</returns>
    public async Task<bool> TryOwnRoad(CancellationToken cancellation)
    {
        var answer = await _transport.Deliver(Own.Worker, default, cancellation).ConfigureAwait(false);
        return ChannelAnswer.TryRead(answer.Span, out var read) && read.From == Own;
    }

    /// <summary>
    /// Bytes have come, in whatever way: a packet for this worker, which is answered at once, or one that is to be passed on, whose answer is that of its receiver. Never fails.
    /// </summary>
    /// <param name="bytes">Any bytes; valid until the returned task completes.</param>
    public ValueTask<ReadOnlyMemory<byte>> Receive(ReadOnlyMemory<byte> bytes) =>
        PassedOnPacket.Is(bytes.Span) ? new(PassOn(PassedOnPacket.Unwrap(bytes))) : new(Deliver(bytes));

    /// <summary>
    /// A packet has come, in whatever way. Its messages are handed to the owner before this returns; it waits for nothing but another packet of the same
    /// peer that is just being handed over. Never throws for what is in the packet.
    /// </summary>
    /// <param name="packet">Any bytes; not kept.</param>
    /// <returns>The answer, for <see cref="IMailboxTransport.Deliver"/> at the other side.</returns>
    public ReadOnlyMemory<byte> Deliver(ReadOnlyMemory<byte> packet)
    {
        if (_disposed)
        {
            return NotReady;
        }

        if (packet.IsEmpty)
        {
            return Refuse(default, "An empty packet: somebody tries the road.");
        }

        if (!ChannelPacket.TryRead(packet, out var read, out var problem))
        {
            Interlocked.Increment(ref _unreadable);
            return Refuse(default, problem);
        }

        return read.From.Worker == Own.Worker
            ? Refuse(read.From, "A worker sends no packets to itself.")
            : Of(read.From.Worker).Deliver(read, packet.Length);
    }

    /// <summary>The mailboxes that exist, by number of the peer.</summary>
    public IReadOnlyList<MailboxStatus> Status()
    {
        var status = new List<MailboxStatus>();
        foreach (var mailbox in _mailboxes)
        {
            if (mailbox is not null)
            {
                status.Add(mailbox.Status());
            }
        }

        return status;
    }

    /// <summary>Ends all mailboxes: what is queued is dropped, packets under way are given up, those that come are answered <see cref="NotReady"/>.</summary>
    public void Dispose()
    {
        _disposed = true;
        foreach (var mailbox in _mailboxes)
        {
            mailbox?.Dispose();
        }
    }

    /// <summary>A packet was refused, because a message of it cannot be read.</summary>
    internal void NoteUnreadable() => Interlocked.Increment(ref _unreadable);

    /// <summary>The next worker, by number, that packets to another one may be sent through; 0: there is none behind <paramref name="after"/>.</summary>
    internal int NextDetour(int worker, int after)
    {
        for (var via = after + 1; via < _mailboxes.Length; via++)
        {
            if (via != worker && Find(via) is { MayPassOn: true })
            {
                return via;
            }
        }

        return 0;
    }

    /// <summary>
    /// Passes a packet on to its receiver, directly: never on another detour. Sender and receiver must be members that live, as far as is known here; of one that has been silent here,
    /// too, its sender need not wait to hear so.
    /// </summary>
    private async Task<ReadOnlyMemory<byte>> PassOn(ReadOnlyMemory<byte> packet)
    {
        if (_disposed)
        {
            return NotReady;
        }

        if (!ChannelPacket.TryRead(packet, out var read, out var problem))
        {
            Interlocked.Increment(ref _unreadable);
            return Refuse(default, problem);
        }

        if (Known(read.From.Worker).IsNone || Find(read.To.Worker) is not { MayPassOn: true })
        {
            return Refuse(read.From, $"w{read.To.Worker} cannot be reached here, either.");
        }

        Interlocked.Increment(ref _passedOn);
        try
        {
            using var limit = new CancellationTokenSource(_options.PassOnTimeout, _time);
            return await _transport.Deliver(read.To.Worker, packet, limit.Token).WaitAsync(limit.Token).ConfigureAwait(false);
        }
        catch (Exception error)
        {
            // As for every packet: whether it has arrived is unknown.
            return Refuse(read.From, $"w{read.To.Worker} did not answer here, either: {error.Message}");
        }
    }

    private ReadOnlyMemory<byte> Refuse(Incarnation to, string problem) =>
        new ChannelAnswer { Kind = AnswerKind.Refused, From = Own, To = to, Problem = problem }.ToBytes();

    private Mailbox? Find(int worker) =>
        worker is > 0 and < TransactionId.WorkerLimit ? Volatile.Read(ref _mailboxes[worker]) : null;

    private Mailbox Of(int worker)
    {
        if (Find(worker) is { } mailbox)
        {
            return mailbox;
        }

        ArgumentOutOfRangeException.ThrowIfLessThan(worker, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(worker, TransactionId.WorkerLimit);
        if (worker == Own.Worker)
        {
            throw new ArgumentException($"{Own} has no mailbox to itself.", nameof(worker));
        }

        var made = new Mailbox(this, worker, _transport, _owner, _options, _time);
        var first = Interlocked.CompareExchange(ref _mailboxes[worker], made, null);
        if (first is not null)
        {
            made.Dispose();
            return first;
        }

        if (_disposed)
        {
            made.Dispose();
        }

        return made;
    }
}
