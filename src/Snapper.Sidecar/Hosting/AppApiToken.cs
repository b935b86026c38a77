using System.Security.Cryptography;
using System.Text;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Primitives;

namespace Snapper.Sidecar.Hosting;

/// <summary>
/// The secret that a sidecar shares with its app. Dapr does not check it for the app: a caller that reaches the app's port can
/// call actors past the sidecar, unless every callback is checked here. Also for the app's own routes that are meant
/// for service invocation only.
/// </summary>
public sealed class AppApiToken
{
    private readonly byte[]? _hash;

    /// <param name="token">Null or empty: everything is accepted.</param>
    public AppApiToken(string? token) => _hash = string.IsNullOrEmpty(token) ? null : Hash(token);

    /// <summary>Whether a token is asked for.</summary>
    public bool IsRequired => _hash is not null;

    /// <summary>Whether a request presents the token, exactly once. Takes equally long for every wrong token of a length.</summary>
    public bool Accepts(HttpRequest request) => _hash is null || Accepts(request.Headers[DaprHeaders.ApiToken]);

    /// <summary>Answers a request that does not: 401, with what to do.</summary>
    public static Task Refuse(HttpContext context) => Refusal.WrongToken(context);

    private bool Accepts(StringValues presented) =>
        presented is [{ Length: > 0 and <= 4096 } token] && CryptographicOperations.FixedTimeEquals(Hash(token), _hash);

    // Hashing first gives both sides one length, so that the comparison does not tell the length of the secret.
    private static byte[] Hash(string token) => SHA256.HashData(Encoding.UTF8.GetBytes(token));
}
