using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;

namespace Snapper.Protocol.Tests.Channels;

/// <summary>What is wrong with the channels of a world, to see that the ledger notices.</summary>
internal enum ChannelFault
{
    None,
    WithoutEpochs,
    DuplicatesDelivered,
    GapDelivered,
    UnknownTakenForDone,
    EarlierLivesAccepted,
    OldQueueGoesToTheNewLife,
}

/// <summary>
/// Two workers, each with several lives of which earlier ones may go on for a while, and a network that loses, doubles, delays and reorders packets and
/// answers, in one direction or both. One seed decides everything.
/// </summary>
internal sealed class ChannelWorld
{
    private readonly Random _chance;
    private readonly ChannelFault _fault;
    private readonly ChannelLedger _ledger = new();
    private readonly List<Life> _lives = [];
    private readonly List<(Life From, long Attempt, byte[] Packet)> _packets = [];
    private readonly List<(Life To, long Attempt, ChannelAnswer Answer)> _answers = [];
    private readonly long[] _epochs = new long[3];
    private readonly bool[] _cut = new bool[3];
    private readonly int _loss;
    private readonly int _restarts;
    private readonly bool _fences;
    private bool _healed;

    public ChannelWorld(int seed, ChannelFault fault = ChannelFault.None)
    {
        _chance = new Random(seed);
        _fault = fault;
        _loss = _chance.Next(3) * 15;
        _restarts = _chance.Next(3) * 4;
        _fences = _chance.Next(3) == 0;
        Restart(1);
        Restart(2);
    }

    public ChannelLedger Ledger => _ledger;

    public long Retransmissions { get; private set; }

    public long Duplicates { get; private set; }

    public int Restarts { get; private set; }

    public long FullQueues { get; private set; }

    /// <summary>Goes wild for some steps, then heals and requires that everything arrives.</summary>
    public void Run(int steps)
    {
        for (var i = 0; i < steps; i++)
        {
            Step();
        }

        Heal();
    }

    private void Step()
    {
        var at = _lives[_chance.Next(_lives.Count)];
        switch (_chance.Next(1000))
        {
            case < 350:
                Send(at, Target(at));
                break;
            case < 550:
                Pump(at);
                break;
            case < 750:
                CarryPacket();
                break;
            case < 900:
                CarryAnswer();
                break;
            case < 940:
                Fail(at);
                break;
            case < 950:
                at.IsBusy = !at.IsBusy;
                break;
            case < 960:
                var direction = 1 + _chance.Next(2);
                _cut[direction] = !_cut[direction];
                break;
            case < 965:
                at.Sender.RequestPacket();
                break;
            case < 967 when _fences:
                // The directory says that the life which this one knows was fenced, before a later one is known.
                if (!at.View.Known.IsNone && at.View.Known.Epoch < _epochs[at.View.Worker])
                {
                    at.View.Retire(at.View.Known);
                    Tell(at);
                }

                break;
            default:
                if (_chance.Next(100) < _restarts)
                {
                    Restart(1 + _chance.Next(2));
                }

                break;
        }
    }

    /// <summary>Mostly the life that is known; sometimes what a directory says, old or new.</summary>
    private Incarnation Target(Life at)
    {
        var other = 3 - at.Own.Worker;
        return at.View.Known.IsNone || _chance.Next(20) == 0
            ? new Incarnation(other, 1 + _chance.Next((int)_epochs[other]))
            : at.View.Known;
    }

    private void Send(Life at, Incarnation to)
    {
        for (var i = _chance.Next(4); i >= 0; i--)
        {
            var length = _chance.Next(12) == 0 ? 900 : _chance.Next(120);
            var result = at.Sender.Enqueue(to, _ledger.Message(at.Own, to, length));
            Tell(at);
            switch (result)
            {
                case EnqueueResult.Queued:
                    _ledger.Count(at.Own, to);
                    break;
                case EnqueueResult.Full:
                    FullQueues++;
                    break;
                case EnqueueResult.Gone:
                    ChannelLedger.Require(at.View.Known != to, $"{at.Own} cannot send to {to}, which it knows.");
                    break;
            }

            ChannelLedger.Require(at.Sender.QueuedBytes <= Life.Limits.QueueBytes, $"{at.Own} has queued {at.Sender.QueuedBytes} bytes.");
        }
    }

    private void Pump(Life at)
    {
        var before = at.Sender.Retransmissions;
        if (!at.Sender.TryTake("positions"u8, out var packet))
        {
            return;
        }

        Retransmissions += at.Sender.Retransmissions - before;
        _packets.Add((at, at.Sender.Attempt, packet.ToArray()));
    }

    private void CarryPacket()
    {
        if (_packets.Count == 0)
        {
            return;
        }

        var index = _chance.Next(_packets.Count);
        var (from, attempt, bytes) = _packets[index];
        var fate = _healed ? 99 : _chance.Next(100);
        if (fate >= _loss / 2)
        {
            // Otherwise it stays and comes again later.
            _packets.RemoveAt(index);
        }

        if (!_healed && (_cut[from.Own.Worker] || _chance.Next(100) < _loss))
        {
            return;
        }

        // Which life a worker's name leads to is not always the latest.
        var lives = _lives.FindAll(life => life.Own.Worker == 3 - from.Own.Worker);
        var to = _healed ? lives[^1] : lives[_chance.Next(lives.Count)];
        var answer = Receive(to, bytes);
        if (_healed || (!_cut[to.Own.Worker] && _chance.Next(100) >= _loss))
        {
            _answers.Add((from, attempt, answer));
        }
    }

    private ChannelAnswer Receive(Life at, byte[] bytes)
    {
        var packet = PacketBytes.Read(Tampered(at, bytes));
        var accepted = at.Receiver.Offer(packet, out var skip, out var answer);
        Tell(at);
        if (accepted)
        {
            Duplicates += skip;
            var all = true;
            foreach (var message in packet)
            {
                if (skip-- > 0)
                {
                    continue;
                }

                if (at.IsBusy && _chance.Next(2) == 0)
                {
                    all = false;
                    break;
                }

                at.Receiver.Take();
                _ledger.Deliver(at.Own, packet.From, message.Span);
            }

            answer = at.Receiver.Answer(packet.From, all);
        }

        ChannelLedger.Require(ChannelAnswer.TryRead(answer.ToBytes(), out var read) && read == answer, $"{answer} was read as {read}.");
        return _fault == ChannelFault.WithoutEpochs ? answer with { To = default } : answer;
    }

    private byte[] Tampered(Life at, byte[] bytes)
    {
        var packet = PacketBytes.Read(bytes);
        var known = at.View.Known;
        switch (_fault)
        {
            case ChannelFault.WithoutEpochs:
                return PacketBytes.Changed(bytes, known.IsNone ? packet.From : known, at.Own, packet.First);
            case ChannelFault.EarlierLivesAccepted when packet.From.Epoch < at.View.Lowest && !known.IsNone:
                return PacketBytes.Changed(bytes, known, packet.To, packet.First);
            case ChannelFault.OldQueueGoesToTheNewLife when packet.To.Epoch > 0 && packet.To.Epoch < at.Own.Epoch:
                return PacketBytes.Changed(bytes, packet.From, at.Own, packet.First);
            case ChannelFault.DuplicatesDelivered when packet.First < at.Receiver.Next:
            case ChannelFault.GapDelivered when packet.First > at.Receiver.Next:
                return PacketBytes.Changed(bytes, packet.From, packet.To, at.Receiver.Next);
            default:
                return bytes;
        }
    }

    private void CarryAnswer()
    {
        if (_answers.Count == 0)
        {
            return;
        }

        var index = _chance.Next(_answers.Count);
        var (to, attempt, answer) = _answers[index];
        _answers.RemoveAt(index);
        if (_fault == ChannelFault.WithoutEpochs)
        {
            answer = answer with { From = to.View.Known.IsNone ? answer.From : to.View.Known, To = to.Own };
        }

        to.Sender.Answered(attempt, answer);
        Tell(to);
    }

    private void Fail(Life at)
    {
        if (at.Sender.Attempt == 0)
        {
            return;
        }

        if (_fault is ChannelFault.UnknownTakenForDone or ChannelFault.GapDelivered && !at.View.Known.IsNone)
        {
            var underWay = _packets.Find(packet => packet.From == at && packet.Attempt == at.Sender.Attempt).Packet;
            if (underWay is not null && PacketBytes.Read(underWay) is { Count: > 0 } packet)
            {
                at.Sender.Answered(
                    at.Sender.Attempt,
                    new ChannelAnswer { Kind = AnswerKind.Taken, From = at.View.Known, To = at.Own, Next = packet.First + packet.Count });
                return;
            }
        }

        at.Sender.Failed(at.Sender.Attempt);
        Tell(at);
    }

    private void Restart(int worker)
    {
        Restarts++;
        var lives = _lives.FindAll(life => life.Own.Worker == worker);
        foreach (var old in lives)
        {
            // Some go on without knowing that they are fenced.
            if (_chance.Next(2) == 0 || lives.Count > 2)
            {
                _lives.Remove(old);
            }
        }

        _epochs[worker] += 1 + _chance.Next(2);
        _lives.Add(new Life(new Incarnation(worker, _epochs[worker])));
    }

    private void Tell(Life at)
    {
        while (at.View.TryTakeNotice(out var notice))
        {
            _ledger.Notice(at.Own, notice);
        }
    }

    private void Heal()
    {
        _healed = true;
        var last = new[] { _lives.FindLast(life => life.Own.Worker == 1)!, _lives.FindLast(life => life.Own.Worker == 2)! };
        foreach (var life in _lives)
        {
            life.IsBusy = false;
            if (life.Sender.Attempt != 0 && !_packets.Exists(packet => packet.From == life && packet.Attempt == life.Sender.Attempt)
                && !_answers.Exists(answer => answer.To == life && answer.Attempt == life.Sender.Attempt))
            {
                life.Sender.Failed(life.Sender.Attempt);
            }
        }

        // Each says something once more: an idle channel needs nobody to know anything.
        foreach (var life in last)
        {
            life.Sender.RequestPacket();
        }

        // A while at least: an answer that was no use leaves a wish that only the next packet shows.
        for (var step = 0; step < 100 || (step < 50_000 && (_packets.Count > 0 || _answers.Count > 0 || last.Any(life => life.HasWork))); step++)
        {
            foreach (var life in _lives)
            {
                Pump(life);
            }

            CarryPacket();
            CarryAnswer();
        }

        for (var i = 0; i < 2; i++)
        {
            var (from, to) = (last[i], last[1 - i]);
            ChannelLedger.Require(!from.HasWork, $"{from.Own} still has {from.Sender.QueuedMessages} messages for {from.View.Known} although all is well.");
            ChannelLedger.Require(from.View.Known == to.Own, $"{from.Own} takes {from.View.Known} for the current life of {to.Own}.");
            var (sent, came) = (_ledger.Sent(from.Own, to.Own), _ledger.Came(from.Own, to.Own));
            ChannelLedger.Require(sent == came, $"{sent} messages were sent from {from.Own} to {to.Own}, and {came} came.");
        }
    }

    /// <summary>One life of a worker, and its ends of the channels.</summary>
    private sealed class Life
    {
        public static readonly ChannelLimits Limits = new() { PacketBytes = 1024, PacketMessages = 7, MessageBytes = 1024, FullBytes = 2000, QueueBytes = 6000 };

        public Life(Incarnation own)
        {
            Own = own;
            View = new PeerView(3 - own.Worker);
            Sender = new ChannelSender(own, View, Limits);
            Receiver = new ChannelReceiver(own, View);
        }

        public Incarnation Own { get; }

        public PeerView View { get; }

        public ChannelSender Sender { get; }

        public ChannelReceiver Receiver { get; }

        public bool IsBusy { get; set; }

        public bool HasWork => Sender.QueuedMessages > 0 || Sender.Attempt != 0;
    }
}
