using System.Collections.Concurrent;
using System.Diagnostics;
using System.Text.Json;
using Snapper.Live.Harness;

namespace Snapper.Live.Load;

/// <summary>Commits that clients were told of: each must be found by its id, with the result that was told, as long as outcomes are kept.</summary>
internal static class Acknowledged
{
    /// <summary>Outcomes are kept for ten minutes; the last one is left for the asking itself.</summary>
    private static readonly TimeSpan Kept = TimeSpan.FromMinutes(9);

    /// <summary>Asks for each.</summary>
    /// <returns>One line for each that is not found, or found otherwise.</returns>
    public static async Task<IReadOnlyCollection<string>> Missing(SnapperClient client, ConcurrentDictionary<string, (string Result, long At)> committed)
    {
        var wrong = new ConcurrentQueue<string>();
        await Parallel.ForEachAsync(committed.Where(pair => Stopwatch.GetElapsedTime(pair.Value.At) < Kept), new ParallelOptions { MaxDegreeOfParallelism = 8 }, async (pair, _) =>
        {
            var answer = await client.Find(pair.Key);
            using var told = JsonDocument.Parse(pair.Value.Result);
            if (answer.Verdict != Verdict.Committed || !JsonElement.DeepEquals(answer.Result, told.RootElement))
            {
                wrong.Enqueue($"{pair.Key} was acknowledged with {pair.Value.Result}, now: {answer}");
            }
        });
        return wrong;
    }
}
