using System.Globalization;
using System.Text;
using Snapper.Protocol.Messages;
using Snapper.Protocol.Tests.World;

namespace Snapper.Protocol.Tests.Schedules;

/// <summary>Thousands of random schedules. A failure names its seed and shows the schedule.</summary>
public sealed class ScheduleTests
{
    /// <summary>How many schedules to run; the default takes a few seconds.</summary>
    private const string CountVariable = "SNAPPER_SCHEDULES";

    /// <summary>The first seed, to go where nobody has been.</summary>
    private const string SeedVariable = "SNAPPER_SEED";

    private const int MaxTrace = 200_000;

    [Fact]
    public void Random_schedules_are_strictly_serializable_and_end()
    {
        var count = Read(CountVariable, 5_000);
        var first = Read(SeedVariable, 1);
        for (var seed = first; seed < first + count; seed++)
        {
            try
            {
                new RandomSchedule(seed).Run();
            }
            catch (Exception exception)
            {
                Assert.Fail($"Seed {seed}: {exception.Message}\n{exception.StackTrace}\n{TraceOf(seed)}");
            }
        }
    }

    /// <summary>A schedule that never fails anything proves little: the rare paths must be common enough. (A death by
    /// serializability is not; act_own_abort_in_a_ring.txt shows one.)</summary>
    [Fact]
    public void Random_schedules_reach_the_rare_paths()
    {
        long undos = 0, removed = 0, committed = 0, withdrawn = 0;
        var deaths = new int[Enum.GetValues<AbortReason>().Length];
        for (var seed = 1; seed <= 1_500; seed++)
        {
            var schedule = new RandomSchedule(seed);
            schedule.Run();
            undos += schedule.World.Commit.Undos;
            removed += schedule.World.Commit.Removals;
            committed += schedule.World.Requests.Count(static request => request.Answer == Answer.Committed);
            withdrawn += schedule.World.Requests.Count(static request => request.Reason == AbortReason.Cancelled);
            for (var i = 0; i < deaths.Length; i++)
            {
                deaths[i] += schedule.World.Deaths[i];
            }
        }

        Assert.True(committed > 5_000, $"{committed} committed");
        Assert.True(undos > 100, $"{undos} undos");
        Assert.True(removed > undos + 20, $"{removed} removed in {undos} undos: too few victims");
        Assert.True(withdrawn > 0, "no PACT was withdrawn");
        foreach (var reason in new[]
        {
            AbortReason.Application, AbortReason.Conflict, AbortReason.Deadlock, AbortReason.Undeclared,
            AbortReason.Timeout, AbortReason.Undone,
        })
        {
            Assert.True(deaths[(int)reason] > 0, $"{deaths[(int)reason]} died of {reason}");
        }
    }

    [Fact]
    public void The_same_seed_gives_the_same_schedule()
    {
        Assert.Equal(TraceOf(7), TraceOf(7));
        Assert.NotEqual(TraceOf(7), TraceOf(8));
    }

    internal static string TraceOf(int seed)
    {
        var trace = new StringBuilder();
        try
        {
            new RandomSchedule(seed, line => _ = trace.Length < MaxTrace ? trace.Append(line).Append('\n') : trace).Run();
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
