using Xunit;

namespace Snapper.Sidecar.Tests;

public sealed class ActorPathTests
{
    [Theory]
    [InlineData("alice", "alice")]
    [InlineData("Account-1_2.3~4", "Account-1_2.3~4")]
    [InlineData("a b", "a%20b")]
    [InlineData("a||b", "a%7C%7Cb")]
    [InlineData("a+b", "a%2Bb")]
    [InlineData("😀", "%F0%9F%98%80")]
    [InlineData("a/b", "a%252Fb")]
    [InlineData("50%", "50%2525")]
    [InlineData("a b/c", "a%2520b%252Fc")]
    [InlineData("..", "%252E%252E")]
    public void Ids_are_encoded_once_or_where_daprd_needs_it_twice(string id, string encoded) =>
        Assert.Equal(encoded, ActorPath.EncodeId(id));

    [Theory]
    [InlineData("")]
    [InlineData("a\0b")]
    public void Ids_that_no_path_can_carry_are_refused(string id) =>
        Assert.ThrowsAny<ArgumentException>(() => ActorPath.EncodeId(id));

    // Not as attribute data: metadata is UTF-8 itself and would replace it.
    [Fact]
    public void A_lone_surrogate_is_refused() =>
        Assert.Throws<ArgumentException>(() => ActorPath.EncodeId(string.Concat("a", "\ud800", "b")));

    [Fact]
    public void Decoding_restores_every_character_that_encoding_takes()
    {
        for (var c = 1; c < 0x10000; c += c < 0x300 ? 1 : 97)
        {
            if (char.IsSurrogate((char)c))
            {
                continue;
            }

            var id = $"x{(char)c}y";
            Assert.True(ActorPath.TryDecode(ActorPath.EncodeName(id), out var decoded));
            Assert.Equal(id, decoded);
        }
    }

    [Theory]
    [InlineData("%")]
    [InlineData("a%2")]
    [InlineData("%g0")]
    [InlineData("%C3")]
    [InlineData("%C0%AF")]
    [InlineData("%ED%A0%80")]
    [InlineData("é")]
    public void What_is_no_encoded_UTF8_is_not_decoded(string segment) => Assert.False(ActorPath.TryDecode(segment, out _));
}
