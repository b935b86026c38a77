using System.Globalization;
using System.Text;

namespace Snapper.Protocol.Tests.Schedules;

/// <summary>Thousands of random schedules. A failure names its seed and shows the schedule.</summary>
public sealed class ScheduleTests
{
    /// <summary>How many schedules to run; the default takes a few seconds.</summary>
    private const string CountVariable = "SNAPPER_SCHEDULES";

    /// <summary>The first seed, to go where nobody has been.</summary>
    private const string SeedVariable = "SNAPPER_SEED";

    private const int MostTrace = 200_000;

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
            new RandomSchedule(seed, line => _ = trace.Length < MostTrace ? trace.Append(line).Append('\n') : trace).Run();
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
