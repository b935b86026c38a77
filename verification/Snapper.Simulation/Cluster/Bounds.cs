using System.Reflection;
using Snapper.Cluster.Balancing;
using Snapper.Cluster.Mailboxes;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Hosting;
using Snapper.Simulation.Core;
using Snapper.Storage.Checkpoints;
using Snapper.Storage.Log;
using Snapper.Storage.Log.Writing;
using Snapper.Storage.Membership;
using Snapper.Storage.States;

namespace Snapper.Simulation.Cluster;

/// <summary>A bound of time that the product has: a lease, a patience, a window, a deadline, a pause.</summary>
/// <param name="Name">Where it is in the product.</param>
/// <param name="Ms">How long it is.</param>
public readonly record struct Bound(string Name, long Ms);

/// <summary>
/// Every bound of time that a worker goes by: those of the very options that simulated workers are given, and those that the product's code has as named values. Faults are drawn
/// from them, so that each is met by what lasts less, as long, and longer: one that is changed or added is drawn without a word here.
/// </summary>
public static class Bounds
{
    private const int LeastMs = 20; // what is shorter is below a journey's time

    private static readonly IReadOnlyList<Bound> s_inCode = [.. InCode()];

    /// <summary>Those of a scenario's workers, by name.</summary>
    public static IReadOnlyList<Bound> Of(ClusterScenario scenario)
    {
        ArgumentNullException.ThrowIfNull(scenario);
        var times = new SimulatedTimes(scenario);
        object[] options =
            [times.Worker(number: 1, life: 1), times.Cluster, times.Setup, times.Mailboxes, times.Store, times.Checkpointing, times.Writing, new BalancingOptions()];
        var bounds = new List<Bound>(s_inCode);
        foreach (var option in options)
        {
            foreach (var property in option.GetType().GetProperties(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic))
            {
                if (property.PropertyType == typeof(TimeSpan))
                {
                    bounds.Add(new Bound($"{option.GetType().Name}.{property.Name}", (long)((TimeSpan)property.GetValue(option)!).TotalMilliseconds));
                }
            }
        }

        bounds.RemoveAll(static bound => bound.Ms < LeastMs);
        bounds.Sort(static (a, b) => string.CompareOrdinal(a.Name, b.Name));
        return bounds;
    }

    /// <summary>Half, one, two or ten times one of them, a little more or less.</summary>
    /// <param name="bounds">As <see cref="Of"/> gives them; each length among them is drawn alike often.</param>
    /// <param name="chance">Draws.</param>
    /// <param name="mostMs">Bounds that are longer are left out; the least is never.</param>
    internal static int DrawMs(IReadOnlyList<Bound> bounds, SeededChance chance, int mostMs = int.MaxValue)
    {
        var lengths = new SortedSet<long>(bounds.Select(static bound => bound.Ms)).ToList();
        var fitting = Math.Max(1, lengths.Count(length => length <= mostMs));
        var bound = lengths[chance.Next(fitting)];
        var times = chance.Next(4) switch { 0 => 5, 1 => 10, 2 => 20, _ => 100 };
        return (int)Math.Min(bound * times / 10 * chance.Between(90, 110) / 100, int.MaxValue);
    }

    private static IEnumerable<Bound> InCode()
    {
        Assembly[] assemblies =
        [
            typeof(WorkerHost).Assembly, typeof(Snapper.Cluster.ClusterSetup).Assembly, typeof(ITransactionLog).Assembly,
            typeof(Protocol.SchedulingChoice).Assembly,
        ];
        foreach (var assembly in assemblies)
        {
            foreach (var type in assembly.GetTypes())
            {
                foreach (var field in type.ContainsGenericParameters ? [] : type.GetFields(BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly))
                {
                    if (field.FieldType == typeof(TimeSpan) && field.IsInitOnly)
                    {
                        yield return new Bound($"{type.Name}.{field.Name}", (long)((TimeSpan)field.GetValue(null)!).TotalMilliseconds);
                    }
                }
            }
        }
    }
}

/// <summary>All that has to do with time in what a simulated worker is given.</summary>
internal sealed class SimulatedTimes(ClusterScenario scenario)
{
    public ClusterOptions Cluster { get; } = new() { Lease = TimeSpan.FromMilliseconds(scenario.LeaseMs) };

    public StateStoreOptions Store { get; } = new() { OutcomeWindow = TimeSpan.FromMilliseconds(scenario.WindowMs) };

    public MailboxOptions Mailboxes => OfMailboxes(life: 1);

    public CheckpointerOptions Checkpointing { get; } = new() { Interval = TimeSpan.FromMilliseconds(scenario.Load.CheckpointMs) };

    public LogWriterOptions Writing { get; } = new();

    /// <summary>Bounds of the setup itself.</summary>
    public object Setup { get; } = new { Patience = TimeSpan.FromMilliseconds(scenario.PatienceMs) };

    public MailboxOptions OfMailboxes(int life) => new()
    {
        PumpsInline = true,
        Seed = life,
        AnswerTimeout = TimeSpan.FromMilliseconds(scenario.AnswerMs),
        DetourAfter = TimeSpan.FromMilliseconds(scenario.AnswerMs * 0.75),
        PassOnTimeout = TimeSpan.FromMilliseconds(scenario.AnswerMs * 0.25),
    };

    public WorkerOptions Worker(int number, int life)
    {
        var load = scenario.Load;
        return new WorkerOptions
        {
            Name = $"w{number}",
            Number = number,
            Executors = load.Executors,
            Coordinators = load.Coordinators,
            OpenBatches = load.OpenBatches,
            TransactionsPerBatch = load.TransactionsPerBatch,
            TurnBound = TimeSpan.FromMilliseconds(Math.Max(100, load.TurnBoundMs)),
            TurnTick = TimeSpan.FromMilliseconds(Math.Max(5, load.TurnBoundMs / 8)),
            LongWait = TimeSpan.FromMilliseconds(load.Seed % 2 == 0 ? 10 : 50),
            MarkMethodsThatFail = load.MarkFailing != 0,
            IdempotencyWindow = TimeSpan.FromMilliseconds(scenario.WindowMs),
            IdleActorTimeout = TimeSpan.FromSeconds(1),
            MaxKeptResultBytes = 1 << 20, // as of one worker
            MaxActorBytes = load.Room > 0 ? load.Room : long.MaxValue,
            CallerTimeShare = 0.25,
            LoadsAhead = load.Room > 0 ? load.Room % 3 : 64,
            DrainTimeout = TimeSpan.FromMilliseconds(load.Seed % 3 == 0 ? 30 : 2000),
            Seed = ((int)load.Seed * 31) + life,
            AnswersInline = true,
        };
    }
}
