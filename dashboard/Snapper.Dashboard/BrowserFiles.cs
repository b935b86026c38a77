using System.Security.Cryptography;
using Microsoft.Net.Http.Headers;

namespace Snapper.Dashboard;

/// <summary>The files that a browser loads, from the assembly. Their addresses carry a hash of their content, so that browsers may keep them.</summary>
internal static class BrowserFiles
{
    private static readonly Dictionary<string, string> s_types = new()
    {
        ["blazor.web.js"] = "text/javascript; charset=utf-8",
        ["snapper.js"] = "text/javascript; charset=utf-8",
        ["snapper.css"] = "text/css; charset=utf-8",
        ["favicon.svg"] = "image/svg+xml",
    };

    private static readonly Dictionary<string, byte[]> s_files = s_types.Keys.ToDictionary(name => name, Load);

    /// <summary>Address of a file.</summary>
    public static string Url(string name) => $"/{Folder(name)}{name}?v={Convert.ToHexStringLower(SHA256.HashData(s_files[name]))[..12]}";

    /// <summary>Serves them.</summary>
    public static void Map(IEndpointRouteBuilder endpoints)
    {
        foreach (var (name, bytes) in s_files)
        {
            endpoints.MapGet($"/{Folder(name)}{name}", (HttpContext context) =>
            {
                context.Response.Headers[HeaderNames.CacheControl] = context.Request.Query.ContainsKey("v") ? "public, max-age=31536000, immutable" : "no-cache";
                return Results.Bytes(bytes, s_types[name]);
            });
        }
    }

    private static string Folder(string name) => name == "blazor.web.js" ? "_framework/" : "";

    private static byte[] Load(string name)
    {
        using var stream = typeof(BrowserFiles).Assembly.GetManifestResourceStream(name) ?? throw new InvalidOperationException($"The file {name} is not in the assembly.");
        var bytes = new byte[stream.Length];
        stream.ReadExactly(bytes);
        return bytes;
    }
}
