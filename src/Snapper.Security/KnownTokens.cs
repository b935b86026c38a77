using System.Security.Cryptography;

namespace Snapper.Security;

/// <summary>The tokens that are accepted. Thread-safe.</summary>
public sealed class KnownTokens
{
    /// <summary>Most tokens; each presented one is compared with all.</summary>
    public const int CountMax = 1000;

    private const string Scheme = "Bearer ";

    private readonly (byte[] Hash, Principal Principal)[] _tokens;

    /// <exception cref="FormatException">A token is wrong, or there twice; the message says which.</exception>
    public KnownTokens(IEnumerable<TokenSettings> settings)
    {
        ArgumentNullException.ThrowIfNull(settings);
        _tokens = [.. settings.Select(one => (Principal: one.ToPrincipal(out var hash), Hash: hash)).Select(one => (one.Hash, one.Principal))];
        if (_tokens.Length > CountMax)
        {
            throw new FormatException($"there are more than {CountMax} tokens.");
        }

        if (_tokens.GroupBy(token => token.Principal.Name).FirstOrDefault(same => same.Count() > 1) is { } twice)
        {
            throw new FormatException($"the name {twice.Key} is there twice.");
        }

        if (_tokens.GroupBy(token => Convert.ToHexString(token.Hash)).FirstOrDefault(same => same.Count() > 1) is { } shared)
        {
            throw new FormatException($"{string.Join(" and ", shared.Select(token => token.Principal.Name))} have the same token.");
        }
    }

    /// <summary>How many there are.</summary>
    public int Count => _tokens.Length;

    /// <summary>Those whom they make of their holders.</summary>
    public IEnumerable<Principal> Principals => _tokens.Select(token => token.Principal);

    /// <summary>Whose token this is. Takes equally long for every token of a length, whether it is known or not; allocates nothing.</summary>
    /// <returns>Null: it is unknown.</returns>
    public Principal? Find(ReadOnlySpan<char> token)
    {
        Span<byte> hash = stackalloc byte[TokenHash.Length];
        if (!TokenHash.TryCompute(token, hash))
        {
            return null;
        }

        Principal? found = null;
        foreach (var (known, principal) in _tokens)
        {
            found = CryptographicOperations.FixedTimeEquals(known, hash) ? principal : found;
        }

        return found;
    }

    /// <summary>Whose token an <c>Authorization</c> header shows.</summary>
    /// <returns>Null: it is not <c>Bearer</c>, or unknown.</returns>
    public Principal? FindBearer(string? authorization) =>
        authorization is not null && authorization.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase) ? Find(authorization.AsSpan(Scheme.Length).Trim()) : null;

    /// <summary>A text that others will read, with what is a token of ours, or looks like one, taken out.</summary>
    public string Redact(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        var words = text.Split(' ');
        for (var i = 0; i < words.Length; i++)
        {
            var word = words[i].AsSpan().Trim("\"'`,;:()<>[]{}=");
            if (words[i].Contains(TokenHash.Prefix, StringComparison.Ordinal) || Find(word) is not null) words[i] = "(secret)";
        }

        return string.Join(' ', words);
    }
}
