using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Snapper.Cluster.Control;

namespace Snapper.Cluster.Migrating;

/// <summary>Whether two requests under one id ask for the same. What was planned does not tell: a drain is planned as whatever its worker owned then, and what has moved is not planned again.</summary>
internal static class RequestFingerprint
{
    /// <summary>64 characters, the same for the same things in any order; the id and whether it is a dry run are not in it.</summary>
    public static string Of(MigrationAsk ask)
    {
        var text = new StringBuilder();
        var actors = new List<string>();
        foreach (var actor in ask.Actors ?? [])
        {
            actors.Add(Text(actor.Type) + Text(actor.Id));
        }

        actors.Sort(StringComparer.Ordinal);
        foreach (var actor in actors)
        {
            text.Append("actor ").Append(actor);
        }

        var partitions = new List<int>(ask.Partitions ?? []);
        partitions.Sort();
        foreach (var partition in partitions)
        {
            text.Append(CultureInfo.InvariantCulture, $"partition {partition} ");
        }

        text.Append(ask.Rebalance ? "rebalance " : "")
            .Append("worker ").Append(Text(ask.Worker))
            .Append("to ").Append(Text(ask.To))
            .Append("reason ").Append(Text(ask.Reason));
        return Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(text.ToString())));
    }

    /// <summary>With its length before it, so that no two lists of names are one text.</summary>
    private static string Text(string? text) => text is null ? "none " : string.Create(CultureInfo.InvariantCulture, $"{text.Length}:{text} ");
}
