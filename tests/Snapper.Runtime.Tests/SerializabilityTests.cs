using Snapper.Runtime.Execution;
using Snapper.Judging.Serializability;
using Xunit;
using Xunit.Abstractions;

namespace Snapper.Runtime.Tests;

/// <summary>Promise 1 in process: thousands of mixed transactions on few keys, judged from outside.</summary>
public sealed class SerializabilityTests(ITestOutputHelper output)
{
    [Theory]
    [InlineData(100, 1, 1)]
    [InlineData(100, 2, 1)]
    [InlineData(100, 2, 3)]
    [InlineData(0, 1, 1)]
    [InlineData(0, 2, 1)]
    [InlineData(50, 1, 1)]
    [InlineData(50, 2, 1)]
    [InlineData(50, 3, 3)]
    [InlineData(90, 2, 1)]
    [InlineData(90, 2, 2)]
    [InlineData(100, 1, 1, true)]
    [InlineData(50, 2, 1, true)]
    [InlineData(80, 3, 3, true)]
    public async Task Mixed_transactions_on_few_keys_are_strictly_serializable(int pactPercent, int executors, int coordinators, bool unmarked = false)
    {
        await using var worker = await TestWorker.Start(
            new WorkerOptions { Executors = executors, Coordinators = coordinators, MarkMethodsThatFail = !unmarked });
        if (unmarked)
        {
            // Full speculation for a method that aborts often: every abort is an undo (A4, A5).
            worker.Host.Worker.FindType("ListAppend")!.Find("Execute")!.Marked = false;
        }

        var load = new ListAppendLoad(worker, new LoadShape(pactPercent + executors, 4000, 16, 8, pactPercent) { MisdeclaredPercent = 10 });
        try
        {
            await load.Run();
        }
        finally
        {
            foreach (var (outcome, count) in load.Outcomes.OrderBy(o => o.Key))
            {
                output.WriteLine($"{outcome}: {count}");
            }

            output.WriteLine(worker.Host.Inspection.Status().ToString());
            output.WriteLine(string.Join(" ", worker.Host.Inspection.Status().RepeatsByReason));
        }

        Assert.Null(worker.Failed);
        var report = SerializabilityChecker.Check(load.History);
        Assert.True(report.Passed, report.ToString());
        Assert.True(load.AbortsJudged > 0, "no abort told what it rests on");
        Assert.Equal(unmarked, worker.Host.Inspection.Status().Undos > 0);
        Assert.Equal(0, load.Outcomes.GetValueOrDefault("act InDoubt") + load.Outcomes.GetValueOrDefault("pact InDoubt"));
        if (pactPercent > 0)
        {
            Assert.DoesNotContain(load.Outcomes.Keys, name => name is "pact aborted Conflict" or "pact aborted Deadlock" or "pact aborted Serializability" or "pact aborted Undone");
        }
    }
}
