using System.Diagnostics;
using System.Globalization;
using Snapper.Live.Faults;
using Snapper.Live.Harness;
using Snapper.Live.Links;

namespace Snapper.Live.Cluster;

/// <summary>
/// What can happen to direct links while the sidecars carry packets: transactions go on before it ends, unless the
/// links still carry something.
/// </summary>
internal static class DirectLinkFaults
{
    private static readonly TimeSpan GivenUpWithin = TimeSpan.FromSeconds(10); // 2 s, on a busy machine

    /// <summary>The kinds.</summary>
    /// <param name="bound">What is required of all.</param>
    public static IEnumerable<ClusterFault> All(TimeSpan bound) =>
    [
        new("link-cut", "direct links reset, once, again and again, or refused for 5 to 10 s", bound, Cut),
        new(
            "link-silence",
            "nothing passes on direct links for 5 to 10 s, in one or both directions; then all arrives late or is lost",
            bound, Silence),
        new(
            "link-slow", "5 to 200 ms delay or 2 to 100 kB/s on direct links for up to 10 s, in one or both directions",
            bound, Slow),
        new(
            "link-half-open", "direct links reset, and new ones accepted and never answered, for 5 to 10 s", bound,
            HalfOpen),
        new(
            "link-astray", "the address of a worker's direct links leads to another worker for 5 to 10 s", bound,
            Astray),
        new("link-moved", "kill -9 of a worker whose next life takes direct links at another port", bound, Moved),
        new(
            "link-pause", "SIGSTOP of a worker for 2 to 3.5 s: links to it are given up, its lease lives", bound,
            static strike => ClusterFaults.Pause(strike, strike.Any(), 2_000, 3_500)),
        new(
            "link-less", "a worker starts again without direct links, and then with them, as when versions mix",
            bound, Less) { IsQuick = false },
    ];

    private sealed record Struck(int From, int To, Lane Lane);

    private static async Task Cut(ClusterStrike strike)
    {
        var links = Draw(strike);
        switch (strike.Random.Next(3))
        {
            case 0:
                strike.Mark();
                CutOnce(links);
                break;
            case 1:
                var times = 2 + strike.Random.Next(8);
                strike.Detail += $" {times} times";
                for (var i = 0; i < times; i++)
                {
                    strike.Mark();
                    CutOnce(links);
                    await strike.Wait(strike.Between(10, 300));
                }

                break;
            default:
                strike.Detail += " refused";
                await While(strike, links, () => links.ForEach(static link => link.Lane.Cut(refuses: true)));
                break;
        }
    }

    private static Task Silence(ClusterStrike strike)
    {
        var links = Draw(strike);
        var (up, down, words) = LinkFaults.Directions(strike);
        var loses = strike.Random.Next(2) == 0;
        strike.Detail += $" {words}, then {(loses ? "lost" : "late")}";
        return While(
            strike, links, () => links.ForEach(link => ((IRoad)link.Lane).Hold(up, down)),
            atEnd: loses ? () => CutOnce(links) : null);
    }

    private static async Task Slow(ClusterStrike strike)
    {
        var links = Draw(strike);
        var (up, down, words) = LinkFaults.Directions(strike);
        var (weather, how) = LinkFaults.SlowWeather(strike);
        var time = strike.Span(TimeSpan.FromSeconds(10));
        strike.Detail += $" {how} {words} for {LinkFaults.Seconds(time)}";
        links.ForEach(link => ((IRoad)link.Lane).Put(weather, up, down));
        try
        {
            await strike.Wait(time);
        }
        finally
        {
            links.ForEach(static link => link.Lane.Heal());
            strike.Mark();
        }
    }

    private static Task HalfOpen(ClusterStrike strike)
    {
        var links = Draw(strike);
        return While(strike, links, () => links.ForEach(static link =>
        {
            ((IRoad)link.Lane).Hold(up: true, down: true);
            link.Lane.Cut(refuses: false);
        }));
    }

    private static Task Astray(ClusterStrike strike)
    {
        var one = strike.Any();
        var other = strike.Other(one);
        var links = Found(strike, [.. Others(strike, one).Select(from => (from, one))]);
        strike.Detail = $"to w{one}, by the address of w{other}";
        return While(
            strike, links,
            () =>
            {
                strike.System.LinkPlaces.LeadAstray(one, other);
                CutOnce(links);
            },
            atEnd: () => strike.System.LinkPlaces.LeadAstray(one, null));
    }

    private static Task Moved(ClusterStrike strike)
    {
        var worker = strike.Any();
        strike.System.LinkPlaces.Move(worker);
        return ClusterFaults.End(strike, ProcessTable.Kill, worker);
    }

    private static async Task Less(ClusterStrike strike)
    {
        var worker = strike.Any();
        strike.System.LinkPlaces.Take(worker, links: false);
        try
        {
            await ClusterFaults.End(strike, ProcessTable.Terminate, worker);
            await strike.System.Ready(worker);
            await ClusterFaults.Recovered(strike);
            var others = Others(strike, worker).ToArray();
            await GivenUp(
                strike, [.. others.Select(other => (other, worker)), .. others.Select(other => (worker, other))]);
        }
        finally
        {
            strike.System.LinkPlaces.Take(worker, links: true);
            await ClusterFaults.End(strike, ProcessTable.Terminate, worker);
        }
    }

    private static IEnumerable<int> Others(ClusterStrike strike, int than) =>
        Enumerable.Range(1, strike.System.Workers).Where(other => other != than);

    private static void CutOnce(List<Struck> links) => links.ForEach(static link => link.Lane.Cut(refuses: false));

    /// <summary>One link, both of a pair, all to one worker, all that one has made, or all.</summary>
    private static List<Struck> Draw(ClusterStrike strike)
    {
        var one = strike.Any();
        var other = strike.Other(one);
        var (words, pairs) = strike.Random.Next(5) switch
        {
            0 => ($"w{one} to w{other}", [(one, other)]),
            1 => ($"w{one} and w{other}", [(one, other), (other, one)]),
            2 => ($"all to w{one}", Others(strike, one).Select(from => (from, one)).ToArray()),
            3 => ($"all from w{one}", Others(strike, one).Select(to => (one, to)).ToArray()),
            _ => ("all", strike.Shuffled().SelectMany(from => Others(strike, from).Select(to => (from, to))).ToArray()),
        };
        strike.Detail = words;
        return Found(strike, pairs);
    }

    private static List<Struck> Found(ClusterStrike strike, (int From, int To)[] pairs)
    {
        List<Struck> links =
            [.. pairs.Select(pair => new Struck(pair.From, pair.To, strike.System.LinkOf(pair.From, pair.To)))];
        foreach (var none in links.Where(static link => link.Lane.Connections == 0))
        {
            strike.Problems.Enqueue($"No direct link from w{none.From} to w{none.To} was found: nothing was struck.");
        }

        return links;
    }

    /// <summary>
    /// Nothing passes on these links for longer than a lease: all goes on without them, counted from the blow, and the
    /// workers say so.
    /// </summary>
    private static async Task While(ClusterStrike strike, List<Struck> links, Action begin, Action? atEnd = null)
    {
        var time = strike.IsBrief ? TimeSpan.FromSeconds(3) : strike.Between(5_000, 10_000);
        strike.Mark();
        begin();
        try
        {
            await strike.Wait(time);
            await ClusterFaults.Recovered(strike);
            await GivenUp(strike, [.. links.Select(static link => (link.From, link.To))]);
            strike.Detail += string.Create(
                CultureInfo.InvariantCulture, $" for {Stopwatch.GetElapsedTime(strike.Hit).TotalSeconds:0.0} s");
        }
        finally
        {
            atEnd?.Invoke();
            links.ForEach(static link => link.Lane.Heal());
        }
    }

    /// <summary>Waits until every worker that answers says that it has no such link.</summary>
    private static Task GivenUp(ClusterStrike strike, (int From, int To)[] links) =>
        Eventually.Holds("links on which nothing passes to be given up", GivenUpWithin, async () =>
        {
            strike.Cancellation.ThrowIfCancellationRequested();
            foreach (var of in links.GroupBy(static link => link.From))
            {
                var peers = await strike.System.Peers(of.Key);
                if (of.FirstOrDefault(link => peers?.Any(peer => peer.Worker == $"w{link.To}" && peer.IsDirect) == true)
                    is (> 0, var to))
                {
                    return $"w{of.Key} says that its link to w{to} is there";
                }
            }

            return null;
        });
}
