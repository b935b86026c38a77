using Snapper.Live.Faults;

namespace Snapper.Live.Cluster;

/// <summary>One fault of a system with several workers.</summary>
/// <param name="system">The victim.</param>
/// <param name="prober">Knows actors of each worker.</param>
/// <param name="members">The workers at the beginning of the round.</param>
/// <param name="random">All its choices.</param>
/// <param name="brief">Nothing lasts long.</param>
/// <param name="cancellation">The run is over.</param>
internal sealed class ClusterStrike(
    ClusterSystem system, ClusterProber prober, IReadOnlyList<MemberNow> members, Random random, bool brief, CancellationToken cancellation) : Blow(random, brief, cancellation)
{
    public ClusterSystem System => system;

    public ClusterProber Prober => prober;

    /// <summary>Workers, from 1, whose own doors are not asked for the bound: their callers are sent elsewhere.</summary>
    public List<int> Victims { get; } = [];

    /// <summary>
    /// A worker that the others fenced: its actors are theirs, and its own door is closed until its process has started
    /// again and has warmed up.
    /// </summary>
    public void NoteFenced(string worker)
    {
        if (!Victims.Contains(Number(worker)))
        {
            Victims.Add(Number(worker));
            Detail += $"; {worker} was fenced";
        }
    }

    /// <summary>A migration was under way when it struck.</summary>
    public bool Crossed { get; set; }

    /// <summary>The master.</summary>
    public int Master { get; } = members.FirstOrDefault(member => member.Master) is { } master ? Number(master.Name) : 1;

    /// <summary>Any worker, or any but the master.</summary>
    public int Any(bool butMaster = false)
    {
        while (true)
        {
            var worker = 1 + Random.Next(system.Workers);
            if (!butMaster || worker != Master)
            {
                return worker;
            }
        }
    }

    /// <summary>All workers, in any order.</summary>
    public int[] Shuffled()
    {
        int[] workers = [.. Enumerable.Range(1, system.Workers)];
        Random.Shuffle(workers);
        return workers;
    }

    /// <summary>Another one.</summary>
    public int Other(int than) => ((than - 1 + 1 + Random.Next(system.Workers - 1)) % system.Workers) + 1;

    private static int Number(string name) => int.Parse(name.AsSpan(1), global::System.Globalization.CultureInfo.InvariantCulture);
}

/// <summary>A kind of fault of several workers.</summary>
/// <param name="Name">For the command line and the table.</param>
/// <param name="What">In words.</param>
/// <param name="Bound">What is required, from the blow, or from the end of what lasts, until the actors of all workers, and transactions over all of them, answer again.</param>
/// <param name="Act">Does it; returns when it is over.</param>
internal sealed record ClusterFault(string Name, string What, TimeSpan Bound, Func<ClusterStrike, Task> Act)
{
    /// <summary>Short enough for a short run.</summary>
    public bool IsQuick { get; init; } = true;

    /// <summary>The bound is on the longest that a caller of an actor that moved waited.</summary>
    public bool MeasuresPause { get; init; }
}
