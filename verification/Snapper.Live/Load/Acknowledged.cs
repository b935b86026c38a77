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
    /// <param name="client">The system.</param>
    /// <param name="committed">What was acknowledged.</param>
    /// <param name="loss">What need not be there; null: all must be.</param>
    /// <returns>One line for each that is not found, or found otherwise.</returns>
    public static async Task<IReadOnlyCollection<string>> Missing(SnapperClient client, ConcurrentDictionary<string, (string Result, long At)> committed, Loss? loss = null)
    {
        var wrong = new ConcurrentQueue<string>();
        await Parallel.ForEachAsync(committed.Where(pair => Stopwatch.GetElapsedTime(pair.Value.At) < Kept && loss?.Covers(pair.Value.At) is not true), new ParallelOptions { MaxDegreeOfParallelism = 8 }, async (pair, _) =>
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

    /// <summary>What has become of a transaction that a client was told of before a loss.</summary>
    /// <param name="client">The system.</param>
    /// <param name="id">Its id.</param>
    /// <param name="result">What a commit was answered with; null: it was told to be aborted.</param>
    public static async Task<Fate> FateOf(SnapperClient client, string id, string? result)
    {
        var answer = await client.Find(id);
        await Eventually.Holds($"the system to say what it knows of {id}", TimeSpan.FromSeconds(20), async () =>
            answer.Status == 404 || answer.Verdict is Verdict.Committed or Verdict.Aborted ? null : (answer = await client.Find(id)).ToString());
        if (answer.Verdict != Verdict.Committed)
        {
            return answer.Verdict == Verdict.Aborted && result is null ? Fate.AsTold : Fate.Gone;
        }

        if (result is null)
        {
            return Fate.Otherwise;
        }

        using var told = JsonDocument.Parse(result);
        return JsonElement.DeepEquals(answer.Result, told.RootElement) ? Fate.AsTold : Fate.Otherwise;
    }
}
