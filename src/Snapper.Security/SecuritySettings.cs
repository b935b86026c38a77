using System.Globalization;
using Microsoft.Extensions.Configuration;

namespace Snapper.Security;

/// <summary>The section <c>Snapper:Security</c> (environment: <c>Snapper__Security__Tokens__0__Name</c> and so on), and the file of tokens that it names.</summary>
public sealed class SecuritySettings
{
    /// <summary>Name of the section.</summary>
    public const string Section = "Snapper:Security";

    /// <summary>Environment variable with the name of a file of tokens, as <c>TokensFile</c> in the section: for secrets that are mounted.</summary>
    public const string FileVariable = "SNAPPER_TOKENS_FILE";

    private SecuritySettings(
        KnownTokens tokens, MethodRules methods, bool tenantsApart, bool sidecarMayTransact, double rate, int burst,
        double share)
    {
        Tokens = tokens;
        Methods = methods;
        TenantsApart = tenantsApart;
        SidecarMayTransact = sidecarMayTransact;
        RatePerSecond = rate;
        Burst = burst;
        Share = share;
    }

    /// <summary>The tokens that are accepted.</summary>
    public KnownTokens Tokens { get; }

    /// <summary>Rights per method.</summary>
    public MethodRules Methods { get; }

    /// <summary>Transactions stay within the tenant of their root. True as soon as a token is bound to one.</summary>
    public bool TenantsApart { get; }

    /// <summary>
    /// The sidecar alone, without a token of the caller, may run transactions (<c>SidecarMay</c>: <c>transact</c>), else it only hosts actors (<c>channel</c>). False as soon as a token is bound to a tenant: whoever is bound
    /// could otherwise leave its token out, and with it its tenant, its role and its rate.
    /// </summary>
    public bool SidecarMayTransact { get; }

    /// <summary>Requests per second of a caller whose token says nothing else; 0: unlimited.</summary>
    public double RatePerSecond { get; }

    /// <summary>Requests that a caller may send at once before its rate holds; 0: what it may send in a second.</summary>
    public int Burst { get; }

    /// <summary>
    /// The part of the transactions under way (<c>Snapper:Worker:MaxInFlight</c>) that one token, Dapr app or address
    /// of another machine may have, above 0 to 1. Default: a half.
    /// </summary>
    public double Share { get; }

    /// <summary>Reads the settings.</summary>
    /// <param name="configuration">Files and environment.</param>
    /// <exception cref="FormatException">A setting is wrong; the message names it, and repeats no secret.</exception>
    public static SecuritySettings Read(IConfiguration configuration)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        var section = configuration.GetSection(Section);
        var file = section["TokensFile"] is { Length: > 0 } named ? named : configuration[FileVariable];
        KnownTokens tokens;
        MethodRules methods;
        try
        {
            tokens = new KnownTokens([.. section.GetSection("Tokens").GetChildren().Select(Token), .. string.IsNullOrEmpty(file) ? [] : FromFile(file)]);
        }
        catch (FormatException wrong)
        {
            throw new FormatException($"{Section}:Tokens: {wrong.Message}");
        }

        try
        {
            methods = new MethodRules(section.GetSection("Methods").GetChildren().Select(rule => new MethodRule(rule["Type"] ?? "", rule["Method"] ?? "", List(rule, "Callers") ?? [])));
        }
        catch (FormatException wrong)
        {
            throw new FormatException($"{Section}:Methods: {wrong.Message}");
        }

        var apart = section["TenantsApart"] is { Length: > 0 } text
            ? bool.TryParse(text, out var yes) ? yes : throw new FormatException($"{Section}:TenantsApart must be true or false, not '{text}'.")
            : tokens.Principals.Any(principal => principal.IsBound);
        if (!apart && tokens.Principals.FirstOrDefault(principal => principal.IsBound) is { } bound)
        {
            throw new FormatException($"{Section}:TenantsApart is false, and the token of {bound.Name} is bound to a tenant.");
        }

        return new SecuritySettings(
            tokens, methods, apart, SidecarMay(section["SidecarMay"], tokens),
            Number(section, "RatePerSecond", 1_000_000), (int)Number(section, "Burst", 1_000_000), ShareOf(section));
    }

    private static double ShareOf(IConfigurationSection section) => section["Share"] is not { Length: > 0 } ? 0.5
        : Number(section, "Share", 1) is var share and > 0 ? share
        : throw new FormatException($"{section.Path}:Share must be above 0, at most 1.");

    private static bool SidecarMay(string? text, KnownTokens tokens) => text switch
    {
        null or "" => !tokens.Principals.Any(principal => principal.IsBound),
        "transact" => true,
        "channel" => tokens.Count > 0 ? false : throw new FormatException($"{Section}:SidecarMay is channel, and there are no tokens: nobody could run transactions."),
        _ => throw new FormatException($"{Section}:SidecarMay must be channel or transact, not '{text}'."),
    };

    private static IEnumerable<TokenSettings> FromFile(string file)
    {
        string[] lines;
        try
        {
            lines = File.ReadAllLines(file);
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException or ArgumentException)
        {
            throw new FormatException($"the file of tokens cannot be read: {problem.Message}");
        }

        for (var i = 0; i < lines.Length; i++)
        {
            var line = lines[i].Trim();
            if (line.Length == 0 || line[0] == '#') continue;
            TokenSettings token;
            try
            {
                token = TokenSettings.FromJson(line);
            }
            catch (FormatException wrong)
            {
                throw new FormatException(string.Create(CultureInfo.InvariantCulture, $"{file}, line {i + 1}: {wrong.Message}"));
            }

            yield return token;
        }
    }

    private static TokenSettings Token(IConfigurationSection section) => new()
    {
        Name = section["Name"],
        Sha256 = section["Sha256"],
        Role = section["Role"],
        Tenants = List(section, "Tenants"),
        RatePerSecond = section["RatePerSecond"] is { Length: > 0 } ? Number(section, "RatePerSecond", 1_000_000) : null,
    };

    /// <summary>A list, or one text separated by semicolons, which is easier to write in an environment. Null: it is not there.</summary>
    private static string[]? List(IConfigurationSection section, string name)
    {
        var list = section.GetSection(name);
        var text = list.Value?.Split(';', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
        return text ?? (list.Exists() ? [.. list.GetChildren().Select(one => one.Value ?? "")] : null);
    }

    private static double Number(IConfigurationSection section, string name, double most)
    {
        if (section[name] is not { Length: > 0 } text) return 0;
        return double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var number) && number >= 0 && number <= most
            ? number
            : throw new FormatException(string.Create(CultureInfo.InvariantCulture, $"{section.Path}:{name} must be a number, 0 to {most}, not '{text}'."));
    }
}
