using System.Text.Json;
using System.Text.Json.Serialization;

namespace Snapper.Security;

/// <summary>One token as configuration describes it; holds its hash, never the token.</summary>
public sealed record TokenSettings
{
    private static readonly JsonSerializerOptions s_json = new(JsonSerializerDefaults.Web)
    {
        UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
        AllowDuplicateProperties = false,
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    };

    /// <summary>1 to 64 letters, digits, <c>.</c>, <c>_</c>, <c>-</c> or <c>@</c>; each once.</summary>
    public string? Name { get; init; }

    /// <summary>64 hexadecimal digits: SHA-256 of the token.</summary>
    public string? Sha256 { get; init; }

    /// <summary>caller, viewer, operator or admin.</summary>
    public string? Role { get; init; }

    /// <summary>The tenants to whose names it is bound: 1 to 64 printable characters without <c>/</c>; none: not bound.</summary>
    public IReadOnlyList<string>? Tenants { get; init; }

    /// <summary>Requests per second, 0.1 to 1,000,000; null: what holds for all.</summary>
    public double? RatePerSecond { get; init; }

    /// <summary>Reads one line of a file of tokens.</summary>
    /// <exception cref="FormatException">It is no such object; the message does not repeat it.</exception>
    public static TokenSettings FromJson(string line)
    {
        try
        {
            return JsonSerializer.Deserialize<TokenSettings>(line, s_json) ?? throw new FormatException("it is null.");
        }
        catch (JsonException wrong)
        {
            throw new FormatException($"it is not {{\"name\", \"sha256\", \"role\", \"tenants\", \"ratePerSecond\"}} (at {wrong.Path ?? "$"}).");
        }
    }

    /// <summary>The line for a file of tokens.</summary>
    public string ToJson() => JsonSerializer.Serialize(this, s_json);

    /// <summary>Whom the token makes of its holder.</summary>
    /// <param name="hash">Its hash.</param>
    /// <exception cref="FormatException">A value is wrong; the message names it.</exception>
    public Principal ToPrincipal(out byte[] hash)
    {
        if (!IsName(Name))
        {
            throw new FormatException("name must be 1 to 64 letters, digits, '.', '_', '-' or '@'.");
        }

        hash = TokenHash.Parse(Sha256) ?? throw new FormatException($"sha256 of {Name} must be 64 hexadecimal digits: './snapper token' makes a token and its hash.");
        var role = Roles.OfToken(Role) ?? throw new FormatException($"role of {Name} must be {string.Join(", ", Roles.OfTokens.Select(one => one.Name()))}, not '{Role}'.");
        if (RatePerSecond is { } rate && !(rate >= 0.1 && rate <= 1_000_000))
        {
            throw new FormatException($"ratePerSecond of {Name} must be 0.1 to 1000000.");
        }

        foreach (var tenant in Tenants ?? [])
        {
            if (!IsTenant(tenant)) throw new FormatException($"tenants of {Name}: a tenant has 1 to 64 printable characters and no '/'.");
        }

        // An empty list in a file is more likely a forgotten name than the wish to see all.
        return Tenants is { Count: 0 } ? throw new FormatException($"tenants of {Name} is empty; leave it out, or name a tenant.") : new Principal(Name!, role, Tenants, RatePerSecond);
    }

    private static bool IsName(string? name) =>
        name is { Length: > 0 and <= 64 } && name.All(c => char.IsAsciiLetterOrDigit(c) || c is '.' or '_' or '-' or '@');

    private static bool IsTenant(string? tenant) => tenant is { Length: > 0 and <= 64 } && !tenant.Any(c => c == '/' || char.IsControl(c));
}
