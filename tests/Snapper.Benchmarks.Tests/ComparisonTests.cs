using Snapper.Benchmarks.InProcess;
using Snapper.Benchmarks.Load;
using Snapper.Benchmarks.Measurement;
using Snapper.Benchmarks.Runs;
using Snapper.Benchmarks.Suite;
using Xunit;

namespace Snapper.Benchmarks.Tests;

public sealed class ComparisonTests
{
    private static readonly RunTimes Short = new(TimeSpan.FromMilliseconds(50), TimeSpan.FromMilliseconds(300));

    private readonly Dictionary<string, int> created = [];

    [Theory]
    [InlineData(1, "AB")]
    [InlineData(2, "ABBA")]
    [InlineData(3, "ABBAAB")]
    [InlineData(4, "ABBAABBA")]
    public void Sides_take_turns_as_A_B_B_A(int repetitions, string expected) =>
        Assert.Equal(expected, string.Concat(AbbaOrder.Of(repetitions).Select(isB => isB ? 'B' : 'A')));

    [Fact]
    public void More_sides_take_turns_forwards_and_backwards() =>
        Assert.Equal([0, 1, 2, 2, 1, 0, 0, 1, 2], AbbaOrder.Of(3, 3));

    [Fact]
    public async Task What_a_run_has_left_behind_is_looked_at_wherever_it_ran_unless_it_is_void_already()
    {
        var looked = 0;
        var side = new Side("here", [new LoadShape(1)], (_, _) => new FakePipeline(tally => tally.Commit()), [])
        {
            Check = () => Task.FromResult(++looked == 1 ? null : "a value is lost"),
        };
        var shape = side.Shapes[0];
        var run = await side.RunAsync(shape, Short, 1);
        Assert.Null(run.Void);
        Assert.Equal("a value is lost", (await side.RunAsync(shape, Short, 1)).Void);

        var elsewhere = side with { Elsewhere = (_, _, seed) => Task.FromResult(run with { Committed = (long)seed }) };
        var there = await elsewhere.RunAsync(shape, Short, 7);
        Assert.Equal((7, "a value is lost"), (there.Committed, there.Void));
        await (elsewhere with { Elsewhere = (_, _, _) => Task.FromResult(run with { Void = "broken" }) })
            .RunAsync(shape, Short, 1);
        Assert.Equal(3, looked);
    }

    [Fact]
    public async Task A_comparison_sweeps_both_sides_and_then_runs_them_in_turns_at_their_best()
    {
        var log = new List<string>();
        var plan = new RunPlan(Short, Short, 2, 1);
        var (a, b) = await SideBySide.RunAsync(PacedSide("A", log), PacedSide("B", log), plan, _ => { });
        Assert.Equal(["A1", "B1", "A2", "B2", "A2", "B2", "B2", "A2"], log);
        Assert.Equal(new LoadShape(2), a.Shape);
        Assert.Equal(2, b.Runs.Count);
        Assert.Equal(2, b.Sweep.Count);
        Assert.Null(a.Void);
    }

    [Fact]
    public async Task A_ratio_with_a_void_run_is_no_result()
    {
        var log = new List<string>();
        var plan = new RunPlan(Short, Short, 1, 1);
        var broken = PacedSide("B", log) with { Pipeline = (_, _) => new FakePipeline(tally => tally.Error("HTTP 500")) };
        var (a, b) = await SideBySide.RunAsync(PacedSide("A", log), broken, plan, _ => { });
        var result = BenchmarkResult.Ratio("x", "y", new Goal(2, 3, true), a, b, run => run.PerSecond, 1);
        Assert.Null(result.Measured);
        Assert.Contains("HTTP 500", result.Missing, StringComparison.Ordinal);
        Assert.Equal("NO RESULT", result.Verdict);
    }

    [Fact]
    public async Task Aborts_make_a_run_void_unless_the_side_allows_them()
    {
        var side = new Side("pact", [new LoadShape(1)], (_, _) => new FakePipeline(CommitAndAbort), []);
        Assert.Contains("timeout", (await side.RunAsync(new LoadShape(1), Short, 1)).Void, StringComparison.Ordinal);
        Assert.Null((await (side with { AbortsAllowed = true }).RunAsync(new LoadShape(1), Short, 1)).Void);

        static void CommitAndAbort(Tally tally)
        {
            tally.Commit();
            tally.Abort("timeout");
        }
    }

    [Fact]
    public async Task An_exception_of_the_system_makes_the_run_void()
    {
        var side = new Side("broken", [new LoadShape(1)], (_, _) => new FakePipeline(_ => throw new InvalidOperationException("no luck")), []);
        Assert.Contains("InvalidOperationException: no luck", (await side.RunAsync(new LoadShape(1), Short, 1)).Void, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_measured_process_that_ends_makes_the_run_void()
    {
        var child = Systems.ChildProcess.Start("a short life", "/bin/sleep", ["0.3"]);
        await using (child)
        {
            var side = new Side("crashing", [new LoadShape(1)], (_, _) => new FakePipeline(tally => tally.Commit()), [new MeasuredProcess("server", child.Id)]);
            var run = await side.RunAsync(new LoadShape(1), new RunTimes(TimeSpan.FromMilliseconds(10), TimeSpan.FromMilliseconds(1000)), 1);
            Assert.Contains("has ended", run.Void, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData(true, 3.5, "aim met")]
    [InlineData(true, 2.5, "bar met")]
    [InlineData(true, 1.9, "BAR MISSED")]
    [InlineData(false, 1, "aim met")]
    [InlineData(false, 2, "aim met")]
    [InlineData(false, 2.5, "bar met")]
    [InlineData(false, 3.5, "BAR MISSED")]
    public void A_number_is_judged_by_bar_and_aim(bool higherIsBetter, double measured, string verdict) =>
        Assert.Equal(verdict, (higherIsBetter ? new Goal(2, 3, true) : new Goal(3, 2, false)).Judge(measured));

    [Theory]
    [InlineData(false, 1.0, 1.05, "bar met")]
    [InlineData(false, 1.0, 1.09, "BAR MISSED")]
    [InlineData(true, 1.05, 1.2, "BAR MISSED")]
    [InlineData(true, 1.09, 1.2, "bar met")]
    public void A_goal_for_the_whole_interval_is_judged_by_its_worse_end(bool higherIsBetter, double low, double high, string verdict)
    {
        var goal = new Goal(1.08, higherIsBetter ? 2 : 0.5, higherIsBetter) { WholeInterval = true };
        var result = new BenchmarkResult { Name = "x", What = "y", Goal = goal, Measured = 1.08, Interval = new Statistics.Interval(low, high) };
        Assert.Equal(verdict, result.Verdict);
    }

    [Fact]
    public async Task In_process_benchmarks_drive_any_system_in_their_mix()
    {
        var system = new FakeSystem();
        var context = Context(_ => system);
        var result = await BenchmarkRunner.RunAsync(BenchmarkSuite.Select(["hybrid-uniform"])[0], context);
        Assert.Null(result.Missing);
        Assert.InRange(result.Measured!.Value, 0.01, 100);
        Assert.True(system.Pacts > system.Acts && system.Acts > 0);
        Assert.True(system.Disposed);
        Assert.Equal("./snapper bench hybrid-uniform --quick", result.Command);
        Assert.Equal("here", result.Notes["fact"]);
    }

    [Fact]
    public async Task The_abort_share_counts_every_attempt_of_ACTs_and_nothing_of_PACTs()
    {
        // Each ACT needs two attempts: half of all ACT attempts abort, whatever share the PACTs have.
        var system = new FakeSystem { ActAttempts = 2 };
        var result = await BenchmarkRunner.RunAsync(BenchmarkSuite.Select(["act-aborts"])[0], Context(_ => system));
        Assert.Null(result.Missing);
        Assert.Equal(50, result.Measured!.Value, 6);
        Assert.Equal("BAR MISSED", result.Verdict);
    }

    [Fact]
    public async Task A_PACT_that_aborts_in_process_is_no_result()
    {
        var system = new FakeSystem { PactAborts = true };
        var result = await BenchmarkRunner.RunAsync(BenchmarkSuite.Select(["pact-skew"])[0], Context(_ => system));
        Assert.Contains("undeclared", result.Missing, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Without_an_in_process_system_its_benchmarks_say_so()
    {
        var result = await BenchmarkRunner.RunAsync(BenchmarkSuite.Select(["pact-skew"])[0], Context(null));
        Assert.Equal("this build has no in-process system", result.Missing);
    }

    private static BenchmarkContext Context(Func<InProcessSettings, IInProcessSystem>? factory) =>
        new(Parsed.Options(["--quick"]) with { Duration = 0.4, Warmup = 0.05 }, factory, _ => { });

    // The second shape is the faster one, by far more than a busy machine can blur.
    private Side PacedSide(string name, List<string> log)
    {
        return new Side(
            name,
            [new LoadShape(1), new LoadShape(2)],
            (shape, _) =>
            {
                // Called once per loop; the log wants one entry per run.
                Note(shape);
                return new FakePipeline(tally => tally.Commit(shape.Pipelines == 1 ? 1 : 1000));
            },
            []);

        void Note(LoadShape shape)
        {
            var entry = $"{name}{shape.Pipelines}";
            created[entry] = created.GetValueOrDefault(entry) + 1;
            if (created[entry] % shape.Pipelines == 0)
            {
                log.Add(entry);
            }
        }
    }

    private sealed class FakePipeline(Action<Tally> run) : IPipeline
    {
        public async ValueTask RunOnceAsync(Tally tally)
        {
            await Task.Delay(1);
            run(tally);
        }

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }

    private sealed class FakeSystem : IInProcessSystem
    {
        private int pacts;
        private int acts;

        public int ActAttempts { get; init; } = 1;

        public bool PactAborts { get; init; }

        public int Pacts => pacts;

        public int Acts => acts;

        public bool Disposed { get; private set; }

        public string Name => "fake";

        public IReadOnlyList<MeasuredProcess> Processes => [];

        public IReadOnlyDictionary<string, string> Facts { get; } = new Dictionary<string, string> { ["fact"] = "here" };

        public Task StartAsync(CancellationToken cancellation) => Task.CompletedTask;

        public async ValueTask<TransactionEnd> RunAsync(TransactionKind kind, Transfer transfer)
        {
            await Task.Delay(1);
            if (kind == TransactionKind.Act)
            {
                Interlocked.Increment(ref acts);
                return new TransactionEnd(true, ActAttempts, null);
            }

            return Interlocked.Increment(ref pacts) % 10 == 0 && PactAborts
                ? new TransactionEnd(false, 1, "undeclared")
                : new TransactionEnd(true, 1, null);
        }

        public ValueTask<TransactionEnd> RunWaitingAsync(int list, TimeSpan wait, Transfer? accounts) =>
            throw new NotSupportedException();

        public ValueTask DisposeAsync()
        {
            Disposed = true;
            return ValueTask.CompletedTask;
        }
    }
}
