using System.Numerics;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;

namespace Snapper.Protocol.Tests.World;

/// <summary>
/// Judges a world in which everything has ended: strict serializability of what was answered (writes, reads and
/// anti-dependencies of the lists, and real time), no lost and no double effect, and nothing decided on undone state.
/// </summary>
internal static class HistoryCheck
{
    /// <summary>Most requests of one history: edges are bits.</summary>
    public const int MaxRequests = 64;

    public static void Check(MachineWorld world)
    {
        Check(world.Requests, world.Committed, world.Keys);
    }

    /// <summary>As the other, of any worlds, without the order in which actors let transactions in.</summary>
    public static void Check(List<Request> requests, IReadOnlyList<Appended?> committed, ActorKey[] keys)
    {
        var edges = new ulong[requests.Count];
        var chains = Chains(committed);
        AddWriteOrder(chains, edges);
        foreach (var request in requests)
        {
            CheckEffects(committed, request);
            if (IsJudged(request))
            {
                AddReads(keys, request, chains, edges);
            }
        }

        AddRealTime(requests, edges);
        if (Ring(edges) is { Length: > 0 } ring)
        {
            MachineWorld.Require(false, $"no ring of dependencies among {string.Join(", ", ring.Select(index => requests[index].Name))}");
        }
    }

    /// <summary>Outcomes that rest on what was read: commits, and aborts of the transaction itself (H7, A3).</summary>
    private static bool IsJudged(Request request) =>
        request.Answer == Answer.Committed || (request.Answer == Answer.Aborted && request.Reason == AbortReason.Application);

    private static Appended[][] Chains(IReadOnlyList<Appended?> committed)
    {
        var chains = new Appended[committed.Count][];
        for (var i = 0; i < chains.Length; i++)
        {
            var last = committed[i];
            chains[i] = new Appended[last?.Length ?? 0];
            for (var at = last; at is not null; at = at.Before)
            {
                chains[i][at.Length - 1] = at;
            }
        }

        return chains;
    }

    private static void AddWriteOrder(Appended[][] chains, ulong[] edges)
    {
        foreach (var chain in chains)
        {
            for (var i = 1; i < chain.Length; i++)
            {
                Add(edges, chain[i - 1].Writer.Request.Index, chain[i].Writer.Request.Index);
            }
        }
    }

    private static void CheckEffects(IReadOnlyList<Appended?> committed, Request request)
    {
        var written = 0;
        foreach (var last in committed)
        {
            for (var at = last; at is not null; at = at.Before)
            {
                if (ReferenceEquals(at.Writer.Request, request))
                {
                    MachineWorld.Require(ReferenceEquals(at.Writer, request.Attempt), $"only the last attempt of {request.Name} has effects");
                    written++;
                }
            }
        }

        var expected = request.Answer == Answer.Committed ? request.Attempt!.Writes.Count : 0;
        MachineWorld.Require(written == expected, $"{request.Name} ({request.Answer}) has {expected} writes, not {written}");
    }

    private static void AddReads(ActorKey[] keys, Request request, Appended[][] chains, ulong[] edges)
    {
        foreach (var (actor, seen) in request.Attempt!.Reads)
        {
            MachineWorld.Require(
                seen is null || seen.IsFinal,
                $"A5: {request.Attempt} ({request.Answer}) has not read {seen?.Writer} on {keys[actor].Id}, which was undone");
            if (seen is not null)
            {
                Add(edges, seen.Writer.Request.Index, request.Index);
            }

            var next = seen?.Length ?? 0;
            if (next < chains[actor].Length)
            {
                Add(edges, request.Index, chains[actor][next].Writer.Request.Index);
            }
        }
    }

    private static void AddRealTime(List<Request> requests, ulong[] edges)
    {
        foreach (var first in requests)
        {
            foreach (var second in requests)
            {
                if (first.AnsweredAt < second.SentAt && IsJudged(first) && IsJudged(second))
                {
                    Add(edges, first.Index, second.Index);
                }
            }
        }
    }

    private static void Add(ulong[] edges, int from, int to)
    {
        if (from != to)
        {
            edges[from] |= 1UL << to;
        }
    }

    /// <summary>What remains when everything without a predecessor is taken away, again and again.</summary>
    private static int[] Ring(ulong[] edges)
    {
        var left = edges.Length == MaxRequests ? ulong.MaxValue : (1UL << edges.Length) - 1;
        while (left != 0)
        {
            var reached = 0UL;
            for (var rest = left; rest != 0; rest &= rest - 1)
            {
                reached |= edges[BitOperations.TrailingZeroCount(rest)];
            }

            if ((left & ~reached) == 0)
            {
                return Enumerable.Range(0, edges.Length).Where(index => (left >> index & 1) != 0).ToArray();
            }

            left &= reached;
        }

        return [];
    }
}
