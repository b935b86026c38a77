using System.Globalization;
using System.Text.Json.Nodes;

namespace Snapper.Server.Commands;

/// <summary>Migrations in words: each step once, as it becomes known.</summary>
internal sealed class MigrationReport(TextWriter output)
{
    private readonly Dictionary<string, (int Steps, int Frozen)> _said = new(StringComparer.Ordinal);

    /// <summary>Where a migration is asked for.</summary>
    public static string PathOf(string id) => "v1/migrations/" + Uri.EscapeDataString(id);

    /// <summary>Says what was not said before: steps of parts, and requests that wait for one.</summary>
    public void Steps(JsonNode migration)
    {
        foreach (var part in migration["parts"]!.AsArray())
        {
            var plan = (string)part!["plan"]!;
            var (steps, frozen) = _said.GetValueOrDefault(plan);
            var phases = part["phases"]!.AsArray();
            for (; steps < phases.Count; steps++) output.WriteLine($"  {plan}: {Step(part, phases, steps)}");
            var waiting = (int?)part["frozenRequests"] ?? 0;
            if (waiting != frozen) output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"  {plan}: {waiting} requests wait"));
            _said[plan] = (steps, waiting);
        }

        output.Flush();
    }

    /// <summary>The parts, and all together.</summary>
    public static void Sum(TextWriter output, JsonNode migration)
    {
        foreach (var part in migration["parts"]!.AsArray())
        {
            var most = (int?)part!["mostFrozenRequests"] ?? 0;
            var waited = most == 0 ? "" : string.Create(CultureInfo.InvariantCulture, $", at most {most} requests waited");
            output.WriteLine($"{part["plan"]}: {part["keys"]} from {part["from"]} to {part["to"]}: {part["state"]}{waited}{(part["why"] is { } why ? ", " + why : "")}");
        }

        output.WriteLine($"{migration["id"]}: {migration["state"]}, {migration["keys"]} in all");
    }

    /// <summary>What would move. Its id is not said: nothing was made that could be found by it.</summary>
    public static void Plan(TextWriter output, JsonNode migration)
    {
        foreach (var part in migration["parts"]!.AsArray()) output.WriteLine($"dry run: {part!["keys"]} from {part["from"]} to {part["to"]}");
        output.WriteLine($"dry run: {migration["keys"]} in all would move");
    }

    /// <summary>A line for each.</summary>
    public static void List(TextWriter output, JsonNode migrations)
    {
        var table = Tables.Of("state", "moves", "parts", "planned at", "migration");
        foreach (var migration in migrations["migrations"]!.AsArray())
        {
            var parts = migration!["parts"]!.AsArray();
            var at = parts.Select(part => (DateTimeOffset?)part!["created"]).Min();
            var when = at?.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss'Z'", CultureInfo.InvariantCulture) ?? "";
            var reason = (string?)migration["reason"] is { Length: > 0 } words ? ": " + words : "";
            table.Add($"{migration["state"]}", $"{migration["keys"]}", $"{parts.Count}", when, $"{migration["id"]}{reason}");
        }

        table.WriteTo(output);
    }

    private static string Step(JsonNode part, JsonArray phases, int at)
    {
        var phase = (string)phases[at]!["phase"]!;
        var since = phases[at]!["at"]!.GetValue<DateTimeOffset>() - phases[0]!["at"]!.GetValue<DateTimeOffset>();
        return at == 0
            ? $"{phase}, {part["keys"]} from {part["from"]} to {part["to"]}"
            : string.Create(CultureInfo.InvariantCulture, $"{phase} after {since.TotalMilliseconds:0} ms");
    }
}
