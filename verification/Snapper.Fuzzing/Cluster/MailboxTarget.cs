using Snapper.Cluster.Mailboxes;
using Snapper.Cluster.Wire;
using Snapper.Fuzzing.Engine;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;

namespace Snapper.Fuzzing.Cluster;

/// <summary>
/// What workers send each other. The first byte of an input says what the rest is: 0 one message, else a packet of messages. Packets are broken with and without their checksum
/// made right again.
/// </summary>
/// <remarks>
/// Oracle for messages: one that comes back the same from its own bytes, or a <see cref="WireFormatException"/>; memory in proportion to the input. For packets: an answer that can be
/// read, whatever came, and nothing handed on but whole packets of messages that can be read.
/// </remarks>
internal sealed class MailboxTarget : FuzzTarget
{
    private const long BytesFree = 64 * 1024;
    private const long BytesPerByte = 128;
    private const int ChecksumBytes = sizeof(uint);

    private static readonly Incarnation s_own = new(1, 3);

    public override string Name => "mailbox";

    public override string Attacks => "what workers send each other: packets and messages of every kind";

    public override int ShortRun => 10_000;

    public override byte[] Generate(Random random)
    {
        var messages = new RandomMessages(random);
        if (random.Percent(60))
        {
            return [0, .. Encode(messages.Message())];
        }

        var sender = new ChannelSender(RandomMessages.Sender, new PeerView(s_own.Worker), new ChannelLimits());
        for (var count = random.Next(4); count > 0; count--)
        {
            sender.Enqueue(s_own, Encode(messages.Message()));
        }

        sender.RequestPacket();
        sender.TryTake(random.Percent(50) ? [] : [1, 2, 3], out var packet);
        return [1, .. packet.Span];
    }

    public override byte[] Mutate(byte[] input, byte[] other, Random random)
    {
        if (input.Length < 2)
        {
            return Pieces.Break(input, other, random);
        }

        var broken = Pieces.Break(input, other, random, from: random.Percent(5) ? 0 : 1);
        if (broken.Length <= 1 + ChecksumBytes || broken[0] == 0 || random.Percent(30))
        {
            return broken;
        }

        // Behind the checksum: the last four bytes of a packet are made right again.
        BitConverter.TryWriteBytes(broken.AsSpan(broken.Length - ChecksumBytes), Crc32C.Of(broken.AsSpan(1, broken.Length - 1 - ChecksumBytes)));
        return broken;
    }

    public override string Run(byte[] input)
    {
        if (input.Length == 0)
        {
            return "nothing";
        }

        return input[0] == 0 ? RunMessage(input.AsSpan(1)) : RunPacket(input.AsMemory(1));
    }

    private static string RunMessage(ReadOnlySpan<byte> bytes)
    {
        var before = GC.GetAllocatedBytesForCurrentThread();
        var read = WireCodec.TryRead(bytes, RandomMessages.Sender, out var problem);
        Demand(GC.GetAllocatedBytesForCurrentThread() - before, bytes.Length);
        if (read is null)
        {
            return problem;
        }

        var written = Encode(read);
        var again = Encode(WireCodec.Read(written, RandomMessages.Sender));
        return again.AsSpan().SequenceEqual(written)
            ? $"read {read.Kind}"
            : throw new FuzzFailureException($"A message of kind {read.Kind} came back from its own bytes as another one.");
    }

    private static string RunPacket(ReadOnlyMemory<byte> packet)
    {
        var heard = new Owner();
        using var hub = new MailboxHub(s_own, NoRoad.Instance, heard, new MailboxOptions { PumpsInline = true, Seed = 1 }, TimeProvider.System);
        var bytes = hub.Deliver(packet);
        if (!ChannelAnswer.TryRead(bytes.Span, out var answer))
        {
            throw new FuzzFailureException("The answer to a packet cannot be read.");
        }

        if (heard.Messages > 0 && answer.Kind is not (AnswerKind.Taken or AnswerKind.Busy))
        {
            throw new FuzzFailureException($"{heard.Messages} messages were handed on from a packet that was answered {answer.Kind}.");
        }

        // An answer is what another worker sends, too.
        ChannelAnswer.TryRead(packet.Span, out _);
        return $"{answer.Kind}: {answer.Problem}{(heard.Messages > 0 ? ", handed on" : "")}{heard.Other}";
    }

    private static byte[] Encode(WireMessage message)
    {
        var writer = WireWriter.Begin(message.Kind);
        message.Write(writer);
        return writer.Written.ToArray();
    }

    private static void Demand(long allocated, int input)
    {
        if (allocated > BytesFree + (BytesPerByte * input))
        {
            throw new FuzzFailureException($"Reading {input} bytes allocated {allocated}.");
        }
    }

    private sealed class NoRoad : IMailboxTransport
    {
        public static NoRoad Instance { get; } = new();

        public Task<ReadOnlyMemory<byte>> Deliver(int worker, ReadOnlyMemory<byte> packet, CancellationToken cancellation) =>
            new TaskCompletionSource<ReadOnlyMemory<byte>>().Task;
    }

    private sealed class Owner : IMailboxOwner
    {
        public int Messages { get; private set; }

        public string Other { get; private set; } = "";

        public bool IsBusy => false;

        public object? Read(Incarnation from, ReadOnlyMemory<byte> message, out string problem) =>
            WireCodec.TryRead(message.Span, from, out problem);

        public void OnUnreadable(Incarnation from, string problem)
        {
            if (Messages > 0)
            {
                throw new FuzzFailureException($"{Messages} messages of a packet that is refused were handed on.");
            }
        }

        public void OnMessage(Incarnation from, object message)
        {
            // What is read again from its own bytes is what was read.
            Messages++;
            var written = Encode((WireMessage)message);
            if (!Encode(WireCodec.Read(written, from)).AsSpan().SequenceEqual(written))
            {
                throw new FuzzFailureException($"A message of {from} came back from its own bytes as another one.");
            }
        }

        public void OnHeader(Incarnation from, ReadOnlyMemory<byte> header) => Other += " header";

        public void OnPeerUp(Incarnation peer) => Other += " up";

        public void OnPeerGone(Incarnation peer) => Other += " gone";

        public void OnOwnIncarnationEnded(Incarnation later) => Other += " over";

        public void OnViolation(Exception violation) => throw new FuzzFailureException($"A packet broke an invariant: {violation.Message}");

        public int WriteHeader(int worker, TimeSpan waited, Span<byte> header) => 0;
    }
}
