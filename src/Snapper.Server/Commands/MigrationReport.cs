using System.Globalization;
using Snapper.Contracts;

namespace Snapper.Server.Commands;

/// <summary>Migrations in words: each step once, as it becomes known.</summary>
internal sealed class MigrationReport(TextWriter output)
{
    private readonly Dictionary<string, (int Steps, int Frozen)> _said = new(StringComparer.Ordinal);

    /// <summary>Where a migration is asked for.</summary>
    public static string PathOf(string id) => "v1/migrations/" + Uri.EscapeDataString(id);

    /// <summary>Says what was not said before: steps of parts, and requests that wait for one.</summary>
    public void Steps(MigrationStatus migration)
    {
        foreach (var part in migration.Parts)
        {
            var (steps, frozen) = _said.GetValueOrDefault(part.Plan);
            for (; steps < part.Phases.Count; steps++)
            {
                output.WriteLine($"  {part.Plan}: {Step(part, steps)}");
            }

            if (part.FrozenRequests != frozen)
            {
                output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"  {part.Plan}: {part.FrozenRequests} requests wait"));
            }

            _said[part.Plan] = (steps, part.FrozenRequests);
        }

        output.Flush();
    }

    /// <summary>The parts, and all together.</summary>
    public static void Sum(TextWriter output, MigrationStatus migration)
    {
        foreach (var part in migration.Parts)
        {
            var most = part.MostFrozenRequests;
            var waited = most == 0 ? "" : string.Create(CultureInfo.InvariantCulture, $", at most {most} requests waited");
            var why = part.Why is null ? "" : ", " + part.Why;
            output.WriteLine($"{part.Plan}: {part.Keys} from {part.From} to {part.To}: {part.State}{waited}{why}");
        }

        output.WriteLine($"{migration.Id}: {migration.State}, {migration.Keys} in all");
    }

    /// <summary>What would move. Its id is not said: nothing was made that could be found by it.</summary>
    public static void Plan(TextWriter output, MigrationStatus migration)
    {
        foreach (var part in migration.Parts)
        {
            output.WriteLine($"dry run: {part.Keys} from {part.From} to {part.To}");
        }

        output.WriteLine($"dry run: {migration.Keys} in all would move");
    }

    public static void List(TextWriter output, MigrationsView migrations)
    {
        var table = Tables.Of("state", "moves", "parts", "planned at", "migration");
        foreach (var migration in migrations.Migrations)
        {
            var at = migration.Parts.Select(part => part.Created).Min();
            var when = at?.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss'Z'", CultureInfo.InvariantCulture) ?? "";
            var reason = migration.Reason.Length == 0 ? "" : ": " + migration.Reason;
            table.Add(migration.State, $"{migration.Keys}", $"{migration.Parts.Count}", when, migration.Id + reason);
        }

        table.WriteTo(output);
    }

    private static string Step(MigrationPart part, int at)
    {
        var phase = part.Phases[at].Phase;
        var since = part.Phases[at].At - part.Phases[0].At;
        return at == 0
            ? $"{phase}, {part.Keys} from {part.From} to {part.To}"
            : string.Create(CultureInfo.InvariantCulture, $"{phase} after {since.TotalMilliseconds:0} ms");
    }
}
