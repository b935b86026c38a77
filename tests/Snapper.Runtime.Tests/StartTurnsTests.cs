using Snapper.Protocol.Coordination;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Tests.Support;
using Xunit;

namespace Snapper.Runtime.Tests;

/// <summary>ACTs of callers that are known apart start in turn, and one of several has its share of the time.</summary>
public sealed class StartTurnsTests
{
    private const long Second = 1_000_000;
    private const long Millisecond = Second / 1000;

    private readonly WaitingStarts _starts = new(share: 0.5, frequency: Second);

    [Fact]
    public async Task A_caller_with_one_ACT_does_not_wait_for_all_of_another()
    {
        var options = new WorkerOptions { Executors = 1, DrainTimeout = TimeSpan.FromSeconds(1) };
        await using var rig = await Rig.Start(options);
        using var busy = new Gate();
        var first = Submit(rig, "token:flood", "busy", Step.Block(busy));
        await busy.Reached();
        var flood = Enumerable.Range(0, 100).Select(i => Submit(rig, "token:flood", $"f{i}", Step.Add())).ToArray();
        var ann = Submit(rig, "token:ann", "a", Step.Add());
        busy.Open();
        Rig.Seen(await Rig.Within(first, "the first"));
        var others = await Rig.Within(Task.WhenAll(flood), "the flood");
        var one = await Rig.Within(ann, "the one");
        Rig.Seen(one);
        Assert.InRange(others.Count(other => other.Transaction < one.Transaction), 0, 2);
    }

    /// <summary>A pause is for others: with them it ends, and not only behind its time, here half a minute.</summary>
    [Fact]
    public async Task A_caller_that_is_alone_again_pauses_no_more()
    {
        await using var rig = await Rig.Start(Sharing(0.01));
        using var busy = new Gate();
        Rig.Seen(await Rig.Within(Submit(rig, "token:ann", "a", Step.Add()), "ann"));
        var first = Submit(rig, "token:slow", "s0", Step.Block(busy));
        await busy.Reached();
        await Task.Delay(TimeSpan.FromMilliseconds(300));
        busy.Open();
        Rig.Seen(await Rig.Within(first, "the slow one"));
        Rig.Seen(await Rig.Within(Submit(rig, "token:slow", "s1", Step.Add()), "its next"));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Time_behind_an_await_is_counted_too(bool yields)
    {
        var time = new SkewedTime();
        await using var rig = await Rig.Start(Sharing(0.01), time: time);
        using var busy = new Gate();
        Rig.Seen(await Rig.Within(Submit(rig, "token:ann", "a", Step.Add()), "ann"));
        var since = time.GetTimestamp();
        Step[] steps = yields ? [new Step("yield"), Step.Block(busy)] : [Step.Block(busy)];
        var first = Submit(rig, "token:slow", "s0", steps);
        await busy.Reached();
        time.Advance(TimeSpan.FromMilliseconds(300));
        busy.Open();
        Rig.Seen(await Rig.Within(first, "the slow one"));
        Rig.Seen(await Rig.Within(Submit(rig, "token:slow", "s1", Step.Add()), "its next"));
        Assert.True(time.GetElapsedTime(since) >= TimeSpan.FromSeconds(1), "it did not pause until it was alone");
    }

    /// <summary>The other one goes on, so that nothing shows a change of callers.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_pause_does_not_end_while_another_goes_on(bool withPacts)
    {
        var time = new SkewedTime();
        await using var rig = await Rig.Start(Sharing(0.01), time: time);
        string[]? access = withPacts ? ["a"] : null;
        Rig.Seen(await Rig.Within(rig.Submit("a", [Step.Add()], access: access, caller: "token:ann"), "ann"));
        await Slow(rig, time, "token:slow", "s0", TimeSpan.FromMilliseconds(300));
        var since = time.GetTimestamp();
        var next = Submit(rig, "token:slow", "s1", Step.Add());
        while (!next.IsCompleted && time.GetElapsedTime(since) < TimeSpan.FromSeconds(3))
        {
            Rig.Seen(await Rig.Within(rig.Submit("a", [Step.Add()], access: access, caller: "token:ann"), "ann"));
            time.Advance(TimeSpan.FromMilliseconds(50));
        }

        Assert.False(next.IsCompleted, $"it began again after {time.GetElapsedTime(since)}");
        Rig.Seen(await Rig.Within(next, "the one that pauses, once it is alone"));
    }

    [Fact]
    public async Task A_caller_with_starts_of_more_than_a_second_has_its_share()
    {
        var time = new SkewedTime();
        var options = Sharing(0.1);
        await using var rig = await Rig.Start(options, time: time);
        using var busy = new Gate();
        Rig.Seen(await Rig.Within(Submit(rig, "token:ann", "a", Step.Add()), "ann"));
        var slow = Submit(rig, "token:slow", "s0", Step.Block(busy));
        await busy.Reached();
        var waiting = Submit(rig, "token:ann", "a", Step.Add());
        time.Advance(TimeSpan.FromMilliseconds(1200));
        busy.Open();
        Rig.Seen(await Rig.Within(slow, "the slow one"));
        Rig.Seen(await Rig.Within(waiting, "ann, who waited for it"));
        var since = time.GetTimestamp();
        var next = Submit(rig, "token:slow", "s1", Step.Add());
        while (!next.IsCompleted)
        {
            Rig.Seen(await Rig.Within(Submit(rig, "token:ann", "a", Step.Add()), "ann"));
            time.Advance(TimeSpan.FromMilliseconds(50));
        }

        Assert.True(time.GetElapsedTime(since) > TimeSpan.FromSeconds(9), $"it paused {time.GetElapsedTime(since)}");
    }

    /// <summary>Of a PACT, and of a call that came from another executor.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Time_of_other_code_than_that_of_starts_is_counted_too(bool isPact)
    {
        var time = new SkewedTime();
        var options = Sharing(0.01, executors: 2);
        await using var rig = await Rig.Start(options, time: time);
        string On(int executor, string prefix) => Enumerable.Range(0, 100).Select(i => $"{prefix}{i}")
            .First(box => rig.Host.Worker.ExecutorOf(new ActorKey("Box", box)).Index == executor);
        using var busy = new Gate();
        Rig.Seen(await Rig.Within(Submit(rig, "token:ann", On(0, "a"), Step.Add()), "ann"));
        var first = isPact
            ? rig.Submit(On(1, "s"), [Step.Block(busy)], access: [On(1, "s")], caller: "token:slow")
            : Submit(rig, "token:slow", On(0, "s"), Step.Call(On(1, "s"), Step.Block(busy)));
        await busy.Reached();
        time.Advance(TimeSpan.FromMilliseconds(300));
        busy.Open();
        Rig.Seen(await Rig.Within(first, "the slow one"));
        var since = time.GetTimestamp();
        Rig.Seen(await Rig.Within(Submit(rig, "token:slow", On(1, "t"), Step.Add()), "its next"));
        Assert.InRange(time.GetElapsedTime(since), TimeSpan.FromMilliseconds(400), TimeSpan.FromSeconds(5));
    }

    [Fact]
    public async Task A_caller_that_was_never_but_alone_does_not_pause()
    {
        var time = new SkewedTime();
        await using var rig = await Rig.Start(Sharing(0.01), time: time);
        await Slow(rig, time, "token:slow", "s0", TimeSpan.FromMilliseconds(300));
        Assert.False(rig.Host.Worker.Callers.MayBeSeveral);
    }

    [Fact]
    public void The_lane_of_one_who_had_most_becomes_another_s_and_nothing_is_mistaken_for_it()
    {
        var starts = new WaitingStarts(share: 0.125, frequency: Second);
        var now = 0L;
        Run("a", 100 * Millisecond);
        Run("b", 110 * Millisecond);
        Run("x", 120 * Millisecond);
        starts.Add(Start("x", "x"));
        starts.TryAddTurn();
        Assert.Equal(0, starts.Take(now, isContested: false, out _, out _));
        Run("y", Millisecond / 10);
        starts.Add(Start("a", "a"));
        starts.Add(Start("b", "b"));
        starts.TryAddTurn();
        Assert.Equal(0, starts.Take(now, isContested: true, out _, out _));

        void Run(string caller, long took)
        {
            starts.Add(Start(caller, caller));
            starts.TryAddTurn();
            Assert.Equal(0, starts.Take(now, isContested: true, out _, out var served));
            starts.Charge(served!, now, now += took);
        }
    }

    /// <summary>It has sent all that it has at once, and nothing since.</summary>
    [Fact]
    public async Task A_caller_of_whom_many_wait_is_about_though_it_sends_nothing()
    {
        var time = new SkewedTime();
        await using var rig = await Rig.Start(Sharing(0.01), time: time);
        using Gate first = new(), second = new();
        var flood = new[]
        {
            Submit(rig, "token:flood", "f0", Step.Block(first)), Submit(rig, "token:flood", "f1", Step.Block(second)),
            Submit(rig, "token:flood", "f2", Step.Add()),
        };
        await first.Reached();
        var ann = Submit(rig, "token:ann", "a", Step.Add());
        time.Advance(TimeSpan.FromSeconds(2));
        first.Open();
        await second.Reached();
        var since = time.GetTimestamp();
        time.Advance(TimeSpan.FromMilliseconds(500));
        second.Open();
        Rig.Seen(await Rig.Within(ann, "ann"));
        Assert.All(await Rig.Within(Task.WhenAll(flood), "the flood"), one => Rig.Seen(one));
        Assert.True(time.GetElapsedTime(since) >= TimeSpan.FromMilliseconds(900), "its last one did not pause");
    }

    /// <summary>Two that had much of the time, as no other waited, are not locked out for it later.</summary>
    [Fact]
    public void A_caller_pauses_for_its_last_start_and_two_seconds_at_most()
    {
        var starts = new WaitingStarts(share: 0.125, frequency: Second);
        var now = 0L;
        for (var i = 0; i < 1_000; i++)
        {
            starts.Add(Start("x", "x"));
            starts.Add(Start("y", "y"));
            starts.TryAddTurn();
            Assert.Equal(0, starts.Take(now, isContested: true, out _, out var served));
            starts.Charge(served!, now, now += 100 * Millisecond);
        }

        // The last of one of them has its turn, and then the other one alone has some that wait.
        long pause;
        do
        {
            starts.TryAddTurn();
            pause = starts.Take(now, isContested: true, out _, out _);
        }
        while (pause == 0);

        Assert.InRange(pause, 1, 2 * Second);
    }

    [Fact]
    public async Task A_start_that_pauses_begins_by_itself_though_nothing_else_comes()
    {
        var time = new SkewedTime();
        var options = new WorkerOptions
        {
            Executors = 1, CallerTimeShare = 0.1, DrainTimeout = TimeSpan.FromSeconds(1),
        };
        await using var rig = await Rig.Start(options, time: time);
        Rig.Seen(await Rig.Within(Submit(rig, "token:ann", "a", Step.Add()), "another caller's"));
        using var busy = new Gate();
        var first = Submit(rig, "token:flood", "busy", Step.Block(busy));
        await busy.Reached();
        time.Advance(TimeSpan.FromMilliseconds(50)); // so long its start has taken
        var second = Submit(rig, "token:flood", "f", Step.Add());
        var since = time.GetTimestamp();
        busy.Open();
        Rig.Seen(await Rig.Within(first, "the long one"));
        Rig.Seen(await Rig.Within(second, "the one that pauses"));
        Assert.True(time.GetElapsedTime(since) >= TimeSpan.FromMilliseconds(400), "it did not pause");
    }

    [Fact]
    public void Callers_take_turns_and_those_of_one_keep_their_order()
    {
        for (var i = 0; i < 3; i++)
        {
            Add("flood", $"f{i}");
        }

        Add("ann", "a");
        Add(null, "?");
        Assert.Equal(["f0", "a", "?", "f1", "f2"], Enumerable.Range(0, 5).Select(_ => Taken(0, isContested: true)));
        Assert.Equal("-", Taken(0, isContested: true));
    }

    [Fact]
    public void While_several_callers_are_about_messages_wait_for_one_start_at_most()
    {
        for (var i = 0; i < 3 * WaitingStarts.TurnsAlone; i++)
        {
            Add("flood", $"f{i}");
        }

        Assert.Equal(WaitingStarts.TurnsAlone, Turns());
        for (var left = WaitingStarts.TurnsAlone - 1; left > 0; left--)
        {
            Taken(0, isContested: true);
            Assert.Equal(0, Turns());
        }

        Taken(0, isContested: true);
        Assert.Equal(1, Turns());
        Taken(0, isContested: false);
        Assert.Equal(WaitingStarts.TurnsAlone, Turns());
    }

    [Fact]
    public void Behind_a_start_that_took_long_its_caller_pauses_while_others_are_about()
    {
        Add("slow", "s0");
        Add("slow", "s1");
        Turns();
        Take(0, isContested: true, out var start, out var served);
        Assert.Equal("s0", Name(start));
        _starts.Charge(served!, 0, 10 * Millisecond);

        // Twenty milliseconds are its share of ten, less what it may be ahead.
        Turns();
        Assert.Equal(6 * Millisecond, Take(10 * Millisecond, isContested: true, out _, out _));
        Add("quick", "q");
        Assert.Equal("q", Taken(10 * Millisecond, isContested: true));
        Assert.Equal("-", Taken(15 * Millisecond, isContested: true));
        Assert.Equal("s1", Taken(16 * Millisecond, isContested: true));
    }

    /// <summary>
    /// PACTs do not pause, so that their code could put off the ACTs of the same caller for as long as they come.
    /// </summary>
    [Theory]
    [InlineData(1, 1)]
    [InlineData(3, 7)]
    [InlineData(10, 21)]
    public void However_much_PACTs_of_a_caller_take_its_ACTs_begin(int turn, int longestWait)
    {
        var now = 0L;
        for (var start = 0; start < 20; start++)
        {
            Add("both", "a");
            var since = now;
            while (Taken(now, isContested: true) == "-")
            {
                RunsPact();
                Assert.InRange(now - since, 0, longestWait * Millisecond);
            }

            RunsPact();
        }

        void RunsPact()
        {
            var lane = _starts.LaneOf("both", now);
            _starts.Charge(lane, now, now += turn * Millisecond, isOfPact: true);
            now += Millisecond / 2;
        }
    }

    /// <summary>The allowance of others grows with all that a caller takes, its PACTs as well.</summary>
    [Fact]
    public void A_caller_of_ACTs_has_as_much_as_another_one_of_PACTs()
    {
        for (var i = 0; i < 100; i++)
        {
            var now = i * 20 * Millisecond;
            _starts.Charge(_starts.LaneOf("pacts", now), now, now + (10 * Millisecond), isOfPact: true);
            Add("acts", "a");
            Turns();
            Assert.Equal(0, Take(now + (10 * Millisecond), isContested: true, out _, out var served));
            _starts.Charge(served!, now + (10 * Millisecond), now + (19 * Millisecond));
        }
    }

    [Fact]
    public void A_caller_that_is_alone_does_not_pause_and_short_starts_need_no_pause()
    {
        for (var i = 0; i < 10; i++)
        {
            Add("one", $"{i}");
        }

        Turns();
        Take(0, isContested: true, out _, out var served);
        _starts.Charge(served!, 0, Second);
        Assert.Equal("1", Taken(Second, isContested: false));

        var now = 5 * Second;
        for (var i = 2; i < 10; i++)
        {
            Turns();
            Assert.Equal(0, Take(now, isContested: true, out var start, out served));
            Assert.Equal($"{i}", Name(start));
            _starts.Charge(served!, now, now += Millisecond / 10);
        }
    }

    [Fact]
    public void A_caller_has_as_much_time_as_another_and_pauses_only_when_it_has_had_more()
    {
        for (var i = 0; i < 3; i++)
        {
            Add("x", $"x{i}");
            Add("y", $"y{i}");
        }

        var now = 0L;
        string[] inTurn = ["x0", "y0", "x1", "y1", "x2", "y2"];
        Assert.All(inTurn, expected => TakenInTurn(expected));

        // Of both the last start was as long; now it is the one that has had more.
        Add("x", "x3");
        Add("x", "x4");
        TakenInTurn("x3");
        Turns();
        Assert.True(Take(now, isContested: true, out _, out _) > 0);
        Add("y", "y3");
        TakenInTurn("y3");

        void TakenInTurn(string expected)
        {
            Turns();
            Assert.Equal(0, Take(now, isContested: true, out var start, out var served));
            Assert.Equal(expected, Name(start));
            _starts.Charge(served!, now, now + (30 * Millisecond));
            now += 10 * Millisecond;
        }
    }

    [Fact]
    public void Of_callers_that_came_once_little_is_kept()
    {
        for (var i = 0; i < 10_000; i++)
        {
            Add($"caller{i}", "x");
            Turns();
            Assert.Equal(0, Take(i * Millisecond, isContested: true, out _, out var served));
            _starts.Charge(served!, i * Millisecond, (i + 1) * Millisecond);
            Assert.InRange(_starts.Callers, 0, 80);
        }
    }

    [Fact]
    public void Callers_are_several_until_a_second_behind_the_last_of_another()
    {
        var callers = new CallersAbout(Second);
        callers.Note("ann", Second);
        callers.Note("ann", 2 * Second);
        Assert.False(callers.AreSeveral("ann", 2 * Second));
        Assert.False(callers.MayBeSeveral);

        // One that comes later than a second behind the last is alone, too.
        callers.Note("bob", 3 * Second);
        Assert.False(callers.AreSeveral("bob", 3 * Second));
        callers.Note("ann", (4 * Second) - 1);
        Assert.True(callers.AreSeveral("ann", (5 * Second) - 2));
        Assert.False(callers.AreSeveral("ann", (5 * Second) - 1));

        // Beside the other one the last is about for a second, though it alone goes on.
        callers.Note("ann", 6 * Second);
        Assert.True(callers.AreSeveral("bob", (7 * Second) - 1));
        Assert.False(callers.AreSeveral("bob", 7 * Second));
        callers.NoteSeveral(8 * Second);
        Assert.True(callers.MayBeSeveral && callers.AreSeveral("ann", (9 * Second) - 1));
    }

    private static Task<TransactionEnvelope> Submit(Rig rig, string caller, string box, params Step[] steps) =>
        rig.Submit(box, steps, caller: caller);

    /// <summary>No method runs into its turn bound, however long the test says that it took.</summary>
    private static WorkerOptions Sharing(double share, int executors = 1) =>
        new() { Executors = executors, CallerTimeShare = share, TurnBound = TimeSpan.FromSeconds(30) };

    private static async Task Slow(Rig rig, SkewedTime time, string caller, string box, TimeSpan takes)
    {
        using var busy = new Gate();
        var slow = Submit(rig, caller, box, Step.Block(busy));
        await busy.Reached();
        time.Advance(takes);
        busy.Open();
        Rig.Seen(await Rig.Within(slow, "the slow one"));
    }

    private static string Name(in WorkItem start) => start.Request.Id;

    private void Add(string? caller, string name)
    {
        _starts.Add(Start(caller, name));
    }

    private static WorkItem Start(string? caller, string name)
    {
        var asked = new TransactionRequest { Actor = new ActorKey("Box", "a"), Method = "Run", CountedFor = caller };
        return WorkItem.Start(new Request(asked, null!, null, name, default, null, answersInline: true));
    }

    /// <summary>Queues the turns that are wanted.</summary>
    private int Turns()
    {
        var count = 0;
        while (_starts.TryAddTurn())
        {
            count++;
        }

        return count;
    }

    private long Take(long now, bool isContested, out WorkItem start, out CallerLanes<WorkItem>.Lane? served) =>
        _starts.Take(now, isContested, out start, out served);

    private string Taken(long now, bool isContested)
    {
        Turns();
        return Take(now, isContested, out var start, out _) == 0 ? Name(start) : "-";
    }
}
