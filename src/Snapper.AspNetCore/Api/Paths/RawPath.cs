using Microsoft.AspNetCore.Http.Features;

namespace Snapper.AspNetCore.Api.Paths;

/// <summary>The path as the caller wrote it.</summary>
/// <remarks>
/// The server decodes percent escapes in the routed path, all but <c>%2F</c>, so that an id with a slash and one with the
/// three characters <c>%2F</c> look alike there. In the raw target they differ.
/// </remarks>
internal static class RawPath
{
    /// <summary>What follows the prefix, still escaped, without the query; null when the target does not begin so.</summary>
    public static string? After(HttpContext context, string prefix)
    {
        var target = context.Features.Get<IHttpRequestFeature>()?.RawTarget ?? string.Empty;
        var query = target.IndexOf('?', StringComparison.Ordinal);
        var path = query < 0 ? target : target[..query];
        return path.StartsWith(prefix, StringComparison.OrdinalIgnoreCase) ? path[prefix.Length..] : null;
    }
}
