using System.Text.Json;

namespace Snapper.Contracts;

/// <summary>A problem (RFC 9457): what an answer with another status than success says.</summary>
/// <param name="Status">The HTTP status; 0: not said.</param>
/// <param name="Title">The kind of problem.</param>
/// <param name="Detail">What is wrong, for people.</param>
public sealed record ProblemView(int Status = 0, string? Title = null, string? Detail = null)
{
    /// <summary>The detail of an answer; null: it has none, or is no problem of a worker.</summary>
    public static string? DetailOf(ReadOnlySpan<byte> utf8)
    {
        try
        {
            return JsonSerializer.Deserialize(utf8, ContractJson.Default.ProblemView)?.Detail;
        }
        catch (JsonException)
        {
            return null; // some proxy's page: the status says enough
        }
    }
}
