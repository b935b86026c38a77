using System.Diagnostics;
using Snapper.Client.Messages;
using Snapper.Load.Calibration;
using Snapper.Load.Reporting;
using Snapper.Load.Running;
using Snapper.Scenarios.Changes;
using Snapper.Scenarios.Shapes;
using Snapper.Scenarios.Targets;
using Snapper.Scenarios.Workloads;
using Xunit;

namespace Snapper.Load.Tests;

public sealed class OpenLoopTests
{
    private static readonly TimeSpan Length = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(5);

    [Fact]
    public async Task A_stall_is_seen_by_everybody_who_arrives_during_it()
    {
        // Half a second in which nothing is answered: at 200/s a hundred callers wait, on average a quarter of a second. A closed loop would count one.
        var target = new Stalling(TimeSpan.FromSeconds(0.8), TimeSpan.FromSeconds(0.5));
        var (recorder, _) = await Run(target, rate: 200);
        Assert.Equal(400, recorder.Arrivals);
        Assert.Equal(400, recorder.Committed);
        Assert.InRange(Measured.Ms(recorder.Latency, 90), 200, 700);
        Assert.InRange(Measured.Ms(recorder.Latency, 99), 430, 1500);
    }

    [Fact]
    public async Task Arrivals_do_not_wait_for_answers()
    {
        // Each answer takes as long as the whole run: with one caller at a time there would be two or three.
        var target = new FakeBank { Delay = Length };
        var (recorder, _) = await Run(target, rate: 100);
        Assert.Equal((200, 200, 0), (recorder.Arrivals, target.Seen.Count, recorder.Errors));
        Assert.InRange(Measured.Ms(recorder.Latency, 50), 1_900, 10_000);
    }

    [Fact]
    public async Task The_warm_up_is_not_counted()
    {
        var bank = new FakeBank();
        var (recorder, _) = await Run(bank, rate: 100, warmUp: TimeSpan.FromSeconds(1));
        Assert.Equal(200, recorder.Arrivals);
        Assert.Equal(300, bank.Seen.Count);
    }

    [Fact]
    public async Task Outcomes_are_told_apart()
    {
        var (aborts, _) = await Run(new FakeBank { Always = FakeBank.Aborted("x", "conflict", retryable: true) }, rate: 100);
        Assert.True(aborts.SystemAborts > 150);
        Assert.Equal(aborts.SystemAborts, aborts.Outcomes["aborted: conflict"]);
        var (errors, _) = await Run(
            new FakeBank { Always = new TransactionReply { Id = "x", Outcome = TransactionOutcome.Rejected, Rejection = new RejectionDetails(429, "busy") } }, rate: 100);
        Assert.True(errors.Errors > 150);
        Assert.Equal(errors.Errors, errors.Outcomes["refused: 429"]);
    }

    [Fact]
    public async Task A_client_that_throws_is_a_finding_and_not_the_end()
    {
        var (recorder, _) = await Run(new Throwing(), rate: 50);
        Assert.Equal((100, 100), (recorder.Arrivals, recorder.Errors));
        Assert.Contains(recorder.Outcomes, static outcome => outcome.Key.Contains("planted", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Too_many_under_way_are_counted_and_not_sent()
    {
        var bank = new FakeBank { Delay = TimeSpan.FromSeconds(3) };
        var log = new RunLog();
        var recorder = new Recorder(Length, Timeout, 100, log);
        var workload = Workload();
        await workload.Prepare(bank, CancellationToken.None);
        var loop = new OpenLoop(Settings(100, TimeSpan.Zero) with { UnderWayMax = 30 }, workload, bank, recorder, log);
        await loop.Run(CancellationToken.None);
        Assert.Equal(200, recorder.Arrivals);
        Assert.Equal(170, recorder.Outcomes[Ending.NotSent]);
        Assert.Equal(170, recorder.Errors);
    }

    [Fact]
    public async Task Arrivals_are_handed_over_when_they_are_due()
    {
        // On a machine with neighbours a core may be away for some milliseconds; half of the arrivals must be punctual all the same.
        var (recorder, loop) = await Run(new FakeBank(), rate: 500);
        Assert.InRange(Measured.Ms(recorder.ArrivalError, 50), 0, 0.5);
        Assert.NotEmpty(loop.Timing);
    }

    [Fact]
    public async Task The_stub_answers_the_client_and_the_error_of_arrivals_is_told()
    {
        await using var stub = await StubServer.Start();
        await using var target = await SnapperTarget.Connect(new TargetSettings { Workers = [stub.Address], Discovers = false }, CancellationToken.None);
        var log = new RunLog();
        var recorder = new Recorder(Length, Timeout, 100, log);
        var loop = new OpenLoop(Settings(300, TimeSpan.Zero), Workload(), target, recorder, log);
        await loop.Run(CancellationToken.None);
        Assert.Equal(600, recorder.Committed);
        var error = LoadRun.ErrorOf(recorder, loop);
        Assert.True(error.P50Ms <= error.P99Ms && error.P99Ms <= error.P999Ms && error.P999Ms <= error.MaxMs * 1.001, $"{error}");
    }

    [Fact]
    public async Task The_calibration_says_what_it_measured()
    {
        using var output = new StringWriter();
        await Calibrator.Run(new CalibrationOptions { Duration = TimeSpan.FromSeconds(1) }, output, CancellationToken.None);
        Assert.Contains("capacity", output.ToString(), StringComparison.Ordinal);
        Assert.Contains("error of arrivals p50", output.ToString(), StringComparison.Ordinal);
        Assert.Matches("held: error|BROKEN: error|not judged: the machine", output.ToString());
    }

    private static SmallBankWorkload Workload() => new(new WorkloadSettings { Prefix = "o", Accounts = 100 });

    private static OpenLoopSettings Settings(double rate, TimeSpan warmUp) =>
        new() { Shape = LoadShape.Steady(rate, Length), WarmUp = warmUp, Process = ArrivalProcess.Even, Timeout = Timeout };

    private static async Task<(Recorder Recorder, OpenLoop Loop)> Run(ILoadTarget target, double rate, TimeSpan warmUp = default)
    {
        var log = new RunLog();
        var recorder = new Recorder(Length, Timeout, 100, log);
        var loop = new OpenLoop(Settings(rate, warmUp), Workload(), target, recorder, log);
        await loop.Run(CancellationToken.None);
        return (recorder, loop);
    }

    /// <summary>Answers at once, but for one stretch of time after the first transaction.</summary>
    private sealed class Stalling(TimeSpan after, TimeSpan length) : ILoadTarget
    {
        private long _first;

        public async Task<TransactionReply> Submit(TransactionRequestMessage request, CancellationToken cancellation)
        {
            Interlocked.CompareExchange(ref _first, Stopwatch.GetTimestamp(), 0);
            var gone = Stopwatch.GetElapsedTime(Volatile.Read(ref _first));
            if (gone > after && gone < after + length)
            {
                await Task.Delay(after + length - gone, cancellation);
            }

            return new TransactionReply { Id = request.Id!, Outcome = TransactionOutcome.Committed };
        }

        public Task<TransactionReply?> Find(string id, CancellationToken cancellation) => Task.FromResult<TransactionReply?>(null);
    }

    private sealed class Throwing : ILoadTarget
    {
        public Task<TransactionReply> Submit(TransactionRequestMessage request, CancellationToken cancellation) => throw new InvalidOperationException("planted");

        public Task<TransactionReply?> Find(string id, CancellationToken cancellation) => throw new HttpRequestException("planted");
    }
}
