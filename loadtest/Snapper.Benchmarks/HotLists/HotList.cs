using Snapper.Benchmarks.Statistics;

namespace Snapper.Benchmarks.HotLists;

/// <summary>The workload of hot lists, in numbers.</summary>
public static class HotList
{
    /// <summary>Lists in use at a time.</summary>
    public const int Lists = 12;

    /// <summary>Closed loops.</summary>
    public const int Clients = 16;

    /// <summary>A transaction has 1 to so many operations, half of them appends.</summary>
    public const int OperationsMax = 5;

    /// <summary>
    /// After so many appends to all lists together the oldest one makes place for a new one: lists stay short, and are
    /// hot in their turn.
    /// </summary>
    public const int AppendsPerList = 100;

    /// <summary>Share of the transactions that wait before their first operation.</summary>
    public const double WaitingShare = 0.1;

    /// <summary>They wait 1 to so many milliseconds.</summary>
    public const int DelayMsMax = 20;

    /// <summary>The shape of the Pareto distribution by which lists are drawn.</summary>
    public const double Shape = 0.6;

    private static readonly double[] s_upTo = UpTo();

    /// <summary>How often each place is drawn: a Pareto distribution, cut off behind the last one.</summary>
    public static double[] Probabilities() =>
        [.. s_upTo.Select(static (upTo, place) => place == 0 ? upTo : upTo - s_upTo[place - 1])];

    /// <summary>Draws a place, 0 most often.</summary>
    public static int Draw(ref FastRandom random)
    {
        var drawn = random.NextDouble();
        var place = 0;
        while (place < Lists - 1 && drawn >= s_upTo[place])
        {
            place++;
        }

        return place;
    }

    private static double[] UpTo()
    {
        var all = 1 - Math.Pow(Lists + 1, -Shape);
        return [.. Enumerable.Range(0, Lists).Select(place => (1 - Math.Pow(place + 2, -Shape)) / all)];
    }
}
