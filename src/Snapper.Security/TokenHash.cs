using System.Buffers;
using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;

namespace Snapper.Security;

/// <summary>
/// Tokens and their hashes. A token has 256 random bits, so that a plain SHA-256 tells nothing of it: what is configured and stored is the hash alone.
/// </summary>
public static class TokenHash
{
    /// <summary>Bytes of a hash.</summary>
    public const int Length = SHA256.HashSizeInBytes;

    /// <summary>Longest token that is looked at, in UTF-16 code units.</summary>
    public const int TokenLengthMax = 512;

    /// <summary>What new tokens begin with, so that a scanner for leaked secrets, or a person, knows one when it sees it.</summary>
    public const string Prefix = "snapper_";

    private const int Utf8BytesMax = TokenLengthMax * 3;

    /// <summary>A new token.</summary>
    public static string NewToken() => Prefix + Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(32));

    /// <summary>The hash of a token, as configuration writes it: 64 hexadecimal digits, small.</summary>
    public static string Of(string token)
    {
        ArgumentNullException.ThrowIfNull(token);
        return Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(token)));
    }

    /// <summary>The hash of a token that a caller shows. Allocates nothing.</summary>
    /// <param name="token">As it came.</param>
    /// <param name="hash">Takes <see cref="Length"/> bytes.</param>
    /// <returns>False: it is empty, too long, or no text; then it is unknown.</returns>
    public static bool TryCompute(ReadOnlySpan<char> token, Span<byte> hash)
    {
        if (token.IsEmpty || token.Length > TokenLengthMax)
        {
            return false;
        }

        Span<byte> bytes = stackalloc byte[Utf8BytesMax];
        if (System.Text.Unicode.Utf8.FromUtf16(token, bytes, out _, out var written, replaceInvalidSequences: false) != OperationStatus.Done)
        {
            return false;
        }

        SHA256.HashData(bytes[..written], hash);
        CryptographicOperations.ZeroMemory(bytes[..written]);
        return true;
    }

    /// <summary>Reads a hash from configuration.</summary>
    /// <returns>Null: it has not 64 hexadecimal digits.</returns>
    public static byte[]? Parse(string? text)
    {
        var bytes = new byte[Length];
        return text?.Trim() is { Length: Length * 2 } digits && Convert.FromHexString(digits, bytes, out _, out var written) == OperationStatus.Done && written == Length ? bytes : null;
    }
}
