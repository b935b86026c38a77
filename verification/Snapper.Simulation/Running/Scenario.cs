using System.Globalization;
using System.Text;
using Snapper.Protocol;
using Snapper.Simulation.Core;
using Snapper.Simulation.Faults;

namespace Snapper.Simulation.Running;

/// <summary>What transactions the clients send.</summary>
public enum WorkloadKind
{
    /// <summary>Scripts on lists: reads, appends, nested and parallel calls, exceptions, aborts, wrong declarations.</summary>
    Lists,

    /// <summary>SmallBank.</summary>
    Bank,
}

/// <summary>A fault at a time of the run.</summary>
/// <param name="AtMs">Virtual milliseconds from the start.</param>
/// <param name="Kind">What happens.</param>
/// <param name="ForMs">How long it lasts, or how long until the worker is back.</param>
public readonly record struct PlannedFault(int AtMs, FaultKind Kind, int ForMs);

/// <summary>
/// Everything that a simulated run is made of. Drawn from a seed; a shrunk one differs from that in the fields that its text names. The seed also
/// decides every later choice.
/// </summary>
public sealed record Scenario
{
    /// <summary>Faults that have a time; the others come by rates. The first is drawn more often.</summary>
    private static readonly FaultKind[] DrawnKinds =
    [
        FaultKind.WorkerCrash, FaultKind.WorkerCrash, FaultKind.CrashInRecovery, FaultKind.WorkerPause, FaultKind.TwoOwners,
        FaultKind.GracefulRestart, FaultKind.ExecutorStall, FaultKind.LogDamaged, FaultKind.StorageFull, FaultKind.StorageDown,
    ];

    /// <summary>The seed.</summary>
    public ulong Seed { get; init; }

    /// <summary>What is sent.</summary>
    public WorkloadKind Workload { get; init; }

    /// <summary>Executors of the worker, 1..4.</summary>
    public int Executors { get; init; }

    /// <summary>Local coordinators, 1..4.</summary>
    public int Coordinators { get; init; }

    /// <summary>Open batches, 1..4.</summary>
    public int OpenBatches { get; init; }

    /// <summary>Most transactions of a batch.</summary>
    public int TransactionsPerBatch { get; init; }

    /// <summary>Clients that send one transaction after the other.</summary>
    public int Clients { get; init; }

    /// <summary>Transactions of each client.</summary>
    public int TransactionsPerClient { get; init; }

    /// <summary>Actors.</summary>
    public int Actors { get; init; }

    /// <summary>Most steps of a script.</summary>
    public int Steps { get; init; }

    /// <summary>Share of PACTs, in per cent.</summary>
    public int PactPercent { get; init; }

    /// <summary>Share of transactions that abort or throw.</summary>
    public int AbortPercent { get; init; }

    /// <summary>Places of a script, in any call of it and at its end, where it aborts because of what it saw, in percent.</summary>
    public int DecidesPercent { get; init; }

    /// <summary>
    /// Places of a script where unjoined code misbehaves, or code of values that the worker calls, in percent.
    /// </summary>
    public int UnrulyPercent { get; init; }

    /// <summary>Share of PACTs whose declaration is wrong.</summary>
    public int MisdeclaredPercent { get; init; }

    /// <summary>Share of transactions that wait somewhere.</summary>
    public int DelayPercent { get; init; }

    /// <summary>Share of requests with an idempotency key.</summary>
    public int KeyedPercent { get; init; }

    /// <summary>Requests that something happens to on their way, per 1,000.</summary>
    public int RequestFaultPerMille { get; init; }

    /// <summary>Calls to the log server that something happens to, per 1,000.</summary>
    public int StorageFaultPerMille { get; init; }

    /// <summary>Shortest way to the log server, in ticks of 100 ns.</summary>
    public int StorageTicksMin { get; init; }

    /// <summary>Longest way.</summary>
    public int StorageTicksMax { get; init; }

    /// <summary>Pause between checkpoints, in ms.</summary>
    public int CheckpointMs { get; init; }

    /// <summary>Longest time that an executor takes for one item, in ticks.</summary>
    public int CpuTicksMax { get; init; }

    /// <summary>The turn bound, in ms.</summary>
    public int TurnBoundMs { get; init; }

    /// <summary>1: a method that failed unmarked holds its turns from then on, as in a real worker; 0: undos go on to happen.</summary>
    public int MarkFailing { get; init; }

    /// <summary>Idle actors leave memory each so many ms; 0: never.</summary>
    public int SweepMs { get; init; }

    /// <summary>Bytes of actors above which some leave memory; 0: as many as they like.</summary>
    public int Room { get; init; }

    /// <summary>Callers that are known apart, among whom the clients are divided; 0: none is known.</summary>
    public int Callers { get; init; }

    /// <summary>Largest state of an actor, in bytes; what else is limited goes with it. 0: as large as they like.</summary>
    public int StateBytes { get; init; }
    /// <summary>0: a log server; 1: the real file log on a simulated disk.</summary>
    public int Files { get; init; }

    /// <summary>1: the worker remembers outside of its log how far that went, as a real one does, and may find it lost.</summary>
    public int Remembers { get; init; }

    /// <summary>Length from which on a segment of the file log takes no further group; also bytes of states that are out of date before they are moved.</summary>
    public int SegmentBytes { get; init; }

    /// <summary>Share of calls to the disk that others come between, in per cent.</summary>
    public int SteppedPercent { get; init; }

    /// <summary>Numbers that a start of the worker sets apart; 0: as many as in a real one (R1).</summary>
    public int Numbers { get; init; }

    /// <summary>Where in a minute of the clock the run begins, in ms.</summary>
    public int OffsetMs { get; init; }

    /// <summary>Faults at their times.</summary>
    public IReadOnlyList<PlannedFault> PlannedFaults { get; init; } = [];

    /// <summary>Scheduling choices that are taken the other way now and then; all others are the product's.</summary>
    public IReadOnlyList<SchedulingChoice> SchedulingChoices { get; init; } = [];

    /// <summary>Transactions in all.</summary>
    public int Transactions => Clients * TransactionsPerClient;

    /// <summary>Nothing goes wrong, nobody waits on purpose, and no scheduling choice has the work done many times over: then nothing may time out either.</summary>
    public bool IsCalm => RequestFaultPerMille == 0 && StorageFaultPerMille == 0 && DelayPercent == 0 && PlannedFaults.Count == 0
        && !SchedulingChoices.Contains(SchedulingChoice.EvictedBeforeUse)
        && !SchedulingChoices.Contains(SchedulingChoice.BatchTakenForTooLarge)
        && !SchedulingChoices.Contains(SchedulingChoice.SubBatchesSentLate); // 40 ms for each before it, on one actor

    /// <summary>Calls to the log server or the disk may fail; where none does, no recovery may fail of one.</summary>
    internal bool MayFailStorage => StorageFaultPerMille > 0 || PlannedFaults.Any(fault => fault.Kind is FaultKind.StorageFull or FaultKind.StorageDown or FaultKind.StorageOlder or FaultKind.LogLost || DiskKinds.Contains(fault.Kind));

    /// <summary>Draws the scenario of a seed.</summary>
    public static Scenario Draw(ulong seed)
    {
        var chance = SeededChance.For(seed, ChanceOf.Scenario);
        var lists = !chance.Percent(20);
        var clients = chance.Between(2, 24);
        var each = Math.Max(2, 120 / clients);
        var calm = chance.Percent(25); // no faults at all: what is wrong then is wrong in the schedule itself
        var near = chance.Between(200, 3000);
        var limits = SeededChance.For(seed, ChanceOf.Limits); // of its own, as that of scheduling choices
        var scenario = new Scenario
        {
            Seed = seed,
            Workload = lists ? WorkloadKind.Lists : WorkloadKind.Bank,
            Executors = chance.Between(1, 3),
            Coordinators = chance.Between(1, 3),
            OpenBatches = chance.Between(1, 4),
            TransactionsPerBatch = chance.Percent(70) ? 512 : chance.Between(1, 8),
            Clients = clients,
            TransactionsPerClient = each,
            Actors = chance.Percent(50) ? chance.Between(1, 4) : chance.Between(4, 16),
            Steps = chance.Between(1, 8),
            PactPercent = chance.Next(5) switch { 0 => 0, 1 => 100, _ => chance.Between(10, 95) },
            AbortPercent = chance.Percent(60) ? chance.Between(1, 25) : 0,
            MisdeclaredPercent = chance.Percent(40) ? chance.Between(1, 20) : 0,
            DelayPercent = chance.Percent(60) ? chance.Between(1, 30) : 0,
            KeyedPercent = chance.Next(3) switch { 0 => 0, 1 => 100, _ => 60 },
            RequestFaultPerMille = calm || chance.Percent(30) ? 0 : chance.Between(5, 150),
            StorageFaultPerMille = calm || chance.Percent(30) ? 0 : chance.Between(1, 60),
            StorageTicksMin = near,
            StorageTicksMax = near * chance.Between(1, 20),
            CheckpointMs = chance.Percent(50) ? chance.Between(10, 60) : 5000,
            CpuTicksMax = chance.Between(1, 400),
            TurnBoundMs = chance.Between(20, 400),
            MarkFailing = chance.Percent(30) ? 1 : 0,
            SweepMs = chance.Percent(40) ? chance.Between(5, 60) : 0,
            StateBytes = limits.Percent(8) ? limits.Between(64, 300) : 0,
            DecidesPercent = DrawDecisions(seed),
            UnrulyPercent = DrawUnruly(seed),
            Room = DrawRoom(seed),
            Callers = DrawCallers(seed),
            SchedulingChoices = DrawSchedulingChoices(seed),
        };
        scenario = calm ? scenario : scenario with { PlannedFaults = DrawFaults(chance) };
        scenario = WithClock(WithStorage(scenario, calm), calm);
        scenario = WithRareFault(scenario, calm, ChanceOf.OlderServer, FaultKind.StorageOlder, 1, (20, 300));
        return WithRareFault(scenario, calm, ChanceOf.DamagedPlace, FaultKind.PlaceDamaged, 5, (5, 400));
    }

    /// <summary>Draws where the log is, by chance of its own: what else is drawn does not depend on it.</summary>
    private static Scenario WithStorage(Scenario scenario, bool calm)
    {
        var chance = SeededChance.For(scenario.Seed, ChanceOf.StoragePlace);
        var files = chance.Percent(15);
        var remembers = chance.Percent(30);
        scenario = scenario with
        {
            Files = files ? 1 : 0,
            Remembers = remembers ? 1 : 0,
            SegmentBytes = chance.Percent(50) ? chance.Between(200, 3000) : chance.Between(3000, 40_000),
            SteppedPercent = chance.Percent(50) ? 0 : chance.Percent(75) ? chance.Between(1, 8) : 50,
        };
        if (calm)
        {
            return scenario;
        }

        var faults = scenario.PlannedFaults.ToList();
        for (var count = files ? chance.Next(8) : 0; count > 0; count--)
        {
            faults.Add(new PlannedFault(chance.Between(1, 150), DiskKinds[chance.Next(DiskKinds.Count)], chance.Between(1, 300)));
        }

        if (remembers && chance.Percent(60))
        {
            faults.Add(new PlannedFault(chance.Between(1, 150), FaultKind.LogLost, chance.Between(1, 300)));
        }

        faults.Sort(static (a, b) => a.AtMs.CompareTo(b.AtMs));
        return faults.Count == scenario.PlannedFaults.Count ? scenario : scenario with { PlannedFaults = faults };
    }

    /// <summary>
    /// Draws whether a fault of the log server happens too, by chance of its own: other seeds stay as they are.
    /// </summary>
    private static Scenario WithRareFault(
        Scenario scenario, bool calm, ChanceOf of, FaultKind kind, int earliestMs, (int Least, int Most) lastsMs)
    {
        var chance = SeededChance.For(scenario.Seed, of);
        return !chance.Percent(6) || calm || scenario.Files != 0
            ? scenario
            : scenario with
            {
                PlannedFaults =
                [
                    .. scenario.PlannedFaults,
                    new PlannedFault(
                        chance.Between(earliestMs, 150), kind, chance.Between(lastsMs.Least, lastsMs.Most)),
                ],
            };
    }

    private static int DrawDecisions(ulong seed)
    {
        var chance = SeededChance.For(seed, ChanceOf.DecisionShare);
        return chance.Percent(40) ? 0 : chance.Between(1, 12);
    }

    private static int DrawUnruly(ulong seed)
    {
        var chance = SeededChance.For(seed, ChanceOf.UnrulyShare);
        return chance.Percent(60) ? 0 : chance.Between(1, 10);
    }

    private static int DrawRoom(ulong seed)
    {
        var chance = SeededChance.For(seed, ChanceOf.Room);
        return chance.Percent(85) ? 0 : chance.Between(1, 8_000);
    }

    private static int DrawCallers(ulong seed)
    {
        var chance = SeededChance.For(seed, ChanceOf.Callers);
        return chance.Percent(60) ? 0 : chance.Between(1, 3);
    }

    /// <summary>Draws what has to do with numbers and times, by chance of its own.</summary>
    private static Scenario WithClock(Scenario scenario, bool calm)
    {
        var chance = SeededChance.For(scenario.Seed, ChanceOf.Life);
        scenario = scenario with
        {
            Numbers = chance.Percent(25) ? chance.Between(8, 64) : 0,
            OffsetMs = chance.Percent(50) ? chance.Between(58_500, 59_999) : 0, // the minute ends in the middle of the run
        };

        // Longer than any request has patience for.
        return calm || !chance.Percent(3)
            ? scenario
            : scenario with { PlannedFaults = [.. scenario.PlannedFaults, new PlannedFault(chance.Between(1, 100), FaultKind.StorageDown, chance.Between(3000, 7000))] };
    }

    /// <summary>The scenario as text that <see cref="Parse(string)"/> reads; only what differs from the seed's own.</summary>
    public override string ToString() => Describe(Draw(Seed));

    /// <summary>The scenario as text; only what differs from another of the same seed.</summary>
    internal string Describe(Scenario drawn)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"seed={Seed}");
        Append(text, "workload", (int)Workload, (int)drawn.Workload);
        Append(text, "executors", Executors, drawn.Executors);
        Append(text, "coordinators", Coordinators, drawn.Coordinators);
        Append(text, "open", OpenBatches, drawn.OpenBatches);
        Append(text, "batch", TransactionsPerBatch, drawn.TransactionsPerBatch);
        Append(text, "clients", Clients, drawn.Clients);
        Append(text, "each", TransactionsPerClient, drawn.TransactionsPerClient);
        Append(text, "actors", Actors, drawn.Actors);
        Append(text, "steps", Steps, drawn.Steps);
        Append(text, "pact", PactPercent, drawn.PactPercent);
        Append(text, "abort", AbortPercent, drawn.AbortPercent);
        Append(text, "decides", DecidesPercent, drawn.DecidesPercent);
        Append(text, "unruly", UnrulyPercent, drawn.UnrulyPercent);
        Append(text, "misdeclared", MisdeclaredPercent, drawn.MisdeclaredPercent);
        Append(text, "delay", DelayPercent, drawn.DelayPercent);
        Append(text, "keyed", KeyedPercent, drawn.KeyedPercent);
        Append(text, "requests", RequestFaultPerMille, drawn.RequestFaultPerMille);
        Append(text, "storage", StorageFaultPerMille, drawn.StorageFaultPerMille);
        Append(text, "checkpoint", CheckpointMs, drawn.CheckpointMs);
        Append(text, "mark", MarkFailing, drawn.MarkFailing);
        Append(text, "sweep", SweepMs, drawn.SweepMs);
        Append(text, "room", Room, drawn.Room);
        Append(text, "callers", Callers, drawn.Callers);
        Append(text, "state", StateBytes, drawn.StateBytes);
        Append(text, "files", Files, drawn.Files);
        Append(text, "remembers", Remembers, drawn.Remembers);
        Append(text, "segment", SegmentBytes, drawn.SegmentBytes);
        Append(text, "stepped", SteppedPercent, drawn.SteppedPercent);
        Append(text, "numbers", Numbers, drawn.Numbers);
        Append(text, "offset", OffsetMs, drawn.OffsetMs);
        if (!PlannedFaults.SequenceEqual(drawn.PlannedFaults))
        {
            text.Append(" faults=").AppendJoin('+', PlannedFaults.Select(f => string.Create(CultureInfo.InvariantCulture, $"{f.Kind}@{f.AtMs}/{f.ForMs}")));
        }

        if (!SchedulingChoices.SequenceEqual(drawn.SchedulingChoices))
        {
            text.Append(" rare=").Append(SchedulingChoices.Count == 0 ? "none" : string.Join('+', SchedulingChoices));
        }

        return text.ToString();
    }

    /// <summary>Reads what <c>ToString</c> wrote.</summary>
    /// <exception cref="FormatException">It is not such a text; says what is wrong.</exception>
    public static Scenario Parse(string text) => Parse(text, Draw);

    /// <summary>Reads what <c>Describe</c> wrote.</summary>
    internal static Scenario Parse(string text, Func<ulong, Scenario> draw)
    {
        ArgumentNullException.ThrowIfNull(text);
        Scenario? scenario = null;
        foreach (var word in text.Split(' ', StringSplitOptions.RemoveEmptyEntries))
        {
            var at = word.IndexOf('=', StringComparison.Ordinal);
            var (name, value) = at < 0 ? (word, string.Empty) : (word[..at], word[(at + 1)..]);
            if (scenario is null)
            {
                scenario = name == "seed" && ulong.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out var seed)
                    ? draw(seed)
                    : throw new FormatException($"A scenario begins with seed=NUMBER, not '{word}'; a seed is 0 to {ulong.MaxValue}.");
                continue;
            }

            scenario = name switch
            {
                "faults" => scenario with { PlannedFaults = ParseFaults(value) },
                "rare" => scenario with { SchedulingChoices = ParseSchedulingChoices(value) },
                _ => scenario.With(name, ScenarioLimits.Check(name, Number(word, value))),
            };
        }

        return scenario ?? throw new FormatException("A scenario begins with seed=NUMBER; the text is empty.");
    }

    private Scenario With(string name, int value) => name switch
    {
        "workload" => this with { Workload = (WorkloadKind)value },
        "executors" => this with { Executors = value },
        "coordinators" => this with { Coordinators = value },
        "open" => this with { OpenBatches = value },
        "batch" => this with { TransactionsPerBatch = value },
        "clients" => this with { Clients = value },
        "each" => this with { TransactionsPerClient = value },
        "actors" => this with { Actors = value },
        "steps" => this with { Steps = value },
        "pact" => this with { PactPercent = value },
        "abort" => this with { AbortPercent = value },
        "decides" => this with { DecidesPercent = value },
        "unruly" => this with { UnrulyPercent = value },
        "misdeclared" => this with { MisdeclaredPercent = value },
        "delay" => this with { DelayPercent = value },
        "keyed" => this with { KeyedPercent = value },
        "requests" => this with { RequestFaultPerMille = value },
        "storage" => this with { StorageFaultPerMille = value },
        "checkpoint" => this with { CheckpointMs = value },
        "mark" => this with { MarkFailing = value },
        "sweep" => this with { SweepMs = value },
        "room" => this with { Room = value },
        "callers" => this with { Callers = value },
        "state" => this with { StateBytes = value },
        "files" => this with { Files = value },
        "remembers" => this with { Remembers = value },
        "segment" => this with { SegmentBytes = value },
        "stepped" => this with { SteppedPercent = value },
        "numbers" => this with { Numbers = value },
        "offset" => this with { OffsetMs = value },
        _ => throw new FormatException($"A scenario has no '{name}'."),
    };

    // Some more often than others.
    private static IReadOnlyList<FaultKind> DiskKinds { get; } =
    [
        FaultKind.MachineCrash, FaultKind.MachineCrash, FaultKind.MachineCrash, FaultKind.CrashInDiskCall, FaultKind.CrashInDiskCall, FaultKind.DiskFlushFails,
        FaultKind.DiskFlushFails, FaultKind.DiskFull, FaultKind.DiskWriteFails, FaultKind.DiskFolderFlushFails, FaultKind.DiskReadFails, FaultKind.DiskStall,
    ];

    private static List<PlannedFault> DrawFaults(SeededChance chance)
    {
        var faults = new List<PlannedFault>();
        for (var count = chance.Next(5); count > 0; count--)
        {
            faults.Add(new PlannedFault(chance.Between(1, 150), DrawnKinds[chance.Next(DrawnKinds.Length)], chance.Between(1, 300)));
        }

        faults.Sort(static (a, b) => a.AtMs.CompareTo(b.AtMs));
        return faults;
    }

    /// <summary>Chance of its own: what else a seed draws is the same with and without scheduling choices.</summary>
    private static List<SchedulingChoice> DrawSchedulingChoices(ulong seed)
    {
        var chance = SeededChance.For(seed, ChanceOf.SchedulingChoices);
        var percent = chance.Percent(40) ? 0 : chance.Between(5, 50);
        var points = new List<SchedulingChoice>();
        foreach (var point in Tally<SchedulingChoice>.Kinds)
        {
            if (chance.Percent(percent))
            {
                points.Add(point);
            }
        }

        return points;
    }

    private static List<SchedulingChoice> ParseSchedulingChoices(string text)
    {
        var points = new List<SchedulingChoice>();
        foreach (var word in text == "none" ? [] : text.Split('+'))
        {
            points.Add(Enum.TryParse<SchedulingChoice>(word, out var point) && point.ToString() == word ? point : throw new FormatException($"There is no scheduling choice '{word}'."));
        }

        return points;
    }

    private static List<PlannedFault> ParseFaults(string text)
    {
        var faults = new List<PlannedFault>();
        foreach (var word in text.Split('+', StringSplitOptions.RemoveEmptyEntries))
        {
            var parts = word.Split('@', '/');
            if (parts.Length != 3)
            {
                throw new FormatException($"A fault is written KIND@MS/MS, not '{word}'.");
            }

            var kinds = DrawnKinds.Concat(DiskKinds).Concat(
                [FaultKind.LogLost, FaultKind.StorageOlder, FaultKind.PlaceDamaged]).Distinct();
            if (!Enum.TryParse<FaultKind>(parts[0], out var kind) || kind.ToString() != parts[0] || !kinds.Contains(kind))
            {
                throw new FormatException($"There is no fault '{parts[0]}' that has a time, as in '{word}'; there are: {string.Join(", ", kinds)}.");
            }

            faults.Add(new PlannedFault(ScenarioLimits.Check("faults", Number(word, parts[1])), kind, ScenarioLimits.Check("faults", Number(word, parts[2]))));
        }

        return faults;
    }

    private static int Number(string word, string value) =>
        int.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : throw new FormatException($"'{word}' should have a number.");

    private static void Append(StringBuilder text, string name, int value, int drawn)
    {
        if (value != drawn)
        {
            text.Append(CultureInfo.InvariantCulture, $" {name}={value}");
        }
    }
}
