using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;
using System.Text;
using Snapper.Protocol.Identity;

namespace Snapper.Cluster.Links;

/// <summary>
/// The bytes by which two workers make a link: each says who it is, and shows that it has the workers' secret without
/// telling it. To read them or to repeat them gains nothing: both nonces are in both proofs.
/// </summary>
/// <remarks>
/// <code>
/// hello     "SNAPLINK"  version u16  from: worker u16, epoch i64  to: worker u16, epoch i64
///           key 8 bytes  nonce 32 bytes  system u8 length, UTF-8
/// welcome   1           version u16  worker u16, epoch i64  nonce 32 bytes  proof 32 bytes
/// proof     32 bytes
/// accepted  1
/// refused   0  why, UTF-8
/// </code>
/// All numbers are little-endian. A proof is an HMAC-SHA-256 of a label, the hello and the welcome without its proof.
/// </remarks>
internal static class LinkHandshake
{
    public const ushort Version = 1;

    /// <summary>Largest frame before a link is accepted.</summary>
    public const int MaxBytes = 512;

    public const int ProofBytes = HMACSHA256.HashSizeInBytes;

    private const int NonceBytes = 32;
    private const int KeyBytes = 8;
    private const int MaxSystemBytes = 128;
    private const int FromAt = 10;
    private const int ToAt = 20;
    private const int KeyAt = 30;
    private const int NonceAt = KeyAt + KeyBytes;
    private const int SystemAt = NonceAt + NonceBytes;
    private const int WelcomeBytes = 13 + NonceBytes;

    private static ReadOnlySpan<byte> Magic => "SNAPLINK"u8;

    /// <summary>The first frame of the end that connects.</summary>
    /// <param name="own">Who connects.</param>
    /// <param name="to">Exactly the incarnation that shall answer.</param>
    /// <param name="system">Id of the directory that both belong to.</param>
    /// <param name="keys">Keys of the secret.</param>
    public static byte[] Hello(Incarnation own, Incarnation to, string system, IReadOnlyList<byte[]> keys)
    {
        var bytes = new byte[SystemAt + 1 + Encoding.UTF8.GetByteCount(system)];
        Magic.CopyTo(bytes);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes.AsSpan(8), Version);
        Write(bytes.AsSpan(FromAt), own);
        Write(bytes.AsSpan(ToAt), to);
        NameOf(keys.Count > 0 ? keys[0] : null, bytes.AsSpan(KeyAt, KeyBytes));
        RandomNumberGenerator.Fill(bytes.AsSpan(NonceAt, NonceBytes));
        bytes[SystemAt] = checked((byte)Encoding.UTF8.GetBytes(system, bytes.AsSpan(SystemAt + 1)));
        return bytes;
    }

    /// <summary>Reads a hello for this worker.</summary>
    /// <param name="hello">Any bytes.</param>
    /// <param name="own">This worker.</param>
    /// <param name="system">Id of the directory that it belongs to.</param>
    /// <param name="keys">Keys of its secret.</param>
    /// <param name="from">Who connects, as it says.</param>
    /// <param name="key">The key that both have; empty: neither has a secret.</param>
    /// <param name="problem">Why it is refused.</param>
    public static bool TryRead(
        ReadOnlySpan<byte> hello, Incarnation own, string system, IReadOnlyList<byte[]> keys, out Incarnation from,
        [NotNullWhen(true)] out byte[]? key, [NotNullWhen(false)] out string? problem)
    {
        (from, key, problem) = (default, null, null);
        if (hello.Length < 10 || !hello.StartsWith(Magic))
        {
            problem = "these bytes do not begin a link between workers";
            return false;
        }

        if (BinaryPrimitives.ReadUInt16LittleEndian(hello[8..]) is var version && version != Version)
        {
            problem = $"the link has version {version}, and {own} speaks version {Version}";
            return false;
        }

        if (hello.Length < SystemAt + 1 || hello.Length != SystemAt + 1 + hello[SystemAt]
            || hello[SystemAt] > MaxSystemBytes)
        {
            problem = "the hello of the link is damaged";
            return false;
        }

        from = Read(hello[FromAt..]);
        if (from.Worker is < 1 or >= TransactionId.WorkerLimit || from.Epoch < 1 || from.Worker == own.Worker
            && from != own)
        {
            problem = $"{from} is no worker that may link to {own}";
            return false;
        }

        // Before anything that tells more of this worker than who it is.
        key = Find(keys, hello.Slice(KeyAt, KeyBytes));
        if (key is null)
        {
            problem = "the two workers have different SNAPPER_MAILBOX_SECRETs";
            return false;
        }

        if (Read(hello[ToAt..]) is var to && to != own)
        {
            problem = $"the link is for {to}, and this is {own}";
            return false;
        }

        if (!Encoding.UTF8.GetBytes(system).AsSpan().SequenceEqual(hello[(SystemAt + 1)..]))
        {
            problem = $"the link comes from another system, and this is {own} of {system}";
            return false;
        }

        return true;
    }

    /// <summary>The answer to a hello that is taken.</summary>
    public static byte[] Welcome(ReadOnlySpan<byte> hello, Incarnation own, byte[] key)
    {
        var bytes = new byte[WelcomeBytes + ProofBytes];
        bytes[0] = 1;
        BinaryPrimitives.WriteUInt16LittleEndian(bytes.AsSpan(1), Version);
        Write(bytes.AsSpan(3), own);
        RandomNumberGenerator.Fill(bytes.AsSpan(13, NonceBytes));
        Prove(key, "acceptor"u8, hello, bytes.AsSpan(0, WelcomeBytes), bytes.AsSpan(WelcomeBytes));
        return bytes;
    }

    /// <summary>The proof of the end that connects; null: the welcome is none of the worker that was meant.</summary>
    /// <param name="hello">What was sent.</param>
    /// <param name="welcome">What came.</param>
    /// <param name="keys">Keys of the secret.</param>
    /// <param name="problem">Why it is not taken.</param>
    public static byte[]? Proof(ReadOnlySpan<byte> hello, ReadOnlySpan<byte> welcome, IReadOnlyList<byte[]> keys,
        out string problem)
    {
        problem = "";
        if (Refusal(welcome) is { } refusal)
        {
            problem = refusal;
            return null;
        }

        if (welcome.Length != WelcomeBytes + ProofBytes
            || BinaryPrimitives.ReadUInt16LittleEndian(welcome[1..]) != Version)
        {
            problem = "the answer to the link's hello is damaged";
            return null;
        }

        if (Read(welcome[3..]) != Read(hello[ToAt..]))
        {
            problem = $"{Read(welcome[3..])} answers the link that is for {Read(hello[ToAt..])}";
            return null;
        }

        var key = keys.Count > 0 ? keys[0] : [];
        Span<byte> proof = stackalloc byte[ProofBytes];
        Prove(key, "acceptor"u8, hello, welcome[..WelcomeBytes], proof);
        if (!CryptographicOperations.FixedTimeEquals(proof, welcome[WelcomeBytes..]))
        {
            problem = "the worker that answers the link does not show this worker's SNAPPER_MAILBOX_SECRET";
            return null;
        }

        var own = new byte[ProofBytes];
        Prove(key, "connector"u8, hello, welcome[..WelcomeBytes], own);
        return own;
    }

    /// <summary>The end that connected has shown the secret.</summary>
    public static bool IsProved(ReadOnlySpan<byte> proof, ReadOnlySpan<byte> hello, ReadOnlySpan<byte> welcome,
        byte[] key)
    {
        Span<byte> ours = stackalloc byte[ProofBytes];
        Prove(key, "connector"u8, hello, welcome[..WelcomeBytes], ours);
        return CryptographicOperations.FixedTimeEquals(ours, proof);
    }

    public static byte[] Refused(string why) =>
        [0, .. Encoding.UTF8.GetBytes(why).AsSpan(0, Math.Min(MaxBytes - 1, Encoding.UTF8.GetByteCount(why)))];

    /// <summary>Why a link was refused; null: it was not.</summary>
    public static string? Refusal(ReadOnlySpan<byte> answer) => answer switch
    {
        [1, ..] => null,
        [0, ..] => Encoding.UTF8.GetString(answer[1..]),
        _ => "the answer to the link's hello is empty or of another protocol",
    };

    private static void Prove(byte[] key, ReadOnlySpan<byte> label, ReadOnlySpan<byte> hello,
        ReadOnlySpan<byte> welcome, Span<byte> proof)
    {
        using var mac = IncrementalHash.CreateHMAC(HashAlgorithmName.SHA256, key);
        mac.AppendData("snapper link "u8);
        mac.AppendData(label);
        mac.AppendData(hello);
        mac.AppendData(welcome);
        mac.GetHashAndReset(proof);
    }

    // By a hash of its own, so that a worker with several secrets finds the one that is meant; it tells nothing of the
    // key.
    private static void NameOf(byte[]? key, Span<byte> name)
    {
        if (key is null)
        {
            name.Clear();
            return;
        }

        Span<byte> mac = stackalloc byte[ProofBytes];
        HMACSHA256.HashData(key, "snapper link key"u8, mac);
        mac[..KeyBytes].CopyTo(name);
    }

    private static byte[]? Find(IReadOnlyList<byte[]> keys, ReadOnlySpan<byte> name)
    {
        Span<byte> ours = stackalloc byte[KeyBytes];
        if (keys.Count == 0)
        {
            NameOf(null, ours);
            return name.SequenceEqual(ours) ? [] : null;
        }

        foreach (var key in keys)
        {
            NameOf(key, ours);
            if (name.SequenceEqual(ours))
            {
                return key;
            }
        }

        return null;
    }

    private static void Write(Span<byte> bytes, Incarnation one)
    {
        BinaryPrimitives.WriteUInt16LittleEndian(bytes, checked((ushort)one.Worker));
        BinaryPrimitives.WriteInt64LittleEndian(bytes[2..], one.Epoch);
    }

    private static Incarnation Read(ReadOnlySpan<byte> bytes) =>
        new(BinaryPrimitives.ReadUInt16LittleEndian(bytes), BinaryPrimitives.ReadInt64LittleEndian(bytes[2..]));
}
