using System.Diagnostics;
using System.Globalization;
using Snapper.Live.Harness;
using Snapper.Live.Links;
using Snapper.Live.Running;

namespace Snapper.Live.Faults;

/// <summary>What can happen on one road.</summary>
internal static class LinkFaults
{
    private static readonly TimeSpan LongestTrouble = TimeSpan.FromSeconds(20);

    /// <summary>The kinds for one link.</summary>
    /// <param name="name">The end of their names.</param>
    /// <param name="ends">Who are at its ends.</param>
    /// <param name="link">Finds it.</param>
    /// <param name="bound">What is required of all.</param>
    public static IEnumerable<FaultKind> On(string name, string ends, Func<LiveSystem, Link> link, TimeSpan bound) =>
    [
        new($"cut-{name}", $"connections between {ends} reset, once, again and again, or refused for a while", bound, strike => Cut(strike, link(strike.System))),
        new($"silence-{name}", $"nothing passes between {ends}, in one or both directions; at the end all arrives late, or connections are reset", bound, strike => Silence(strike, link(strike.System))),
        new($"slow-{name}", $"5 to 200 ms delay or 2 to 100 kB/s between {ends}, in one or both directions", bound, strike => Slow(strike, link(strike.System))),
    ];

    /// <summary>
    /// Placement cannot be reached for a minute, though it runs. Both other doors must go on as if nothing were. daprd itself decides what becomes of actor
    /// calls meanwhile; whoever gets no answer must at least have one soon after placement is back.
    /// </summary>
    public static async Task PlacementAway(Strike strike)
    {
        var time = strike.Random.Next(3) == 0 ? TimeSpan.FromSeconds(61) : strike.Between(5_000, 15_000);
        var link = strike.System.DaprdToPlacement;
        var begin = Stopwatch.GetTimestamp();
        var others = new List<Task<Answer>>();
        var actorCalls = new List<Task<(Answer Answer, TimeSpan Took)>>();
        await During(strike, link, async () =>
        {
            link.Cut(refuses: true);
            for (var i = 0; Stopwatch.GetElapsedTime(begin) < time; i++)
            {
                foreach (var door in new[] { Door.Direct, Door.Service })
                {
                    others.Add(strike.System.Client.Submit(Accounts.Amount("DepositChecking", $"away-{door}-{i}", 1).Act(), door, patience: TimeSpan.FromSeconds(2)));
                }

                actorCalls.Add(Timed(strike.System.Client.Submit(Accounts.Amount("DepositChecking", $"away-{i}", 1).Act(), Door.Actor, patience: TimeSpan.FromSeconds(90))));
                await strike.Wait(TimeSpan.FromSeconds(1));
            }
        });
        var unanswered = actorCalls.Count(call => !call.IsCompleted);
        foreach (var other in (await Task.WhenAll(others)).Where(answer => answer.Verdict != Verdict.Committed))
        {
            strike.Problems.Enqueue($"Without placement, a request at a door that does not need it was answered by {other}");
        }

        var ended = await Task.WhenAll(actorCalls);
        var committed = ended.Count(call => call.Answer.Verdict == Verdict.Committed);
        strike.Detail = $"{Seconds(time)}; of {ended.Length} actor calls meanwhile {unanswered} were answered only when it was back; {committed} committed, the slowest answer took {Seconds(ended.Max(call => call.Took))}";
    }

    private static async Task<(Answer Answer, TimeSpan Took)> Timed(Task<Answer> answer)
    {
        var started = Stopwatch.GetTimestamp();
        return (await answer, Stopwatch.GetElapsedTime(started));
    }

    private static Task During(Strike strike, IRoad link, TimeSpan time, Action begin, Action? atEnd = null) => During(strike, link, async () =>
    {
        begin();
        await strike.Wait(time);
        atEnd?.Invoke();
    });

    private static async Task Cut(Strike strike, IRoad link)
    {
        switch (strike.Random.Next(3))
        {
            case 0:
                strike.Detail = $"{link.Connections} connections";
                strike.Mark();
                link.Cut(refuses: false);
                break;
            case 1:
                var times = 2 + strike.Random.Next(8);
                strike.Detail = $"{times} times";
                for (var i = 0; i < times; i++)
                {
                    strike.Mark();
                    link.Cut(refuses: false);
                    await strike.Wait(strike.Between(10, 300));
                }

                break;
            default:
                var time = strike.Span(LongestTrouble);
                strike.Detail = $"refused for {Seconds(time)}";
                await During(strike, link, time, () => link.Cut(refuses: true));
                break;
        }
    }

    private static async Task Silence(Strike strike, IRoad link)
    {
        var time = strike.Span(LongestTrouble);
        var (up, down, words) = Directions(strike);
        var loses = strike.Random.Next(2) == 0;
        strike.Detail = $"{words} for {Seconds(time)}, then {(loses ? "reset" : "late")}";
        await During(strike, link, time, () => link.Hold(up, down), atEnd: () =>
        {
            if (loses)
            {
                link.Cut(refuses: false);
            }
        });
    }

    private static async Task Slow(Strike strike, IRoad link)
    {
        var time = strike.Span(LongestTrouble);
        var (up, down, words) = Directions(strike);
        var (weather, how) = SlowWeather(strike);
        strike.Detail = $"{how} {words} for {Seconds(time)}";
        await During(strike, link, time, () => link.Put(weather, up, down));
    }

    private static async Task During(Strike strike, IRoad link, Func<Task> trouble)
    {
        try
        {
            await trouble();
        }
        finally
        {
            link.Heal();
            strike.Mark();
        }
    }

    /// <summary>Weather in which all takes long, drawn, and in words.</summary>
    public static (Weather Weather, string Words) SlowWeather(Blow strike)
    {
        var weather = strike.Random.Next(2) == 0
            ? new Weather(Delay: strike.Between(5, 200))
            : new Weather(BytesPerSecond: 2000 + strike.Random.Next(98_000));
        return (weather, weather.BytesPerSecond > 0
            ? $"{weather.BytesPerSecond / 1000} kB/s"
            : $"{weather.Delay.TotalMilliseconds.ToString("0", CultureInfo.InvariantCulture)} ms");
    }

    /// <summary>One or both, drawn.</summary>
    public static (bool Up, bool Down, string Words) Directions(Blow strike) => strike.Random.Next(3) switch
    {
        0 => (true, false, "to the target"),
        1 => (false, true, "from the target"),
        _ => (true, true, "both ways"),
    };

    /// <summary>In words.</summary>
    public static string Seconds(TimeSpan time) => string.Create(CultureInfo.InvariantCulture, $"{time.TotalSeconds:0.0} s");
}
