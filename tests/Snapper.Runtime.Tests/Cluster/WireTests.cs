using System.Text.Json;
using Snapper.Cluster.Wire;
using Snapper.Fuzzing.Cluster;
using Xunit;

namespace Snapper.Runtime.Tests.Cluster;

/// <summary>
/// Every message between workers comes back from its bytes as it was, and nothing else is taken for one.
/// </summary>
public sealed class WireTests
{
    private static readonly JsonSerializerOptions s_json = new() { IncludeFields = true };

    public static TheoryData<byte> Kinds => [.. RandomMessages.Kinds.Select(kind => (byte)kind)];

    [Theory]
    [MemberData(nameof(Kinds))]
    public void A_message_comes_back_with_every_field(byte kind)
    {
        var random = new RandomMessages(new Random(kind));
        for (var i = 0; i < 300; i++)
        {
            var message = random.Message((WireKind)kind);
            var read = WireCodec.Read(Encode(message), RandomMessages.Sender);

            Assert.Equal(message.GetType(), read.GetType());
            Assert.Equal(Text(message), Text(read));
        }
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void A_message_that_breaks_off_or_goes_on_is_refused_with_words(byte kind)
    {
        var random = new RandomMessages(new Random(kind));
        for (var i = 0; i < 20; i++)
        {
            var whole = Encode(random.Message((WireKind)kind));
            for (var length = 0; length < whole.Length; length += 1 + (whole.Length / 100))
            {
                Assert.NotEmpty(Assert.Throws<WireFormatException>(() => WireCodec.Read(whole.AsSpan(0, length), RandomMessages.Sender)).Message);
            }

            Assert.Throws<WireFormatException>(() => WireCodec.Read([.. whole, 0], RandomMessages.Sender));
        }
    }

    [Fact]
    public void Kinds_that_are_not_known_are_refused_by_number()
    {
        for (var kind = 0; kind < 256; kind++)
        {
            if (!Enum.IsDefined((WireKind)kind))
            {
                byte[] message = [(byte)kind, 1, 2, 3];
                Assert.Contains($"kind {kind}", Assert.Throws<WireFormatException>(() => WireCodec.Read(message, RandomMessages.Sender)).Message, StringComparison.Ordinal);
            }
        }
    }

    private static byte[] Encode(WireMessage message)
    {
        var writer = WireWriter.Begin(message.Kind);
        message.Write(writer);
        return writer.Written.ToArray();
    }

    private static string Text(WireMessage message) => JsonSerializer.Serialize(message, message.GetType(), s_json);
}
