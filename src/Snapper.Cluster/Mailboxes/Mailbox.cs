using Snapper.Protocol;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Mailboxes;

/// <summary>The channels to and from one peer, with their locks, their one packet under way, and their pauses.</summary>
/// <remarks>
/// Two locks, always taken in this order: the inbox is held while the owner is told something, so that it hears one thing at a time and in order; the gate
/// guards the machines and is held for moments. Nobody who sends waits for the inbox: what a sender has to tell is told by whoever holds it.
/// </remarks>
internal sealed partial class Mailbox : IThreadPoolWorkItem, IDisposable
{
    private readonly MailboxHub _hub;
    private readonly int _worker;
    private readonly IMailboxTransport _transport;
    private readonly IMailboxOwner _owner;
    private readonly MailboxOptions _options;
    private readonly TimeProvider _time;
    private readonly Random _jitter;
    private readonly ITimer _timer;
    private readonly Action<Task<ReadOnlyMemory<byte>>, object?> _answered;
    private readonly Lock _inbox = new();
    private readonly List<object> _read = []; // of the packet that is handed over; guarded by the inbox
    private readonly Lock _gate = new();

    // Guarded by the gate.
    private readonly PeerView _view;
    private readonly ChannelSender _sender;
    private readonly ChannelReceiver _receiver;
    private bool _disposed;
    private bool _broken;
    private long _bytesSent;
    private long _packetsReceived;
    private long _bytesReceived;
    private long _messagesReceived;
    private string? _lastProblem;
    private Incarnation _answeredBy;

    public Mailbox(MailboxHub hub, int worker, IMailboxTransport transport, IMailboxOwner owner, MailboxOptions options, TimeProvider time)
    {
        _hub = hub;
        _worker = worker;
        _transport = transport;
        _owner = owner;
        _options = options;
        _time = time;
        _view = new PeerView(worker);
        _sender = new ChannelSender(hub.Own, _view, options.Limits);
        _receiver = new ChannelReceiver(hub.Own, _view);
        _pause = options.RetryDelayMin;
        _jitter = new Random((options.Seed ?? Random.Shared.Next()) ^ (worker * 7919));
        _answered = (task, call) => OnAnswered((long)call!, task);

        // Whoever happens to send first lends the timer none of its ambient values.
        using (ExecutionContext.IsFlowSuppressed() ? default(AsyncFlowControl?) : ExecutionContext.SuppressFlow())
        {
            _timer = time.CreateTimer(static mailbox => ((Mailbox)mailbox!).OnTimer(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }
    }

    public Incarnation Known
    {
        get
        {
            lock (_gate)
            {
                return _view.Known;
            }
        }
    }

    // Single words, read as they are: a moment more or less does not matter to anybody.
    public bool IsFull => _sender.IsFull;

    public long QueuedBytes => _sender.QueuedBytes;

    /// <summary>The life that answered last.</summary>
    public Incarnation Answered
    {
        get
        {
            lock (_gate)
            {
                return _answeredBy;
            }
        }
    }

    public TimeSpan Unanswered
    {
        get
        {
            lock (_gate)
            {
                return _unansweredSince is { } since ? _time.GetElapsedTime(since) : TimeSpan.Zero;
            }
        }
    }

    public TimeSpan Overfull
    {
        get
        {
            lock (_gate)
            {
                return _overfullSince is { } since ? _time.GetElapsedTime(since) : TimeSpan.Zero;
            }
        }
    }

    /// <summary>It lives, as far as is known, and answers directly: packets for others may go through it, and packets of others to it.</summary>
    public bool MayPassOn
    {
        get
        {
            lock (_gate)
            {
                return !_view.Known.IsNone && !_sender.IsFenced && _via == 0 && (_unansweredSince is not { } since || _time.GetElapsedTime(since) < _options.PassOnTimeout);
            }
        }
    }

    public EnqueueResult Send(Incarnation to, ReadOnlySpan<byte> message, bool beyondLimit)
    {
        EnqueueResult result;
        Next next;
        lock (_gate)
        {
            if (_disposed)
            {
                return EnqueueResult.OwnLifeIsOver;
            }

            result = _sender.Enqueue(to, message, beyondLimit);
            next = Changed();
        }

        Do(next);
        return result;
    }

    public void RequestPacket()
    {
        Next next;
        lock (_gate)
        {
            _sender.RequestPacket();
            next = Changed();
        }

        Do(next);
    }

    public void Learn(Incarnation life)
    {
        Next next;
        lock (_gate)
        {
            _view.Learn(life);
            next = Changed();
        }

        Do(next);
    }

    public void Retire(Incarnation life)
    {
        Next next;
        lock (_gate)
        {
            _view.Retire(life);
            next = Changed();
        }

        Do(next);
    }

    public ReadOnlyMemory<byte> Deliver(in ChannelPacket packet, int bytes)
    {
        if (_inbox.IsHeldByCurrentThread)
        {
            // A packet that comes while the owner is just told something on the same thread would overtake the rest of that.
            return MailboxHub.NotReady;
        }

        if (!IsBelieved(packet.From, packet.To))
        {
            return MailboxHub.NotReady;
        }

        ChannelAnswer answer;
        Next next;
        lock (_inbox)
        {
            bool accepted;
            int skip;
            lock (_gate)
            {
                if (_disposed || _broken)
                {
                    return MailboxHub.NotReady;
                }

                accepted = _receiver.Offer(packet, out skip, out answer);
                next = Changed();
                _packetsReceived++;
                _bytesReceived += bytes;
            }

            TellNotices();
            if (accepted)
            {
                answer = Hand(packet, skip);
            }
        }

        Do(next with { Tell = true });
        return answer.Kind == AnswerKind.NotReady ? MailboxHub.NotReady : answer.ToBytes();
    }

    public MailboxStatus Status()
    {
        lock (_gate)
        {
            return new MailboxStatus
            {
                Worker = _worker,
                Peer = _view.Known,
                QueuedBytes = _sender.QueuedBytes,
                QueuedMessages = _sender.QueuedMessages,
                IsFull = _sender.IsFull,
                Unanswered = _unansweredSince is { } since ? _time.GetElapsedTime(since) : TimeSpan.Zero,
                Via = _saidVia,
                PacketsSent = _sender.Packets,
                BytesSent = _bytesSent,
                MessagesSent = _sender.Acknowledged,
                Retransmissions = _sender.Retransmissions,
                MessagesDropped = _sender.Dropped,
                PacketsReceived = _packetsReceived,
                BytesReceived = _bytesReceived,
                MessagesReceived = _messagesReceived,
                Duplicates = _receiver.Duplicates,
                Refusals = _receiver.Refusals,
                LastProblem = _lastProblem,
            };
        }
    }

    public void Dispose()
    {
        CancellationTokenSource? underWay;
        lock (_gate)
        {
            _disposed = true;
            _call = 0;
            _waiting = false;
            underWay = _cancellation;
            _cancellation = null;
        }

        underWay?.Cancel();
        _timer.Dispose();
    }

    /// <summary>Hands the messages of a packet to the owner; the inbox is held, the gate is not.</summary>
    private ChannelAnswer Hand(in ChannelPacket packet, int skip)
    {
        var all = true;
        var isLost = false;
        var taken = 0;
        if (Read(packet, skip) is { } problem)
        {
            _read.Clear();
            _hub.NoteUnreadable();
            _owner.OnUnreadable(packet.From, problem);
            return _receiver.Answer(packet.From, all: false) with { Kind = AnswerKind.Refused, Problem = problem };
        }

        _owner.OnPacket(packet.From, packet.Header);
        foreach (var message in _read)
        {
            if (_owner.IsBusy)
            {
                all = false;
                break;
            }

            _receiver.Take();
            taken++;
            if (!TryHand(packet.From, message))
            {
                isLost = true;
                break;
            }
        }

        _read.Clear();
        _owner.OnPacketEnd();
        if (isLost)
        {
            return new ChannelAnswer { Kind = AnswerKind.NotReady };
        }

        if (all && !packet.Header.IsEmpty)
        {
            _owner.OnHeader(packet.From, packet.Header);
        }

        lock (_gate)
        {
            _messagesReceived += taken;
        }

        return _receiver.Answer(packet.From, all);
    }

    /// <summary>Whether what a packet or an answer says of lives may be used; the gate is not held.</summary>
    /// <param name="from">The life of the peer that it is from.</param>
    /// <param name="to">The life of this worker that it names.</param>
    private bool IsBelieved(Incarnation from, Incarnation to)
    {
        bool isLater;
        lock (_gate)
        {
            isLater = _view.IsLater(from);
        }

        return (!isLater || _owner.Believes(from))
            && (to.Worker != _hub.Own.Worker || to.Epoch <= _hub.Own.Epoch || _owner.Believes(to));
    }

    /// <summary>Reads all messages of a packet that are new, before one of them is taken.</summary>
    /// <returns>Why one cannot be read; null: all are.</returns>
    private string? Read(in ChannelPacket packet, int skip)
    {
        var number = 0;
        foreach (var message in packet)
        {
            if (number++ < skip)
            {
                continue;
            }

            string problem;
            try
            {
                if (_owner.Read(packet.From, message, out problem) is { } read)
                {
                    _read.Add(read);
                    continue;
                }
            }
            catch (Exception bug)
            {
                // Bytes of others end nothing here; the fault is in the answer, in the log and in the sender's status.
                problem = $"{bug.GetType().Name}: {bug.Message}";
            }

            return $"Message {number} of the packet cannot be read: {problem}.";
        }

        return null;
    }

    private bool TryHand(Incarnation from, object message)
    {
        try
        {
            _owner.OnMessage(from, message);
            return true;
        }
        catch (Exception bug)
        {
            // The message is lost to this life, so nothing after it may come: as with every broken invariant, the worker must stop.
            lock (_gate)
            {
                _broken = true;
            }

            _owner.OnViolation(new ProtocolViolationException($"A message from {from} could not be taken in: {bug.GetType().Name}: {bug.Message}"));
            return false;
        }
    }

    /// <summary>Tells what there is to tell, unless somebody else is at it, who then does it.</summary>
    private void Tell()
    {
        while (HasNotices() && !_inbox.IsHeldByCurrentThread && _inbox.TryEnter())
        {
            try
            {
                TellNotices();
            }
            finally
            {
                _inbox.Exit();
            }
        }
    }

    private bool HasNotices()
    {
        lock (_gate)
        {
            return _view.HasNotices;
        }
    }

    private void TellNotices()
    {
        while (true)
        {
            PeerNotice notice;
            lock (_gate)
            {
                if (!_view.TryTakeNotice(out notice))
                {
                    return;
                }
            }

            switch (notice.Kind)
            {
                case PeerNoticeKind.Up:
                    _owner.OnPeerUp(notice.Peer);
                    break;
                case PeerNoticeKind.Gone:
                    _owner.OnPeerGone(notice.Peer);
                    break;
                case PeerNoticeKind.OwnLifeIsOver:
                    _owner.OnOwnIncarnationEnded(notice.Peer);
                    break;
            }
        }
    }
}
