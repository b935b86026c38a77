using System.Buffers.Binary;
using Snapper.Protocol.Channels;
using Snapper.Protocol.Identity;
using Snapper.Tests.Support;

namespace Snapper.Protocol.Tests.Channels;

public sealed class PacketTests
{
    private static readonly Incarnation A = new(1, 5);
    private static readonly Incarnation B = new(1023, long.MaxValue);

    [Fact]
    public void A_packet_is_read_as_it_was_written()
    {
        byte[][] messages = [[], [1], new byte[127], new byte[128], new byte[16_384], new byte[300_000]];
        var packet = PacketBytes.Read(PacketBytes.Of(A, B, 42, [7, 8, 9], messages));
        Assert.Equal((A, B, 42L, 6), (packet.From, packet.To, packet.First, packet.Count));
        Assert.Equal([7, 8, 9], packet.Header.ToArray());
        var i = 0;
        foreach (var message in packet)
        {
            Assert.Equal(messages[i++], message.ToArray());
        }

        Assert.Equal(6, i);
    }

    [Theory]
    [InlineData("The packet is shorter than its head.", 0, -1, 0)]
    [InlineData("These bytes are no packet.", 0, 0, 'X')]
    [InlineData("The packet has a version that is not known here.", 2, 0, 2)]
    [InlineData("The header blob of the packet is too long.", 3, 0, 65)]
    [InlineData("The packet is not as long as it says.", 36, 0, 1)]
    [InlineData("The checksum of the packet is wrong.", 50, 0, 99)]
    [InlineData("The packet names no sender.", 4, 1, 0)]
    [InlineData("The packet names no sender.", 5, 1, 4)]
    [InlineData("The packet names no sender.", 8, 1, 0)]
    [InlineData("The packet names no sender.", 15, 1, 0x80)]
    [InlineData("The packet names no receiver.", 23, 1, 0x80)]
    [InlineData("The numbers of the packet's messages are out of range.", 24, 1, 0)]
    [InlineData("The numbers of the packet's messages are out of range.", 35, 1, 0x80)]
    [InlineData("The packet has messages for nobody in particular.", 16, 1, 0)]
    [InlineData("A message of the packet is longer than the packet.", 32, 1, 3)]
    [InlineData("The packet has more bytes than messages.", 32, 1, 1)]
    [InlineData("A message of the packet is longer than the packet.", 40, 1, 100)]
    public void A_damaged_packet_is_refused_and_the_reason_is_told(string reason, int at, int signed, int value)
    {
        var bytes = PacketBytes.Of(A, new Incarnation(2, 7), 1, [1, 2, 3], [4, 5, 6, 7, 8, 9, 10]);
        if (signed < 0)
        {
            bytes = bytes[..20];
        }
        else
        {
            Assert.NotEqual(value, bytes[at]);
            bytes[at] = (byte)value;
        }

        Assert.False(ChannelPacket.TryRead(signed > 0 ? PacketBytes.Signed(bytes) : bytes, out _, out var problem));
        Assert.Equal(reason, problem);
    }

    [Fact]
    public void Hostile_bytes_are_refused_or_read_exactly_and_cost_no_memory()
    {
        var chance = new Random(1);
        int accepted = 0, refused = 0;
        for (var i = 0; i < 60_000; i++)
        {
            var bytes = Hostile(chance);
            Assert.Equal(0, Allocations.Of(() =>
            {
                ChannelPacket.TryRead(bytes, out var read, out _);
                foreach (var message in read)
                {
                    _ = message.Length;
                }
            }));
            var readable = ChannelPacket.TryRead(bytes, out var packet, out var problem);
            var count = 0;
            var length = 0;
            foreach (var message in packet)
            {
                count++;
                length += message.Length;
            }

            Assert.Equal(readable, problem.Length == 0);
            if (!readable)
            {
                refused++;
                Assert.Equal(0, count);
                continue;
            }

            accepted++;
            Assert.Equal(packet.Count, count);
            Assert.True(length <= bytes.Length);
            var messages = new List<byte[]>();
            foreach (var message in packet)
            {
                messages.Add(message.ToArray());
            }

            Assert.Equal(bytes, PacketBytes.Of(packet.From, packet.To, packet.First, packet.Header.ToArray(), [.. messages]));
        }

        Assert.True(accepted > 1_000, $"{accepted} accepted");
        Assert.True(refused > 1_000, $"{refused} refused");
    }

    [Fact]
    public void Hostile_answers_are_refused_or_read_exactly()
    {
        var chance = new Random(1);
        for (var i = 0; i < 60_000; i++)
        {
            var bytes = new ChannelAnswer
            {
                Kind = (AnswerKind)(1 + chance.Next(7)), From = new Incarnation(chance.Next(65_536), chance.NextInt64()), To = A, Next = chance.NextInt64(),
                Newest = chance.NextInt64(), Problem = chance.Next(2) == 0 ? null : new string('p', 1 + chance.Next(250)),
            }.ToBytes();
            Assert.True(bytes.Length <= ChannelAnswer.BytesMax);
            Assert.True(ChannelAnswer.TryRead(bytes, out var whole));
            Assert.Equal(bytes, whole.ToBytes());
            Damage(chance, ref bytes);
            if (ChannelAnswer.TryRead(bytes, out var answer))
            {
                Assert.Equal(bytes, answer.ToBytes());
            }
        }
    }

    [Fact]
    public void The_checksum_is_that_of_the_standard() => Assert.Equal(0xE3069283u, Crc32C.Of("123456789"u8));

    [Fact]
    public void A_message_costs_no_object()
    {
        var view = new PeerView(2);
        var sender = new ChannelSender(A, view, new ChannelLimits());
        var receiver = new ChannelReceiver(new Incarnation(2, 1), new PeerView(1));
        var message = new byte[100];
        Assert.True(Round() >= 0);
        Round();
        var each = Enumerable.Range(0, 5).Min(_ => Round()) / 10_000.0;
        Assert.True(each < 1, $"{each} bytes allocated per message");

        long Round()
        {
            var before = GC.GetAllocatedBytesForCurrentThread();
            for (var i = 0; i < 10_000; i++)
            {
                sender.Enqueue(new Incarnation(2, 1), message);
            }

            while (sender.TryTake([], out var bytes))
            {
                Assert.True(ChannelPacket.TryRead(bytes, out var packet, out _));
                Assert.True(receiver.Offer(packet, out _, out _));
                foreach (var _ in packet)
                {
                    receiver.Take();
                }

                sender.Answered(sender.Attempt, receiver.Answer(packet.From, all: true));
            }

            return GC.GetAllocatedBytesForCurrentThread() - before;
        }
    }

    private static byte[] Hostile(Random chance)
    {
        var messages = new byte[chance.Next(5)][];
        for (var i = 0; i < messages.Length; i++)
        {
            messages[i] = new byte[chance.Next(chance.Next(2) == 0 ? 8 : 300)];
            chance.NextBytes(messages[i]);
        }

        var header = new byte[chance.Next(3) * 16];
        var bytes = PacketBytes.Of(A, new Incarnation(2, 7), 1 + chance.Next(1000), header, messages);
        var damages = chance.Next(4);
        for (var i = 0; i < damages; i++)
        {
            Damage(chance, ref bytes);
        }

        // Mostly with a fitting checksum, so that what lies behind it is reached.
        return bytes.Length > sizeof(uint) && chance.Next(5) > 0 ? PacketBytes.Signed(bytes) : bytes;
    }

    private static void Damage(Random chance, ref byte[] bytes)
    {
        switch (chance.Next(6))
        {
            case 0:
                bytes = bytes[..chance.Next(bytes.Length + 1)];
                break;
            case 1:
                bytes = [.. bytes, .. new byte[chance.Next(20)]];
                break;
            case 2 when bytes.Length > 44:
                // A number of the head: huge, negative, or off by one.
                var at = 24 + (4 * chance.Next(4));
                BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(at), chance.Next(3) switch
                {
                    0 => int.MaxValue,
                    1 => -1 - chance.Next(5),
                    _ => BinaryPrimitives.ReadInt32LittleEndian(bytes.AsSpan(at)) + chance.Next(3) - 1,
                });
                break;
            default:
                if (bytes.Length > 0)
                {
                    bytes[chance.Next(bytes.Length)] = (byte)chance.Next(256);
                }

                break;
        }
    }
}
