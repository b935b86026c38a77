using System.Diagnostics;
using System.Globalization;
using Snapper.Live.Faults;
using Snapper.Live.Harness;
using Snapper.Live.Links;

namespace Snapper.Live.Cluster;

/// <summary>All kinds of faults of several workers.</summary>
internal static class ClusterFaults
{
    private static readonly TimeSpan LeaseOverWithin = TimeSpan.FromSeconds(10); // 4 s, on a busy machine
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan PauseBound = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan MovedWithin = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan TakenOverWithin = TimeSpan.FromSeconds(40);

    public static IReadOnlyList<ClusterFault> All { get; } =
    [
        new("worker-kill", "kill -9 of a worker that is not the master; it is started again", Bound, strike => Kill(strike, strike.Any(butMaster: true))),
        new("master-kill", "kill -9 of the master; it is started again", Bound, strike => Kill(strike, strike.Master)),
        new("two-kill", "kill -9 of two workers at once", Bound, strike => { var one = strike.Any(); return Kill(strike, one, strike.Other(one)); }),
        new("all-kill", "kill -9 of all workers", Bound, strike => Kill(strike, [.. Enumerable.Range(1, strike.System.Workers)])),
        new("worker-gone", "kill -9 of a worker that stays away until others have taken over", Bound, strike => Gone(strike, strike.Any(butMaster: true))) { IsQuick = false },
        new("master-gone", "kill -9 of the master, which stays away until others have taken over", Bound, strike => Gone(strike, strike.Master)) { IsQuick = false },
        new("worker-pause", "SIGSTOP of a worker for 6 to 10 s: its lease runs out, and it wakes with an old epoch", Bound, strike => Pause(strike, strike.Any(butMaster: true), 6_000, 10_000)) { IsQuick = false },
        new("master-pause", "SIGSTOP of the master for 6 to 10 s", Bound, strike => Pause(strike, strike.Master, 6_000, 10_000)) { IsQuick = false },
        new("worker-blink", "SIGSTOP of a worker for 0.2 to 2 s", Bound, strike => Pause(strike, strike.Any(), 200, 2_000)),
        new("worker-term", "SIGTERM to a worker", Bound, strike => End(strike, ProcessTable.Terminate, strike.Any())),
        new("daprd-kill", "kill -9 of a worker's daprd", Bound, strike => Part(strike, $"sidecar w{strike.Any()}")),
        new("placement-kill", "kill -9 of placement", Bound, strike => Part(strike, "placement")),
        new("redis-kill", "kill -9 of redis-server", Bound, strike => Part(strike, "redis")),
        new("redis-pause", "SIGSTOP of redis-server for 0.2 to 6 s", Bound, RedisPause),
        new("cut-redis", "no connection between one worker and Redis for 5 to 8 s: its lease runs out while it lives", Bound, CutRedis) { IsQuick = false },
        new("silence-redis", "nothing passes between one worker and Redis for 5 to 8 s, in one or both directions", Bound, SilenceRedis) { IsQuick = false },
        new(
            "cut-out",
            "one worker reaches no other for up to 4 s, by refused connections, though they reach it; Redis is "
            + "reached. By direct links and sidecars, or by the sidecars alone, here and below",
            Bound, strike => Roads(strike, strike.Any(), true, false, Refuse)),
        new("cut-in", "no other reaches one worker for up to 4 s, though it reaches them", Bound, strike => Roads(strike, strike.Any(), false, true, Refuse)),
        new("silence-out", "nothing passes from one worker to the others, or back, or both, for up to 4 s; then all arrives late", Bound, strike => Roads(strike, strike.Any(), true, false, Silence(strike))),
        new("silence-in", "the same on the road by which the others reach it", Bound, strike => Roads(strike, strike.Any(), false, true, Silence(strike))),
        new("cut-off", "no worker reaches one of them, and it reaches none, for up to 4 s; Redis is reached", Bound, strike => Roads(strike, strike.Any(), true, true, Refuse)),
        new(
            "cut-pair",
            "what one worker sends to another is refused, by its direct link and its sidecar, or what both send to "
            + "each other, for a minute; all others, and Redis, are reached",
            Bound, strike => Pair(strike, silence: false)) { IsQuick = false },
        new(
            "silence-pair",
            "the same, but what is sent, or only its answers, stays under way, and arrives late or is lost",
            Bound, strike => Pair(strike, silence: true)) { IsQuick = false },
        .. DirectLinkFaults.All(Bound),
        new("rolling-restart", "SIGTERM to one worker after the other, each when the one before is ready again", Bound, RollingRestart) { IsQuick = false },
        new("clock-step", "the clocks of one or two workers step to and fro, by half a second up to two hours", Bound, WorkerClocks) { IsQuick = false },
        new("redis-clock-step", "the same of redis-server's clock", Bound, RedisClock) { IsQuick = false },
        new("redis-rewrite", "BGREWRITEAOF under load", Bound, strike => RedisFaults.Rewrite(strike, strike.System.Redis)) { IsQuick = false },
        new("redis-save", "BGSAVE under load", Bound, strike => RedisFaults.Save(strike, strike.System.Redis)) { IsQuick = false },
        new("redis-disk-full", "no room for the append-only file, also for the next redis-servers, for up to 10 s", Bound, strike => RedisFaults.DiskFull(strike, strike.System.Redis)) { IsQuick = false },
        new("redis-failover", "a replica that has everything is promoted by a sentinel, and the same back", Bound, strike => Failover(strike, losesTail: false)) { IsQuick = false },
        new("redis-failover-loss", "a replica that lacks the last 0.3 to 1.5 s is promoted; commits of that time may be gone, but no half of one", Bound, strike => Failover(strike, losesTail: true)) { IsQuick = false },
        new("migrate", "an actor in use, and 200 partitions, move to and fro", PauseBound, Migrate) { MeasuresPause = true },
        new("drain-rebalance", "everything of a worker moves to the others and back", Bound, strike => Moving(strike, strike.Any(), () => Task.CompletedTask)),
        new("migrate-source-kill", "kill -9 of the source while everything of it moves away", Bound, strike => Moving(strike, strike.Any(), worker => Kill(strike, worker))),
        new("migrate-target-kill", "kill -9 of a target meanwhile", Bound, strike => Moving(strike, strike.Any(), worker => Kill(strike, strike.Other(worker)))),
        new("migrate-master-kill", "kill -9 of the master meanwhile", Bound, strike => Moving(strike, strike.Any(butMaster: true), () => Kill(strike, strike.Master))),
        new("migrate-redis-kill", "kill -9 of redis-server meanwhile", Bound, strike => Moving(strike, strike.Any(), () => Part(strike, "redis"))),
        new("migrate-daprd-kill", "kill -9 of the source's daprd meanwhile", Bound, strike => Moving(strike, strike.Any(), worker => Part(strike, $"sidecar w{worker}"))),
        new("migrate-source-pause", "SIGSTOP of the source for 6 to 10 s meanwhile", Bound, strike => Moving(strike, strike.Any(), worker => Pause(strike, worker, 6_000, 10_000))) { IsQuick = false },
        new("migrate-cut-off", "the roads from and to the source are cut meanwhile", Bound, strike => Moving(strike, strike.Any(), worker => Roads(strike, worker, true, true, Refuse))),
        new("join-leave", "a worker joins, gets its share, and leaves again", Bound, strike => JoinAndLeave(strike, kills: false)) { IsQuick = false },
        new("join-kill-leave", "a worker joins, gets its share, dies, and leaves again", Bound, strike => JoinAndLeave(strike, kills: true)) { IsQuick = false },
    ];

    /// <summary>The kinds of these names.</summary>
    /// <exception cref="FormatException">There is none of such a name.</exception>
    public static IReadOnlyList<ClusterFault> Named(IEnumerable<string> names) =>
        [.. names.Select(name => All.FirstOrDefault(kind => kind.Name == name)
            ?? throw new FormatException($"With several workers there is no fault '{name}'; there are: {string.Join(", ", All.Select(kind => kind.Name))}."))];

    private static Task Kill(ClusterStrike strike, params int[] workers) => End(strike, ProcessTable.Kill, workers);

    /// <summary>Signals workers that end by it.</summary>
    public static async Task End(ClusterStrike strike, int signal, params int[] workers)
    {
        strike.Detail += $"w{string.Join(" w", workers)} ";
        strike.Mark();
        strike.Victims.AddRange(workers.Length == strike.System.Workers ? [] : workers);
        await Task.WhenAll(workers.Select(worker => strike.System.Kill($"w{worker}", signal)));
    }

    private static async Task Part(ClusterStrike strike, string part)
    {
        strike.Detail += part + " ";
        strike.Mark();
        await strike.System.Kill(part);
        strike.NotBeforeNow();
    }

    /// <summary>Whoever would start it again stands still meanwhile.</summary>
    private static async Task Gone(ClusterStrike strike, int worker)
    {
        var supervisor = strike.System.Supervisor;
        strike.Detail = $"w{worker}";
        strike.Victims.Add(worker);
        ProcessTable.Signal(supervisor, ProcessTable.Stop);
        try
        {
            strike.Mark();
            ProcessTable.Signal(await strike.System.Pid($"w{worker}"), ProcessTable.Kill);
            await Recovered(strike);
        }
        finally
        {
            ProcessTable.Signal(supervisor, ProcessTable.Continue);
        }
    }

    /// <summary>Waits until the others answer for everything, so that the end of the fault is not taken for the cure.</summary>
    public static Task Recovered(ClusterStrike strike) => Eventually.Holds("others to have taken over", TakenOverWithin, () =>
    {
        strike.Cancellation.ThrowIfCancellationRequested();
        return Task.FromResult(RecoveredAfter(strike, out var missing) ? null : missing);
    });

    private static bool RecoveredAfter(ClusterStrike strike, out string missing)
    {
        var actors = strike.Prober.Recovered(strike.Hit, strike.Since, strike.Victims, global: false, out var missingHere);
        var global = strike.Prober.Recovered(strike.Hit, strike.Since, strike.Victims, global: true, out var missingToo);
        missing = missingHere + missingToo;
        return actors is not null && global is not null;
    }

    /// <summary>A worker stands still for so many milliseconds. Less than a lease only lasts.</summary>
    public static async Task Pause(ClusterStrike strike, int worker, int least, int most)
    {
        var time = strike.Between(least, most);
        strike.Detail += string.Create(CultureInfo.InvariantCulture, $"w{worker} for {time.TotalSeconds:0.0} s ");
        strike.Victims.Add(worker);
        var pid = await strike.System.Pid($"w{worker}");
        ProcessTable.Signal(pid, ProcessTable.Stop);
        strike.Mark();
        try
        {
            await strike.Wait(time);
        }
        finally
        {
            ProcessTable.Signal(pid, ProcessTable.Continue);
        }

        if (least < 4_000)
        {
            strike.Mark();
        }
    }

    private static async Task RedisPause(ClusterStrike strike)
    {
        var time = strike.Between(200, 6_000);
        strike.Detail = string.Create(CultureInfo.InvariantCulture, $"{time.TotalSeconds:0.0} s");
        var pid = await strike.System.Pid("redis");
        ProcessTable.Signal(pid, ProcessTable.Stop);
        try
        {
            await strike.Wait(time);
        }
        finally
        {
            ProcessTable.Signal(pid, ProcessTable.Continue);
            strike.Mark();
        }
    }

    private static Task CutRedis(ClusterStrike strike) => WithoutRedis(strike, static lane => lane.Cut(refuses: true));

    private static Task SilenceRedis(ClusterStrike strike)
    {
        var direction = strike.Random.Next(3);
        strike.Detail = direction switch { 0 => "to Redis ", 1 => "from Redis ", _ => "both ways " };
        return WithoutRedis(strike, lane => lane.Hold(up: direction != 1, down: direction != 0));
    }

    private static async Task WithoutRedis(ClusterStrike strike, Action<IRoad> begin)
    {
        var worker = strike.Any();
        var lane = strike.System.ToRedis.Of($"w{worker}");
        var time = strike.Between(5_000, 8_000);
        strike.Detail += string.Create(CultureInfo.InvariantCulture, $"w{worker} for {time.TotalSeconds:0.0} s, {lane.Connections} connections");
        if (lane.Connections == 0)
        {
            strike.Problems.Enqueue($"No connection of w{worker} to Redis was found: nothing was cut.");
        }

        strike.Victims.Add(worker);
        strike.Mark();
        begin(lane);
        try
        {
            await strike.Wait(time);
        }
        finally
        {
            lane.Heal();
        }
    }

    private static void Refuse(IRoad road) => road.Cut(refuses: true);

    private static Action<IRoad> Silence(ClusterStrike strike)
    {
        var direction = strike.Random.Next(3);
        strike.Detail += direction switch { 0 => "there ", 1 => "back ", _ => "both ways " };
        return road => road.Hold(up: direction != 1, down: direction != 0);
    }

    /// <summary>
    /// The roads by which one worker reaches the others, or they reach it: direct links, and by the sidecars; or the
    /// latter alone.
    /// </summary>
    private static async Task Roads(ClusterStrike strike, int worker, bool outbound, bool inbound, Action<IRoad> begin)
    {
        var roads = new List<IRoad>();
        var links = strike.Random.Next(3) > 0;
        if (outbound)
        {
            roads.Add(strike.System.Out(worker));
        }

        if (inbound)
        {
            roads.Add(strike.System.In(worker));
        }

        foreach (var other in links ? Enumerable.Range(1, strike.System.Workers).Where(other => other != worker) : [])
        {
            roads.AddRange(outbound ? [strike.System.LinkOf(worker, other)] : []);
            roads.AddRange(inbound ? [strike.System.LinkOf(other, worker)] : []);
        }

        strike.Detail += links ? "" : "sidecars alone, ";
        var time = strike.Between(200, 4_000);
        var connections = roads.Sum(static road => road.Connections);
        strike.Detail += string.Create(
            CultureInfo.InvariantCulture, $"w{worker} {connections} connections, {time.TotalSeconds:0.0} s ");
        if (links && connections == 0)
        {
            strike.Problems.Enqueue("No connection was found on the roads: nothing was cut.");
        }

        roads.ForEach(begin);
        try
        {
            await strike.Wait(time);
        }
        finally
        {
            roads.ForEach(static road => road.Heal());
            strike.Mark();
        }
    }

    /// <summary>Two workers that do not reach each other, while each reaches all others: nobody is cut off, so a lease says nothing.</summary>
    private static async Task Pair(ClusterStrike strike, bool silence)
    {
        var one = strike.Any();
        var other = strike.Other(one);
        var both = strike.Random.Next(2) == 0;
        var answers = silence && strike.Random.Next(2) == 0;
        List<Lane> lanes = [.. Between(strike, one, other), .. both ? Between(strike, other, one) : []];

        strike.Detail = $"w{one} {(both ? "and" : "to")} w{other}{(silence ? answers ? ", answers" : ", calls" : "")} ";
        var (before, begin) = (lanes.Sum(static lane => lane.Entries), Stopwatch.GetTimestamp());
        foreach (IRoad lane in lanes)
        {
            if (silence)
            {
                lane.Hold(up: !answers, down: answers);
            }
            else
            {
                lane.Cut(refuses: true);
            }
        }

        TimeSpan? served = null;
        TimeSpan? detour = null;
        try
        {
            for (var time = TimeSpan.FromSeconds(strike.IsBrief ? 10 : 60); Stopwatch.GetElapsedTime(begin) < time;)
            {
                await strike.Wait(TimeSpan.FromMilliseconds(500));
                served ??= strike.Prober.Recovered(begin, begin, [one, other], global: false, out _) is null ? null : Stopwatch.GetElapsedTime(begin);
                detour ??= await IsPassedOn(strike, one, other) ? Stopwatch.GetElapsedTime(begin) : null;
            }
        }
        finally
        {
            lanes.ForEach(silence && strike.Random.Next(2) == 0 ? static lane => lane.Cut(refuses: false) : static _ => { });
            lanes.ForEach(static lane => lane.Heal());
            strike.Mark();
        }

        if (lanes.Sum(static lane => lane.Entries) == before)
        {
            strike.Problems.Enqueue("No call between the two was seen: nothing was cut.");
        }

        if (detour is null && strike.System.Workers > 2)
        {
            strike.Problems.Enqueue($"What w{one} had for w{other} did not go by way of a third one.");
        }

        strike.Detail += served is { } after
            ? string.Create(CultureInfo.InvariantCulture, $"all actors answered elsewhere after {after.TotalSeconds:0.0} s of it") : "not all actors answered elsewhere meanwhile";
        strike.Detail += detour is { } by
            ? string.Create(CultureInfo.InvariantCulture, $", passed on after {by.TotalSeconds:0.0} s") : "";
    }

    /// <summary>What one worker sends to another one: by its direct link, and by its sidecar.</summary>
    private static Lane[] Between(ClusterStrike strike, int from, int to) =>
        [strike.System.LinkOf(from, to), strike.System.Out(from).Of($"w{to}")];

    /// <summary>It has said that its packets go by way of another one.</summary>
    private static async Task<bool> IsPassedOn(ClusterStrike strike, int from, int to) =>
        (await strike.System.Peers(from))?.Any(peer => peer.Worker == $"w{to}" && peer.Via is not null) == true;

    private static async Task RollingRestart(ClusterStrike strike)
    {
        foreach (var worker in strike.Shuffled())
        {
            strike.Victims.Clear();
            await End(strike, ProcessTable.Terminate, worker);
            await strike.System.Ready(worker);
        }
    }

    /// <summary>They begin lives with clocks of their own, which then step; in the end lives with the machine's clock begin, which is a step, too.</summary>
    private static async Task WorkerClocks(ClusterStrike strike)
    {
        var workers = strike.Shuffled()[..(1 + strike.Random.Next(2))];
        await Clock(strike, [.. workers.Select(static worker => $"w{worker}")], strike.System.AllReady);
        strike.Victims.AddRange(workers);
    }

    private static Task RedisClock(ClusterStrike strike) => Clock(strike, ["redis"], () => strike.System.Pid("redis"));

    private static async Task Clock(ClusterStrike strike, string[] whose, Func<Task> ready)
    {
        if (await strike.System.Clocks.Prepare() is { } whyNot)
        {
            strike.NotRun = whyNot;
            return;
        }

        // Leases are 4 s, outcomes are kept for 10 minutes: half of each, once, twice, and much more.
        double[] steps = [0.5, 2, 4, 8, 40, 300, 600, 1_200, 7_200];
        try
        {
            foreach (var one in whose)
            {
                strike.System.Clocks.Set(one, TimeSpan.Zero);
                await strike.System.Kill(one, ProcessTable.Terminate);
            }

            await ready();
            for (var i = 3 + strike.Random.Next(3); i > 0; i--)
            {
                foreach (var one in whose)
                {
                    var ahead = steps[strike.Random.Next(steps.Length)] * (strike.Random.Next(2) == 0 ? 1 : -1);
                    strike.System.Clocks.Set(one, TimeSpan.FromSeconds(ahead));
                    strike.Detail += string.Create(CultureInfo.InvariantCulture, $"{one} {ahead:+0.#;-0.#} s, ");
                }

                await strike.Wait(strike.Between(500, 4_000));
                strike.Mark();
            }

            await Recovered(strike);
        }
        finally
        {
            foreach (var one in whose)
            {
                strike.System.Clocks.Set(one, null);
                await strike.System.Kill(one, ProcessTable.Terminate);
            }

            strike.Mark();
        }
    }

    private static Task Failover(ClusterStrike strike, bool losesTail) => RedisFailover.Strike(strike, strike.System.Redis, losesTail, losesTail ? () => Accepted(strike) : () => Recovered(strike));

    /// <summary>What they remember beside the log may forbid workers to go on; then a person accepts the loss, as the manual says.</summary>
    private static async Task Accepted(ClusterStrike strike)
    {
        await Eventually.Holds("all to go on, or up to leave it to a person", TakenOverWithin, () =>
        {
            strike.Cancellation.ThrowIfCancellationRequested();
            return Task.FromResult(strike.System.HasEnded || RecoveredAfter(strike, out _) ? null : "neither");
        });
        if (strike.System.HasEnded)
        {
            strike.Detail += string.Create(CultureInfo.InvariantCulture, $"refused after {Stopwatch.GetElapsedTime(strike.Hit).TotalSeconds:0.0} s, accepted by hand ");
            await strike.System.StartAgain(strike.Cancellation, "--accept-lost-log");
            strike.Mark();
        }

        await Recovered(strike);
    }

    private static async Task Migrate(ClusterStrike strike)
    {
        strike.Mark();
        var from = strike.Any();
        var to = strike.Other(from);
        var account = "Account/" + strike.Prober.AccountAt(from);
        var there = await strike.System.Snapper("migrate", "--to", $"w{to}", account);
        await strike.Wait(TimeSpan.FromMilliseconds(500));
        var first = strike.Random.Next(4096 - 200);
        var partitions = await strike.System.Snapper(["migrate", "--to", $"w{to}", .. Enumerable.Range(first, 200).Select(number => number.ToString(CultureInfo.InvariantCulture))]);
        var back = await strike.System.Snapper("migrate", "--to", $"w{from}", account);
        strike.Detail = string.Join("; ", new[] { there, partitions, back }.Select(one => one.Said.Split('\n')[^1]));
        if (there.Exit != 0 || back.Exit != 0)
        {
            strike.Problems.Enqueue($"A migration without a fault was not done: {there.Said} {back.Said}");
        }

        strike.Measured = strike.Prober.LongestSince(strike.Hit, from);
    }

    private static Task Moving(ClusterStrike strike, int worker, Func<Task> meanwhile) => Moving(strike, worker, _ => meanwhile());

    /// <summary>Everything of a worker moves away, and something happens at a random moment of it; the next round begins with all divided anew.</summary>
    private static async Task Moving(ClusterStrike strike, int worker, Func<int, Task> meanwhile)
    {
        strike.Mark();
        var id = $"cross-{strike.Random.Next()}";
        var asked = await strike.System.Migrate(id, $"w{worker}");
        await strike.Wait(strike.Between(0, 150));
        strike.Crossed = await strike.System.StateOf(id) == "planned";
        await meanwhile(worker);
        string? state = null;
        await Eventually.Holds($"migration {id} to end", MovedWithin, async () =>
        {
            strike.Cancellation.ThrowIfCancellationRequested();
            state = await strike.System.StateOf(id);
            return state is null or "planned" ? $"it is {state ?? "not known"}" : null;
        });
        strike.Detail += $"drain w{worker} {(strike.Crossed ? "crossed" : "not crossed")}, then {state}";
        if (asked is not 202)
        {
            strike.Problems.Enqueue($"The drain of w{worker} was answered by {asked}");
        }
    }

    private static async Task JoinAndLeave(ClusterStrike strike, bool kills)
    {
        var name = $"w{strike.System.Workers + 1}";
        strike.Mark();
        var joined = await strike.System.Snapper("join");
        var balanced = await strike.System.Snapper("rebalance");
        if (kills)
        {
            await strike.System.Kill(name);
        }

        var left = await strike.System.Snapper("leave", name);
        strike.Mark();
        strike.Detail = string.Join("; ", new[] { joined, balanced, left }.Select(one => one.Said.Split('\n')[^1]));
        foreach (var (exit, said) in new[] { joined, left })
        {
            if (exit != 0)
            {
                strike.Problems.Enqueue(said);
            }
        }

        // One that was killed may be told to end before its next life is open: it owns nothing, and its lease runs out.
        await Eventually.Holds($"{name} to be no member any more", LeaseOverWithin, async () =>
        {
            var shown = (await strike.System.Members())?.FirstOrDefault(member => member.Name == name);
            var hasLeft = shown is null or { State: "left" } || (kills && shown.State != "live");
            return hasLeft ? null : $"it is shown as {shown}";
        });
    }
}
