using System.Globalization;
using Snapper.Live.Faults;

namespace Snapper.Live.Rounds;

/// <summary>All rounds by kind: how often, what was required, what was measured.</summary>
internal static class BoundsTable
{
    public static IEnumerable<string> Lines(IReadOnlyList<FaultKind> kinds, IReadOnlyList<Round> rounds, bool markdown)
    {
        yield return markdown
            ? "| fault | what is done | rounds | required | median | longest | requests failed | in doubt | decided after |\n|---|---|---|---|---|---|---|---|---|"
            : $"{"fault",-24} rounds  required  median  longest  failed  in doubt  decided after";
        foreach (var kind in kinds)
        {
            var mine = rounds.Where(round => round.Kind == kind).ToArray();
            if (mine.Length == 0)
            {
                continue;
            }

            var measured = mine.Where(round => round.Measured is not null).Select(round => round.Measured!.Value.TotalSeconds).Order().ToArray();
            var longest = measured.Length > 0 ? Seconds(measured[^1]) : mine[0].Detail;
            var median = measured.Length > 0 ? Seconds(measured[measured.Length / 2]) : "-";
            var settled = Seconds(mine.Max(round => round.Settled.TotalSeconds));
            var (failed, inDoubt) = (mine.Sum(round => round.Failed), mine.Sum(round => round.InDoubt));
            var bound = kind.Measure == Measure.Stall ? $"nobody waits {Seconds(kind.Bound.TotalSeconds)}" : Seconds(kind.Bound.TotalSeconds);
            yield return markdown
                ? $"| `{kind.Name}` | {kind.What} | {measured.Length} | {bound} | {median} | {longest} | {failed} | {inDoubt} | {settled} |"
                : $"{kind.Name,-24} {measured.Length,6}  {Seconds(kind.Bound.TotalSeconds),8}  {median,6}  {longest,7}  {failed,6}  {inDoubt,8}  {settled,13}";
        }
    }

    private static string Seconds(double seconds) => seconds.ToString(seconds == Math.Floor(seconds) ? "0" : "0.00", CultureInfo.InvariantCulture) + " s";
}
