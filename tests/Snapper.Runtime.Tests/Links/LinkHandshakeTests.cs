using Snapper.Cluster.Links;
using Snapper.Protocol.Identity;
using Xunit;

namespace Snapper.Runtime.Tests.Links;

/// <summary>Who may make a link to whom, by the bytes of both.</summary>
public sealed class LinkHandshakeTests
{
    private const string System = "a system";
    private static readonly Incarnation s_one = new(1, 7);
    private static readonly Incarnation s_two = new(2, 5);
    private static readonly byte[] s_key = [1, 2, 3];
    private static readonly byte[] s_other = [4, 5, 6];

    [Fact]
    public void Two_workers_with_one_secret_prove_themselves_to_each_other()
    {
        var hello = LinkHandshake.Hello(s_one, s_two, System, [s_key]);
        Assert.True(LinkHandshake.TryRead(hello, s_two, System, [s_key], out var from, out var key, out _));
        Assert.Equal(s_one, from);
        var welcome = LinkHandshake.Welcome(hello, s_two, key);
        var proof = LinkHandshake.Proof(hello, welcome, [s_key], out var problem);
        Assert.Equal("", problem);
        Assert.True(LinkHandshake.IsProved(proof, hello, welcome, key));
    }

    [Fact]
    public void A_worker_with_the_old_secret_is_taken_by_one_that_has_both()
    {
        var hello = LinkHandshake.Hello(s_one, s_two, System, [s_key]);
        Assert.True(LinkHandshake.TryRead(hello, s_two, System, [s_other, s_key], out _, out var key, out _));
        var welcome = LinkHandshake.Welcome(hello, s_two, key);
        Assert.NotNull(LinkHandshake.Proof(hello, welcome, [s_key], out _));
    }

    [Fact]
    public void Workers_without_a_secret_link_and_one_with_a_secret_does_not_link_to_them()
    {
        var open = LinkHandshake.Hello(s_one, s_two, System, []);
        Assert.True(LinkHandshake.TryRead(open, s_two, System, [], out _, out var key, out _));
        Assert.NotNull(LinkHandshake.Proof(open, LinkHandshake.Welcome(open, s_two, key), [], out _));
        Assert.Contains("different SNAPPER_MAILBOX_SECRETs", Problem(open, s_two, System, [s_key]),
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_hello_that_is_not_for_this_worker_is_refused_in_words()
    {
        var hello = LinkHandshake.Hello(s_one, s_two, System, [s_key]);
        Assert.Contains("different SNAPPER_MAILBOX_SECRETs", Problem(hello, s_two, System, [s_other]),
            StringComparison.Ordinal);
        Assert.Contains("is for w2/5, and this is w2/6", Problem(hello, new(2, 6), System, [s_key]),
            StringComparison.Ordinal);
        Assert.Contains("is for w2/5, and this is w3/5", Problem(hello, new(3, 5), System, [s_key]),
            StringComparison.Ordinal);
        Assert.Contains("another system", Problem(hello, s_two, "b system", [s_key]), StringComparison.Ordinal);
        Assert.Contains("damaged", Problem(hello[..^1], s_two, System, [s_key]), StringComparison.Ordinal);
        Assert.Contains("do not begin a link", Problem("GET / HTTP/1.1"u8.ToArray(), s_two, System, [s_key]),
            StringComparison.Ordinal);
        hello[8] = 9;
        Assert.Contains("version 9", Problem(hello, s_two, System, [s_key]), StringComparison.Ordinal);
        var same = LinkHandshake.Hello(s_two with { Epoch = 4 }, s_two, System, [s_key]);
        Assert.Contains("no worker that may link", Problem(same, s_two, System, [s_key]), StringComparison.Ordinal);
    }

    [Fact]
    public void Whoever_answers_without_the_secret_or_in_another_place_is_not_believed()
    {
        var hello = LinkHandshake.Hello(s_one, s_two, System, [s_key]);
        Assert.Null(LinkHandshake.Proof(hello, LinkHandshake.Welcome(hello, s_two, s_other), [s_key], out var problem));
        Assert.Contains("does not show", problem, StringComparison.Ordinal);
        Assert.Null(LinkHandshake.Proof(hello, LinkHandshake.Welcome(hello, new(2, 6), s_key), [s_key], out problem));
        Assert.Contains("w2/6 answers", problem, StringComparison.Ordinal);
        Assert.Null(LinkHandshake.Proof(hello, LinkHandshake.Refused("it is late"), [s_key], out problem));
        Assert.Equal("it is late", problem);
        Assert.Null(LinkHandshake.Proof(hello, [1, 1], [s_key], out problem));
        Assert.Null(LinkHandshake.Proof(hello, [], [s_key], out problem));
    }

    [Fact]
    public void A_proof_of_one_link_proves_no_other()
    {
        var hello = LinkHandshake.Hello(s_one, s_two, System, [s_key]);
        var welcome = LinkHandshake.Welcome(hello, s_two, s_key);
        var proof = LinkHandshake.Proof(hello, welcome, [s_key], out _)!;
        Assert.False(LinkHandshake.IsProved(proof, hello, LinkHandshake.Welcome(hello, s_two, s_key), s_key));
        Assert.False(LinkHandshake.IsProved(welcome.AsSpan(^LinkHandshake.ProofBytes..), hello, welcome,
            s_key)); // its own proof, sent back
        Assert.False(LinkHandshake.IsProved(proof.AsSpan(1), hello, welcome, s_key));
    }

    [Fact]
    public void No_bytes_end_the_reader()
    {
        var chance = new Random(1);
        var good = LinkHandshake.Hello(s_one, s_two, System, [s_key]);
        for (var i = 0; i < 200_000; i++)
        {
            var bytes = (byte[])good.Clone();
            for (var change = chance.Next(4); change >= 0; change--)
            {
                bytes[chance.Next(bytes.Length)] = (byte)chance.Next(256);
            }

            var cut = bytes.AsSpan(0, chance.Next(4) == 0 ? chance.Next(bytes.Length) : bytes.Length);
            LinkHandshake.TryRead(cut, s_two, System, [s_key], out _, out _, out _);
            LinkHandshake.Proof(good, cut, [s_key], out _);
        }
    }

    private static string Problem(byte[] hello, Incarnation own, string system, byte[][] keys)
    {
        Assert.False(LinkHandshake.TryRead(hello, own, system, keys, out _, out _, out var problem));
        Assert.True(LinkHandshake.Refused(problem).Length <= LinkHandshake.MaxBytes);
        return problem;
    }
}
