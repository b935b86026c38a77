using System.Globalization;
using System.Text;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Tests.World;

namespace Snapper.Protocol.Tests.Cluster;

/// <summary>Thousands of random schedules of the machines of several workers. A failure names its seed and shows the schedule.</summary>
public sealed class ClusterScheduleTests
{
    private const string CountVariable = "SNAPPER_SCHEDULES";
    private const string SeedVariable = "SNAPPER_SEED";
    private const int MaxTrace = 100_000;

    [Fact]
    public void Random_schedules_of_several_workers_are_strictly_serializable_and_end()
    {
        var count = Read(CountVariable, 4_000);
        var first = Read(SeedVariable, 1);
        for (var seed = first; seed < first + count; seed++)
        {
            try
            {
                new ClusterSchedule(seed).Run();
            }
            catch (Exception exception)
            {
                Assert.Fail($"Seed {seed}: {exception.Message}\n{exception.StackTrace}\n{TraceOf(seed)}");
            }
        }
    }

    [Fact]
    public void Random_schedules_of_several_workers_reach_the_rare_paths()
    {
        long globalUndos = 0, localUndos = 0, committed = 0;
        var deaths = new int[Enum.GetValues<AbortReason>().Length];
        for (var seed = 1; seed <= 1_500; seed++)
        {
            var schedule = new ClusterSchedule(seed);
            schedule.Run();
            globalUndos += schedule.World.Master.Machine.Undos;
            localUndos += schedule.World.Workers.Sum(static worker => worker.Commit.Undos);
            committed += schedule.World.Requests.Count(static request => request.Answer == Answer.Committed);
            for (var i = 0; i < deaths.Length; i++)
            {
                deaths[i] += schedule.World.Deaths[i];
            }
        }

        Assert.True(committed > 5_000, $"{committed} committed");
        Assert.True(globalUndos > 100, $"{globalUndos} undos of the master");
        Assert.True(localUndos > globalUndos + 100, $"{localUndos} undos of workers");
        foreach (var reason in new[] { AbortReason.Application, AbortReason.Conflict, AbortReason.Deadlock, AbortReason.Undeclared, AbortReason.Timeout, AbortReason.Undone })
        {
            Assert.True(deaths[(int)reason] > 0, $"{deaths[(int)reason]} died of {reason}");
        }
    }

    private static string TraceOf(int seed)
    {
        var trace = new StringBuilder();
        try
        {
            new ClusterSchedule(seed, line => _ = trace.Length < MaxTrace ? trace.Append(line).Append('\n') : trace).Run();
        }
        catch (Exception exception)
        {
            trace.Append(exception.Message).Append('\n');
        }

        return trace.ToString();
    }

    private static int Read(string variable, int otherwise) =>
        Environment.GetEnvironmentVariable(variable) is { Length: > 0 } text ? int.Parse(text, CultureInfo.InvariantCulture) : otherwise;
}
