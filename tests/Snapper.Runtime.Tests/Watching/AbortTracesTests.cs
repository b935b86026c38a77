using Snapper.Contracts;
using Snapper.Protocol.Identity;
using Snapper.Protocol.Messages;
using Snapper.Runtime.Door;
using Snapper.Runtime.Inspection;
using Xunit;

namespace Snapper.Runtime.Tests.Watching;

/// <summary>Which aborts are kept to be explained.</summary>
public sealed class AbortTracesTests
{
    [Fact]
    public void A_storm_of_one_reason_drives_out_no_other_and_repeats_no_final_ones()
    {
        var traces = new AbortTraces();
        Add(traces, AbortReason.Undeclared, 1, false);
        Add(traces, AbortReason.Conflict, 2, false);
        for (var i = 0; i < 10_000; i++)
        {
            Add(traces, AbortReason.Conflict, 100 + i, true);
            Add(traces, AbortReason.Application, 20_000 + i, false);
        }

        Assert.Equal([1L], Of(traces, "undeclared", null));
        Assert.Equal([2L], Of(traces, "conflict", false));
        Assert.Equal(AbortTraces.Most, Of(traces, "conflict", true).Length);
        Assert.Equal(AbortTraces.Most + 1, Of(traces, "conflict", null).Length);
        Assert.Equal(AbortTraces.Most + 2, Of(traces, null, false).Length);
    }

    /// <summary>256 aborts of a thousand names of 512 characters kept 290 MB, and their view was of 133.</summary>
    [Theory]
    [InlineData(3, 5, 3, 0)]
    [InlineData(1000, 5, AbortTraces.ActorsMax, 1000 - AbortTraces.ActorsMax)]
    [InlineData(1000, 500, 2, 998)]
    public void Of_its_actors_the_first_are_named_and_the_others_counted(int touched, int length, int named, int more)
    {
        var actors = Enumerable.Range(0, touched)
            .Select(i => new string((char)('a' + (i % 26)), length))
            .Select(id => new DeclaredAccess(new ActorKey("T", id), 1))
            .ToArray();
        var kept = AbortTraces.Clipped(actors);
        Assert.Equal((named, more), (kept.Names.Count, kept.More));
        Assert.Equal(actors.Take(named).Select(one => one.Actor.ToString()), kept.Names);
    }

    [Fact]
    public void The_newest_come_first_whatever_their_reason()
    {
        var traces = new AbortTraces();
        Add(traces, AbortReason.Timeout, 1, false);
        Add(traces, AbortReason.Conflict, 2, true);
        Add(traces, AbortReason.Application, 3, false);
        Assert.Equal([3L, 2L], traces.Recent(2).Select(abort => abort.Transaction));
        Assert.Equal([3L, 1L], traces.Recent(10, null, false).Select(abort => abort.Transaction));
        Assert.Empty(traces.Recent(10, "failure"));
    }

    private static long[] Of(AbortTraces traces, string? reason, bool? repeated) => [.. traces.Recent(100_000, reason, repeated).Select(abort => abort.Transaction)];

    private static void Add(AbortTraces traces, AbortReason reason, long transaction, bool repeated) => traces.Add(
        reason, new AbortView(0, "id", transaction, "act", "A/a", "M", AbortReasons.Name(reason), "why", repeated));
}
