using System.Globalization;
using System.Text;
using Snapper.Cluster.Migrating;
using Snapper.Cluster.Wire;
using Snapper.Simulation.Core;
using Snapper.Simulation.Running;

namespace Snapper.Simulation.Cluster;

/// <summary>A fault, or what an operator does, at a time of the run.</summary>
/// <param name="AtMs">Virtual milliseconds from the start.</param>
/// <param name="Kind">What happens.</param>
/// <param name="Worker">To which worker; where it lives no more, to none.</param>
/// <param name="ForMs">How long it lasts, or how long until the worker is back.</param>
/// <param name="Detail">The other worker, the armed step, the first actor that moves; by kind.</param>
public readonly record struct PlannedClusterFault(int AtMs, ClusterFaultKind Kind, int Worker, int ForMs, int Detail)
{
    /// <summary>Away for good, though a run may be longer.</summary>
    public const int ForGood = 3_600_000;

    /// <inheritdoc/>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Kind}@{AtMs}/{Worker}/{ForMs}/{Detail}");
}

/// <summary>
/// Everything that a simulated run of several workers is made of. Drawn from a seed; a shrunk one differs from that in the fields that its text names. The seed also
/// decides every later choice.
/// </summary>
public sealed record ClusterScenario
{
    /// <summary>Most workers of a run.</summary>
    public const int MostWorkers = 8;

    /// <summary>Runs of each hundred with faults that last for long.</summary>
    private const int LongPercent = 10;

    /// <summary>Runs of each thousand with thousands of transactions.</summary>
    private const int ManyPerMille = 2;

    private static readonly HashSet<string> s_names =
    [
        "workers", "lease", "think", "near", "far", "answer", "network", "store", "die", "window", "patience", "paced",
        "alone", "forget", "unmastered", "failover", "former", "strikes",
    ];

    /// <summary>Nothing that is not drawn by a bound lasts longer, in ms.</summary>
    private const int LongestShortMs = 3000;

    private static readonly ClusterFaultKind[] s_drawn =
    [
        ClusterFaultKind.WorkerCrash, ClusterFaultKind.WorkerCrash, ClusterFaultKind.WorkerLost, ClusterFaultKind.WorkerLost, ClusterFaultKind.MasterCrash, ClusterFaultKind.MasterLost,
        ClusterFaultKind.WorkerPause, ClusterFaultKind.WorkerPausedLong, ClusterFaultKind.WorkerPausedLong, ClusterFaultKind.WorkerReplaced, ClusterFaultKind.GracefulRestart,
        ClusterFaultKind.ExecutorStall, ClusterFaultKind.CrashAtStep, ClusterFaultKind.CrashAtStep, ClusterFaultKind.CrashAtStep, ClusterFaultKind.PauseAtStep,
        ClusterFaultKind.CrashAtMessage, ClusterFaultKind.CrashAtMessage, ClusterFaultKind.PauseAtMessage, ClusterFaultKind.StoreDown, ClusterFaultKind.StoreCut,
        ClusterFaultKind.StoreAnswersCut, ClusterFaultKind.StoreFull, ClusterFaultKind.NetworkCut, ClusterFaultKind.NetworkCutOneWay, ClusterFaultKind.Isolated,
    ];

    private static readonly ClusterFaultKind[] s_moves =
        [ClusterFaultKind.ActorsMoved, ClusterFaultKind.ActorsMoved, ClusterFaultKind.ActorsMoved, ClusterFaultKind.PartitionsMoved, ClusterFaultKind.WorkerDrained, ClusterFaultKind.WorkerJoined];

    /// <summary>Faults that last for long.</summary>
    private static readonly ClusterFaultKind[] s_long =
    [
        ClusterFaultKind.StoreDown, ClusterFaultKind.StoreDown, ClusterFaultKind.StoreCut, ClusterFaultKind.StoreAnswersCut, ClusterFaultKind.StoreFull, ClusterFaultKind.NetworkCut,
        ClusterFaultKind.NetworkCut, ClusterFaultKind.NetworkCutOneWay, ClusterFaultKind.NetworkCutOneWay, ClusterFaultKind.Isolated, ClusterFaultKind.WorkerPausedLong,
        ClusterFaultKind.WorkerSilent, ClusterFaultKind.WorkerSilent, ClusterFaultKind.WorkerLost, ClusterFaultKind.MasterLost, ClusterFaultKind.PauseAtStep, ClusterFaultKind.PauseAtMessage,
    ];

    /// <summary>What is struck beside one that lasts.</summary>
    private static readonly ClusterFaultKind[] s_beside =
    [
        ClusterFaultKind.ActorsMoved, ClusterFaultKind.PartitionsMoved, ClusterFaultKind.WorkerDrained, ClusterFaultKind.WorkerCrash, ClusterFaultKind.WorkerCrash,
        ClusterFaultKind.MasterCrash, ClusterFaultKind.CrashAtStep, ClusterFaultKind.CrashAtMessage, ClusterFaultKind.GracefulRestart, ClusterFaultKind.WorkerJoined,
    ];

    private static readonly ClusterFaultKind[] s_odd =
    [
        ClusterFaultKind.ClockStepped, ClusterFaultKind.ClockStepped, ClusterFaultKind.ClockDrifts, ClusterFaultKind.StoreClockStepped, ClusterFaultKind.StoreClockStepped,
        ClusterFaultKind.StoreSaysLost, ClusterFaultKind.StoreSaysStale, ClusterFaultKind.WorkerSilent, ClusterFaultKind.RollingRestart,
    ];

    /// <summary>What single workers and clients are like; what it says of logs, disks and faults with a time is not used.</summary>
    public required Scenario Load { get; init; }

    /// <summary>The seed.</summary>
    public ulong Seed => Load.Seed;

    /// <summary>Workers that begin, 1..<see cref="MostWorkers"/>.</summary>
    public int Workers { get; init; }

    /// <summary>The lease, in ms.</summary>
    public int LeaseMs { get; init; }

    /// <summary>Longest pause of a client between two transactions, in ms.</summary>
    public int ThinkMs { get; init; }

    /// <summary>Shortest way between two workers, in ticks of 100 ns.</summary>
    public int NetworkTicksMin { get; init; }

    /// <summary>Longest way.</summary>
    public int NetworkTicksMax { get; init; }

    /// <summary>How long a worker waits for the answer to a packet, in ms.</summary>
    public int AnswerMs { get; init; }

    /// <summary>Packets that something happens to, per 1,000.</summary>
    public int NetworkFaultPerMille { get; init; }

    /// <summary>Calls to the shared store that something happens to, per 1,000.</summary>
    public int StoreFaultPerMille { get; init; }

    /// <summary>1: at the end all workers die, and what they come back with is looked at.</summary>
    public int DieAtEnd { get; init; }

    /// <summary>For how long an id has its outcome, in ms (I2).</summary>
    public int WindowMs { get; init; } = 600_000;

    /// <summary>For how long a worker with a lease is not reached until it is evicted, in ms (R5).</summary>
    public int PatienceMs { get; init; } = 3000;

    /// <summary>1: clients wait for the beginnings and ends of faults, and do something else for long before they send an id again.</summary>
    public int Paced { get; init; }

    /// <summary>For so long there is one worker alone; then it is one of several on what it has stored. 0: there are several from the beginning.</summary>
    public int AloneMs { get; init; }

    /// <summary>Of each hundred plans that end so many are forgotten at once.</summary>
    public int ForgetPercent { get; init; }

    /// <summary>When the record of who is master is lost, in ms; 0: never.</summary>
    public int MasterForgottenMs { get; init; }

    /// <summary>When another server takes the place of the store and lacks nothing, in ms; 0: never.</summary>
    public int FailOverMs { get; init; }

    /// <summary>For how long one worker stays connected to the former server, in ms.</summary>
    public int FormerMs { get; init; }

    /// <summary>That worker, by number.</summary>
    public int FormerOf => 1 + (int)(Seed % (ulong)Workers);

    /// <summary>Faults at their times.</summary>
    public IReadOnlyList<PlannedClusterFault> Faults { get; init; } = [];

    /// <summary>Nothing goes wrong and nothing moves, nobody waits on purpose, no scheduling choice has the work done many times over.</summary>
    public bool IsCalm => Load.IsCalm && NetworkFaultPerMille == 0 && StoreFaultPerMille == 0 && AloneMs == 0
        && MasterForgottenMs == 0 && FailOverMs == 0 && Faults.Count == 0;

    /// <summary>Draws the scenario of a seed.</summary>
    /// <param name="seed">The seed.</param>
    /// <param name="workers">Workers that begin; 0: the seed decides, 2 to 4.</param>
    public static ClusterScenario Draw(ulong seed, int workers = 0) =>
        WithDamagedPlaces(WithForgetting(WithOddities(WithLongTimes(DrawShort(seed, workers)))));

    /// <summary>
    /// Draws a scenario in which the workers are stopped one by one and come back with another program, while actors
    /// move between them and some of them die.
    /// </summary>
    /// <param name="seed">The seed.</param>
    public static ClusterScenario DrawUpdate(ulong seed)
    {
        var chance = SeededChance.For(seed, ChanceOf.Updates);
        var scenario = DrawShort(seed, workers: 0);
        var faults = scenario.Faults.Where(static fault => fault.Kind != ClusterFaultKind.StoreLosesTail).ToList();
        var at = chance.Between(20, 300);
        faults.Add(new PlannedClusterFault(at, ClusterFaultKind.RollingRestart, 1, chance.Between(1, 60), 0));
        for (var moves = chance.Between(1, 5); moves > 0; moves--)
        {
            var kind = s_moves[chance.Next(s_moves.Length)];
            faults.Add(new PlannedClusterFault(
                at + chance.Between(0, 600), kind, chance.Between(1, scenario.Workers), chance.Between(1, 100),
                chance.Next(1000)));
        }

        if (chance.Percent(50))
        {
            // For longer than its lease: the others take its actors over, whatever program they run.
            faults.Add(new PlannedClusterFault(
                at + chance.Between(0, 600), ClusterFaultKind.WorkerLost, chance.Between(1, scenario.Workers),
                scenario.LeaseMs * chance.Between(2, 4), 0));
        }

        faults.Sort(static (a, b) => a.AtMs.CompareTo(b.AtMs));
        return scenario with { ThinkMs = chance.Between(20, 120), Faults = faults };
    }

    private static ClusterScenario DrawShort(ulong seed, int workers)
    {
        var chance = SeededChance.For(seed, ChanceOf.Cluster);
        var near = chance.Between(200, 3000);
        var scenario = new ClusterScenario
        {
            Load = DrawLoad(seed),
            Workers = chance.Between(2, 4),
            LeaseMs = chance.Between(100, 600),
            ThinkMs = chance.Percent(30) ? 1 : chance.Between(5, 80),
            NetworkTicksMin = near,
            NetworkTicksMax = near * chance.Between(1, 20),
            AnswerMs = chance.Percent(50) ? 2000 : chance.Between(20, 300),
            DieAtEnd = chance.Percent(50) ? 1 : 0,
        };
        scenario = workers == 0 ? scenario : scenario with { Workers = workers };
        if (StoreLoss.Draw(seed, scenario.Workers) is { } loss)
        {
            return scenario with { Faults = [.. DrawFaults(chance, scenario.Workers, chance.Between(0, 3), chance.Between(0, 3)).Append(loss).OrderBy(static fault => fault.AtMs)] };
        }

        return chance.Next(10) switch
        {
            0 => scenario, // what is wrong then is wrong in the schedule itself
            1 => scenario with { Faults = DrawFaults(chance, scenario.Workers, 0, chance.Between(1, 6)) }, // nothing but moves
            _ => scenario with
            {
                NetworkFaultPerMille = chance.Percent(40) ? 0 : chance.Between(1, 80),
                StoreFaultPerMille = chance.Percent(50) ? 0 : chance.Between(1, 40),
                Faults = DrawFaults(chance, scenario.Workers, chance.Between(1, 5), chance.Percent(60) ? chance.Between(1, 4) : 0),
            },
        };
    }

    /// <summary>The scenario as text that <see cref="Parse"/> reads; only what differs from the seed's own.</summary>
    public override string ToString()
    {
        var drawn = Draw(Seed);
        var text = new StringBuilder("workers=").Append(Workers).Append(' ').Append(Load.Describe(drawn.Load));
        Append(text, "lease", LeaseMs, drawn.LeaseMs);
        Append(text, "think", ThinkMs, drawn.ThinkMs);
        Append(text, "near", NetworkTicksMin, drawn.NetworkTicksMin);
        Append(text, "far", NetworkTicksMax, drawn.NetworkTicksMax);
        Append(text, "answer", AnswerMs, drawn.AnswerMs);
        Append(text, "network", NetworkFaultPerMille, drawn.NetworkFaultPerMille);
        Append(text, "store", StoreFaultPerMille, drawn.StoreFaultPerMille);
        Append(text, "die", DieAtEnd, drawn.DieAtEnd);
        Append(text, "window", WindowMs, drawn.WindowMs);
        Append(text, "patience", PatienceMs, drawn.PatienceMs);
        Append(text, "paced", Paced, drawn.Paced);
        Append(text, "alone", AloneMs, drawn.AloneMs);
        Append(text, "forget", ForgetPercent, drawn.ForgetPercent);
        Append(text, "unmastered", MasterForgottenMs, drawn.MasterForgottenMs);
        Append(text, "failover", FailOverMs, drawn.FailOverMs);
        Append(text, "former", FormerMs, drawn.FormerMs);

        // What is drawn by the bounds of the product is another one when these change.
        if (!Faults.SequenceEqual(drawn.Faults) || Workers != drawn.Workers || Faults.Any(static fault => fault.ForMs > LongestShortMs && fault.ForMs != PlannedClusterFault.ForGood))
        {
            text.Append(" strikes=").AppendJoin('+', Faults);
        }

        return text.ToString();
    }

    /// <summary>Reads what <see cref="ToString"/> wrote.</summary>
    /// <exception cref="FormatException">It is not such a text; says what is wrong.</exception>
    public static ClusterScenario Parse(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        var own = new List<(string Name, string Value)>();
        var others = new List<string>();
        foreach (var word in text.Split(' ', StringSplitOptions.RemoveEmptyEntries))
        {
            var at = word.IndexOf('=', StringComparison.Ordinal);
            var name = at < 0 ? word : word[..at];
            if (s_names.Contains(name))
            {
                own.Add((name, at < 0 ? "" : word[(at + 1)..]));
            }
            else
            {
                others.Add(word);
            }
        }

        var load = Scenario.Parse(string.Join(' ', others), static seed => Draw(seed).Load);
        var scenario = Draw(load.Seed) with { Load = load };
        foreach (var (name, value) in own)
        {
            scenario = name == "strikes" ? scenario with { Faults = ParseFaults(value) } : scenario.With(name, Number(name, value));
        }

        return scenario;
    }

    /// <summary>As for one worker, but for what only one has; with less to do, because a run lasts longer.</summary>
    private static Scenario DrawLoad(ulong seed)
    {
        var load = Scenario.Draw(seed);
        var clients = Math.Min(load.Clients, 12);
        return load with
        {
            Clients = clients,
            Workload = StoreLoss.Draw(seed, 1) is null ? load.Workload : WorkloadKind.Lists,
            TransactionsPerClient = Math.Max(2, 72 / clients),
            PlannedFaults = [],
            UnrulyPercent = 0, // of one worker alone
            StorageFaultPerMille = 0,
            Files = 0,
            Remembers = 0,
            Numbers = 0,
            StateBytes = 0,
        };
    }

    /// <summary>In some runs faults last as long as the bounds of the product, or longer; by chance of its own, so that the others are as they were.</summary>
    private static ClusterScenario WithLongTimes(ClusterScenario scenario)
    {
        var chance = SeededChance.For(scenario.Seed, ChanceOf.LongTimes);
        if (chance.PerMille(ManyPerMille))
        {
            // As many transactions as roll over what is kept of the last ones.
            return scenario with { Load = scenario.Load with { Clients = 12, TransactionsPerClient = chance.Between(170, 500), Actors = 16, Steps = Math.Min(scenario.Load.Steps, 4) } };
        }

        if (!chance.Percent(LongPercent))
        {
            return scenario;
        }

        var load = scenario.Load;
        var clients = Math.Min(load.Clients, 6);
        scenario = scenario with
        {
            LeaseMs = chance.Percent(50) ? 4000 : chance.Between(500, 4000), // with shorter ones hours are expensive
            PatienceMs = chance.Percent(50) ? 3000 : chance.Between(500, 3000),
            WindowMs = chance.Percent(10) ? 600_000 : 60_000,
            Paced = 1,
            Load = load with { Clients = clients, TransactionsPerClient = 72 / clients, SweepMs = load.SweepMs * 20 },
        };
        var bounds = Bounds.Of(scenario);
        var faults = scenario.Faults.ToList();
        var at = chance.Between(100, 2000);
        for (var count = chance.Between(1, 4); count > 0; count--)
        {
            var kind = s_long[chance.Next(s_long.Length)];
            var lasts = Bounds.DrawMs(bounds, chance);
            faults.Add(new PlannedClusterFault(at, kind, chance.Between(1, scenario.Workers), lasts, DrawDetail(kind, chance)));
            if (chance.Percent(70))
            {
                var beside = s_beside[chance.Next(s_beside.Length)];
                var when = Math.Max(1, chance.Percent(70) ? at + chance.Between(-100, 500) : at + chance.Between(0, Math.Min(lasts, 100_000)));
                faults.Add(new PlannedClusterFault(when, beside, chance.Between(1, scenario.Workers), chance.Between(1, 1000), DrawDetail(beside, chance)));
            }

            at += chance.Between(50, 5000) + (chance.Percent(70) ? lasts : 0);
        }

        if (chance.Percent(15))
        {
            // What was under way to a worker, or from it, comes when it is forgotten that it has been answered elsewhere.
            faults.Add(new PlannedClusterFault(at, ClusterFaultKind.Isolated, chance.Between(1, scenario.Workers), scenario.WindowMs / 10 * chance.Between(12, 30), 0));
        }

        faults.Sort(static (a, b) => a.AtMs.CompareTo(b.AtMs));
        return scenario with { Faults = faults };
    }

    /// <summary>In some runs there is what operators meet beside faults of processes and roads; by chance of its own.</summary>
    private static ClusterScenario WithOddities(ClusterScenario scenario)
    {
        var chance = SeededChance.For(scenario.Seed, ChanceOf.Oddities);
        if (chance.Percent(5))
        {
            scenario = scenario with { AloneMs = chance.Between(30, 600) };
        }

        if (!chance.Percent(scenario.Paced != 0 ? 40 : 15))
        {
            return scenario;
        }

        var bounds = Bounds.Of(scenario);
        var latest = scenario.Paced != 0 ? Math.Clamp(scenario.LastMoment, 800, 600_000) : 800;
        var faults = scenario.Faults.ToList();
        for (var count = chance.Between(1, 3); count > 0; count--)
        {
            var kind = s_odd[chance.Next(s_odd.Length)];
            var lasts = kind switch
            {
                ClusterFaultKind.ClockStepped or ClusterFaultKind.StoreClockStepped => Bounds.DrawMs(bounds, chance),
                ClusterFaultKind.WorkerSilent => scenario.Paced != 0 ? Bounds.DrawMs(bounds, chance, mostMs: 10_000) : chance.Between(20, 3000),
                ClusterFaultKind.StoreSaysLost or ClusterFaultKind.StoreSaysStale => chance.Between(1, chance.Percent(70) ? 100 : 3000),
                _ => chance.Between(1, 100),
            };
            faults.Add(new PlannedClusterFault(chance.Between(20, chance.Percent(50) ? 800 : latest), kind, chance.Between(1, scenario.Workers), lasts, chance.Next(1000)));
        }

        faults.Sort(static (a, b) => a.AtMs.CompareTo(b.AtMs));
        return scenario with { Faults = faults };
    }

    /// <summary>
    /// In some runs the store forgets what it may, or another server takes its place; by chance of its own.
    /// </summary>
    private static ClusterScenario WithForgetting(ClusterScenario scenario)
    {
        var chance = SeededChance.For(scenario.Seed, ChanceOf.Forgetting);
        if (chance.Percent(20))
        {
            scenario = scenario with { ForgetPercent = chance.Percent(50) ? 100 : chance.Between(10, 60) };
        }

        if (chance.Percent(4))
        {
            scenario = scenario with { MasterForgottenMs = chance.Between(50, 800) };
        }

        var failsOver = chance.Percent(6) && StoreLoss.Draw(scenario.Seed, scenario.Workers) is null;
        return !failsOver ? scenario : scenario with
        {
            FailOverMs = chance.Between(50, 800),
            FormerMs = chance.Between(1, chance.Percent(50) ? 3 * scenario.LeaseMs : 100),
        };
    }

    /// <summary>
    /// In some runs places of states are damaged; by chance of its own. A server that takes the place of another one
    /// would have its own.
    /// </summary>
    private static ClusterScenario WithDamagedPlaces(ClusterScenario scenario)
    {
        var chance = SeededChance.For(scenario.Seed, ChanceOf.DamagedPlacesOfSeveral);
        var isApart = scenario.IsCalm || scenario.AloneMs > 0 || scenario.FailOverMs > 0
            || StoreLoss.Draw(scenario.Seed, scenario.Workers) is not null;
        if (!chance.Percent(6) || isApart)
        {
            return scenario;
        }

        var faults = scenario.Faults.ToList();
        for (var count = chance.Between(1, 4); count > 0; count--)
        {
            var lasts = chance.Percent(80) ? chance.Between(100, 3000) : chance.Between(3000, 15_000);
            faults.Add(new PlannedClusterFault(
                chance.Between(20, 800), ClusterFaultKind.PlaceDamaged, 1, lasts, chance.Next(1000)));
        }

        return scenario with { Faults = [.. faults.OrderBy(static fault => fault.AtMs)] };
    }

    /// <summary>When the last fault has ended, in ms; those who are away for good are not waited for.</summary>
    internal int LastMoment => Faults.Count == 0 ? 0 : Faults.Max(static fault => fault.AtMs + (fault.ForMs >= PlannedClusterFault.ForGood ? 0 : fault.ForMs));

    private static int DrawDetail(ClusterFaultKind kind, SeededChance chance) => kind switch
    {
        ClusterFaultKind.CrashAtStep or ClusterFaultKind.PauseAtStep => (chance.Next(2) * 1000) + chance.Next(Tally<StoreStep>.Kinds.Count),
        ClusterFaultKind.CrashAtMessage or ClusterFaultKind.PauseAtMessage => (chance.Next(2) * 1000) + (int)Tally<WireKind>.Kinds[chance.Next(Tally<WireKind>.Kinds.Count)],
        _ => chance.Next(1000),
    };

    private static List<PlannedClusterFault> DrawFaults(SeededChance chance, int workers, int faults, int moves)
    {
        var drawn = new List<PlannedClusterFault>();
        for (var i = 0; i < faults; i++)
        {
            var kind = s_drawn[chance.Next(s_drawn.Length)];
            var lasts = kind switch
            {
                ClusterFaultKind.WorkerLost or ClusterFaultKind.MasterLost => chance.Percent(50) ? PlannedClusterFault.ForGood : chance.Between(300, 3000),
                ClusterFaultKind.WorkerPausedLong or ClusterFaultKind.PauseAtStep or ClusterFaultKind.PauseAtMessage => chance.Between(300, 3000),
                ClusterFaultKind.WorkerPause => chance.Between(5, 100),
                ClusterFaultKind.CrashAtStep or ClusterFaultKind.CrashAtMessage => chance.Percent(60) ? chance.Between(1, 100) : chance.Percent(50) ? PlannedClusterFault.ForGood : chance.Between(300, 3000),
                ClusterFaultKind.WorkerCrash or ClusterFaultKind.MasterCrash or ClusterFaultKind.GracefulRestart or ClusterFaultKind.ExecutorStall => chance.Between(1, 100),
                _ => chance.Percent(50) ? chance.Between(5, 100) : chance.Between(100, 2000),
            };
            var detail = DrawDetail(kind, chance);
            drawn.Add(new PlannedClusterFault(chance.Between(20, 800), kind, chance.Between(1, workers), lasts, detail));
        }

        for (var i = 0; i < moves; i++)
        {
            var kind = s_moves[chance.Next(s_moves.Length)];
            drawn.Add(new PlannedClusterFault(chance.Between(20, 800), kind, chance.Between(1, workers), chance.Between(1, 100), chance.Next(1000)));
        }

        if (moves > 0 && chance.Percent(15))
        {
            // The store goes away while something is frozen, for about as long as a migration may take, or longer (M4).
            var bound = (int)MigrationRun.Bound.TotalMilliseconds;
            var at = drawn[^(1 + chance.Next(moves))].AtMs + chance.Between(0, 60);
            drawn.Add(new PlannedClusterFault(at, ClusterFaultKind.StoreDown, 1, (bound >> 1 << chance.Next(3)) + chance.Between(-100, 1000), 0));
        }

        drawn.Sort(static (a, b) => a.AtMs.CompareTo(b.AtMs));
        return drawn;
    }

    private ClusterScenario With(string name, int value) => name switch
    {
        "workers" => this with { Workers = Within(name, value, 1, MostWorkers) },
        "lease" => this with { LeaseMs = Within(name, value, 100, 60_000) },
        "think" => this with { ThinkMs = Within(name, value, 1, 10_000) },
        "near" => this with { NetworkTicksMin = Within(name, value, 1, 10_000_000) },
        "far" => this with { NetworkTicksMax = Within(name, value, 1, 10_000_000) },
        "answer" => this with { AnswerMs = Within(name, value, 10, 60_000) },
        "network" => this with { NetworkFaultPerMille = Within(name, value, 0, 1000) },
        "store" => this with { StoreFaultPerMille = Within(name, value, 0, 1000) },
        "window" => this with { WindowMs = Within(name, value, 60_000, 24 * 3_600_000) },
        "patience" => this with { PatienceMs = Within(name, value, 100, 600_000) },
        "paced" => this with { Paced = Within(name, value, 0, 1) },
        "alone" => this with { AloneMs = Within(name, value, 0, 600_000) },
        "forget" => this with { ForgetPercent = Within(name, value, 0, 100) },
        "unmastered" => this with { MasterForgottenMs = Within(name, value, 0, 600_000) },
        "failover" => this with { FailOverMs = Within(name, value, 0, 600_000) },
        "former" => this with { FormerMs = Within(name, value, 0, 600_000) },
        _ => this with { DieAtEnd = Within(name, value, 0, 1) },
    };

    private static int Within(string name, int value, int least, int most) =>
        value >= least && value <= most ? value : throw new FormatException($"'{name}' of a scenario is {least} to {most}, not {value}.");

    private static int Number(string word, string value) =>
        int.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : throw new FormatException($"'{word}' should have a number, not '{value}'.");

    private static List<PlannedClusterFault> ParseFaults(string text)
    {
        var faults = new List<PlannedClusterFault>();
        foreach (var word in text.Split('+', StringSplitOptions.RemoveEmptyEntries))
        {
            var parts = word.Split('@', '/');
            if (parts.Length != 5)
            {
                throw new FormatException($"A strike is written KIND@MS/WORKER/MS/DETAIL, not '{word}'.");
            }

            var kinds = s_drawn.Concat(s_moves).Concat(s_long).Concat(s_odd)
                .Concat([ClusterFaultKind.StoreLosesTail, ClusterFaultKind.PlaceDamaged]).Distinct();
            if (!Enum.TryParse<ClusterFaultKind>(parts[0], out var kind) || kind.ToString() != parts[0] || !kinds.Contains(kind))
            {
                throw new FormatException($"There is no strike '{parts[0]}' that has a time; there are: {string.Join(", ", kinds)}.");
            }

            faults.Add(new PlannedClusterFault(Number(word, parts[1]), kind, Within(word, Number(word, parts[2]), 1, MostWorkers), Number(word, parts[3]), Number(word, parts[4])));
        }

        return faults;
    }

    private static void Append(StringBuilder text, string name, int value, int drawn)
    {
        if (value != drawn)
        {
            text.Append(CultureInfo.InvariantCulture, $" {name}={value}");
        }
    }
}
