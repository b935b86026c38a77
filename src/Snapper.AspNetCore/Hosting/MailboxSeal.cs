using System.Security.Cryptography;
using System.Text;

namespace Snapper.AspNetCore.Hosting;

/// <summary>
/// How workers know each other's packets and answers, which come through sidecars: else every app of the same Dapr namespace could send some, or answer in a worker's place. Each packet carries an HMAC
/// of itself and of the mailbox that it is for, in the <c>Authorization</c> header, which daprd passes on; each answer ends with one of itself and of the packet's. Whoever gets hold of one can only
/// send the same again, which mailboxes expect of sidecars anyway. The key is made of a secret that all workers have; several of them while it is being changed. Thread-safe.
/// </summary>
internal sealed class MailboxSeal
{
    /// <summary>
    /// Environment variable with the secret, or with several, separated by semicolons: the first is used, all are
    /// accepted. <see cref="NoSecret"/>: packets are not sealed. Unset: the worker has no others.
    /// </summary>
    public const string Variable = "SNAPPER_MAILBOX_SECRET";

    /// <summary>Written out, it opens the channel to all that may call actors.</summary>
    public const string NoSecret = "none";

    private const int SecretLengthMin = 16;
    private const int MacBytes = HMACSHA256.HashSizeInBytes;
    private const int ContextMax = 256;
    private const byte OfPacket = 1;
    private const byte OfAnswer = 2;
    private const string Scheme = "Snapper ";

    private readonly byte[][] _keys;

    private MailboxSeal(byte[][] keys) => _keys = keys;

    /// <summary>Nothing is shown, and nothing asked for.</summary>
    public static MailboxSeal None { get; } = new([]);

    /// <summary>What direct links are proved with, of each secret; none: there is no secret.</summary>
    public IReadOnlyList<byte[]> LinkKeys =>
        [.. _keys.Select(static key => HMACSHA256.HashData(key, "direct links"u8))];

    /// <summary>There is a secret.</summary>
    public bool IsOn => _keys.Length > 0;

    /// <summary>Reads the variable's value.</summary>
    /// <returns>Null: it is not set.</returns>
    /// <exception cref="UsageException">A secret is too short to be one.</exception>
    public static MailboxSeal? From(string? secrets)
    {
        if (string.IsNullOrEmpty(secrets)) return null;
        if (secrets == NoSecret) return None;
        var all = secrets.Split(';', StringSplitOptions.TrimEntries);
        return all.All(secret => secret.Length >= SecretLengthMin)
            ? new MailboxSeal([.. all.Select(secret => HMACSHA256.HashData(Encoding.UTF8.GetBytes(secret), "snapper mailbox packets"u8))])
            : throw new UsageException(
                $"{Variable} must have at least {SecretLengthMin} characters: '{ProgramName.Value} token' makes something good.");
    }

    /// <summary>A worker has others, and nothing by which it knows their packets.</summary>
    public static UsageException IsMissing() => new(
        $"{Variable} is not set: packets between workers come through the sidecars, and without a secret that all workers have, "
        + "every app that may call actors could send some in their place. "
        + $"Set the same for all workers ('{ProgramName.Value} token' makes something good), or '{NoSecret}' where no other app can call actors.");

    /// <summary>What a packet shows; null: there is no secret.</summary>
    /// <param name="mailbox">Actor type of the mailbox that it is for, <c>Mailbox@w2</c>.</param>
    /// <param name="packet">Its bytes.</param>
    public string? Of(string mailbox, ReadOnlySpan<byte> packet)
    {
        if (!IsOn) return null;
        Span<byte> mac = stackalloc byte[MacBytes];
        Make(_keys[0], OfPacket, mailbox, packet, mac);
        return Scheme + Convert.ToHexStringLower(mac);
    }

    /// <summary>Which secret a packet was made with; -1: none of ours. 0 where there is none.</summary>
    public int Find(string? shown, string mailbox, ReadOnlySpan<byte> packet)
    {
        if (!IsOn) return 0;
        if (shown is not { Length: 8 + (2 * MacBytes) } || !shown.StartsWith(Scheme, StringComparison.Ordinal)) return -1;
        Span<byte> theirs = stackalloc byte[MacBytes];
        if (Convert.FromHexString(shown.AsSpan(Scheme.Length), theirs, out _, out _) != System.Buffers.OperationStatus.Done) return -1;
        Span<byte> ours = stackalloc byte[MacBytes];
        for (var i = 0; i < _keys.Length; i++)
        {
            Make(_keys[i], OfPacket, mailbox, packet, ours);
            if (CryptographicOperations.FixedTimeEquals(ours, theirs)) return i;
        }

        return -1;
    }

    /// <summary>The answer to a packet, as it is sent.</summary>
    /// <param name="secret">As <see cref="Find"/> said.</param>
    /// <param name="shown">What the packet showed.</param>
    /// <param name="answer">The answer.</param>
    public ReadOnlyMemory<byte> Seal(int secret, string? shown, ReadOnlyMemory<byte> answer)
    {
        if (!IsOn) return answer;
        var bytes = new byte[answer.Length + MacBytes];
        answer.Span.CopyTo(bytes);
        Make(_keys[secret], OfAnswer, shown!, answer.Span, bytes.AsSpan(answer.Length));
        return bytes;
    }

    /// <summary>The answer to a packet that we have sent; null: it does not come from a worker with our secret.</summary>
    public ReadOnlyMemory<byte>? Open(string? shown, ReadOnlyMemory<byte> answer)
    {
        if (!IsOn) return answer;
        if (answer.Length < MacBytes) return null;
        var body = answer[..^MacBytes];
        Span<byte> mac = stackalloc byte[MacBytes];
        Make(_keys[0], OfAnswer, shown!, body.Span, mac);
        return CryptographicOperations.FixedTimeEquals(mac, answer.Span[^MacBytes..]) ? body : (ReadOnlyMemory<byte>?)null; // a bare null beside it would be an empty answer
    }

    // The digest of the content, so that one call over little memory makes the code.
    private static void Make(byte[] key, byte kind, string context, ReadOnlySpan<byte> content, Span<byte> mac)
    {
        Span<byte> text = stackalloc byte[1 + SHA256.HashSizeInBytes + ContextMax];
        text[0] = kind;
        SHA256.HashData(content, text[1..]);
        var length = 1 + SHA256.HashSizeInBytes + Encoding.UTF8.GetBytes(context, text[(1 + SHA256.HashSizeInBytes)..]);
        HMACSHA256.HashData(key, text[..length], mac);
    }
}
