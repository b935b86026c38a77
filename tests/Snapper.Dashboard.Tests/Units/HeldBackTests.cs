using Snapper.Contracts;
using Snapper.Dashboard.Parts;

namespace Snapper.Dashboard.Tests.Units;

/// <summary>What held a batch back, as the page Batches says it.</summary>
public sealed class HeldBackTests
{
    private static readonly BatchView s_over = new()
    {
        Batch = 7, Actors = 3, State = "committed", CompletedMs = 8, QueuedMs = 9, CommittedMs = 10, LastActor = "Account/a", BeforeLastActor = "Account/b", LastActorAfterMs = 6,
        HeldBackBy = "actor", HeldBackMs = 8,
    };

    [Fact]
    public void One_actor_is_named_and_led_to()
    {
        Assert.Equal("Account/a", HeldBack.Short(Of(s_over)));
        Assert.Equal("/actor?type=Account&id=a", HeldBack.Link(Of(s_over)));
        Assert.Equal("Account/a alone: it acknowledged last, 6 ms after Account/b. All had acknowledged after 8 ms of 10 ms.", Sentence(Of(s_over)));
        Assert.Contains(new HeldBack.Piece("Account/a", "/actor?type=Account&id=a"), HeldBack.Sentence(Of(s_over), []));
        Assert.Equal("its only actor Account/a, 8 ms of 10 ms.", Sentence(Of(s_over with { BeforeLastActor = null, LastActorAfterMs = null })));
        Assert.Equal("its only actor Account/a, 8 ms. An undo emptied it; its transactions run again under other numbers, except one that failed by itself.", Sentence(Of(s_over with { State = "aborted", CommittedMs = null, BeforeLastActor = null })));
    }

    [Theory]
    [InlineData("actors", "all its actors", "all its actors about together, 8 ms of 10 ms: Account/a acknowledged last, 6 ms after Account/b.")]
    [InlineData("batches", "batches before it", "the batches before it, or an undo that reached it, 8 ms of 10 ms. Its actors had acknowledged after 8 ms, the last of them Account/a.")]
    [InlineData("log", "the log", "the log, which made it durable in 8 ms of 10 ms. Its actors had acknowledged after 8 ms, the last of them Account/a.")]
    public void What_is_no_single_actor_leads_to_none(string by, string few, string sentence)
    {
        var row = Of(s_over with { HeldBackBy = by });
        Assert.Equal((few, null), (HeldBack.Short(row), HeldBack.Link(row)));
        Assert.Equal(sentence, Sentence(row));
    }

    [Fact]
    public void A_batch_that_is_open_waits_for_actors_and_one_of_an_older_worker_is_not_guessed_at()
    {
        var open = Of(new BatchView { State = "executing", WaitingFor = ["Account/c"] });
        Assert.Equal(("Account/c", "/actor?type=Account&id=c"), (HeldBack.Short(open), HeldBack.Link(open)));
        Assert.Equal(("Account/c and 1 more", null), (HeldBack.Short(Of(open.Batch with { WaitingFor = ["Account/c", "Account/d"] })), HeldBack.Link(Of(open.Batch with { WaitingFor = ["Account/c", "Account/d"] }))));
        var older = Of(new BatchView { State = "committed", CompletedMs = 8, QueuedMs = 9, CommittedMs = 10 });
        Assert.Null(HeldBack.Short(older));
        Assert.Equal("its worker does not tell.", Sentence(older));
        Assert.Equal("it is under way; all its actors have acknowledged.", Sentence(Of(new BatchView { State = "queued", LastActor = "Account/a" })));
    }

    [Fact]
    public void Of_several_that_are_waited_for_the_first_is_named_whole()
    {
        var open = Of(new BatchView { State = "executing", WaitingFor = ["Account/checking-0000001", "Account/checking-0000002", "Account/checking-0000003"] });
        Assert.Equal("Account/checking-0000001 and 2 more", Fmt.Middle(HeldBack.Short(open)!, 40));
    }

    [Fact]
    public void A_batch_that_an_undo_emptied_says_so_also_where_its_worker_does_not_tell_more() =>
        Assert.Equal(
            "its worker does not tell. An undo emptied it; its transactions run again under other numbers, except one that failed by itself.",
            Sentence(Of(new BatchView { State = "aborted" })));

    [Fact]
    public void A_part_blames_no_single_actor_for_it_may_have_waited_for_a_call_from_another_worker()
    {
        var part = Of(s_over with { GlobalBatch = 70, HeldBackBy = "actors" });
        Assert.Equal(("its actors here, or calls", null), (HeldBack.Short(part), HeldBack.Link(part)));
        Assert.Equal("its actors here, or calls to and from other workers that they waited for, 8 ms of 10 ms: Account/a acknowledged last, 6 ms after Account/b.", Sentence(part, part));
        var only = Of(part.Batch with { Actors = 1, BeforeLastActor = null, LastActorAfterMs = null });
        Assert.Equal("its only actor here Account/a, or calls from other workers that it waited for, 8 ms of 10 ms.", Sentence(only, only));
    }

    [Fact]
    public void Of_a_batch_over_several_workers_the_part_that_came_last_names_the_actor_there()
    {
        var early = new BatchRow("w1", s_over with { GlobalBatch = 70, PreparedMs = 1, QueuedMs = 9, HeldBackBy = "decision" });
        var late = new BatchRow("w2", s_over with { Batch = 9, GlobalBatch = 70, PreparedMs = 8, QueuedMs = 9, LastActor = "Account/z", HeldBackBy = "actors" });
        Assert.Same(late, HeldBack.LastPart([early, late]));
        Assert.Equal("the decision about its global batch 70, 8 ms of 10 ms: the part of w2 was prepared last, where Account/z acknowledged last, 6 ms after Account/b.", Sentence(early, early, late));
        Assert.Contains(new HeldBack.Piece("w2", "/batches?worker=w2&batch=9"), HeldBack.Sentence(early, [early, late]));
        Assert.StartsWith("its actors here, or calls", Sentence(late, early, late), StringComparison.Ordinal);

        var own = early with { Batch = early.Batch with { PreparedMs = 8.5 } };
        Assert.Contains("its own part was prepared last", Sentence(own, own, late), StringComparison.Ordinal);
        Assert.Contains("the other workers' parts are not known here", Sentence(early, early), StringComparison.Ordinal);
        Assert.Null(HeldBack.LastPart([early, late with { Batch = late.Batch with { QueuedMs = null } }]));
    }

    private static BatchRow Of(BatchView batch) => new("w1", batch);

    private static string Sentence(BatchRow row, params BatchRow[] parts) => string.Concat(HeldBack.Sentence(row, parts).Select(piece => piece.Text));
}
