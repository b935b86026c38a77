namespace Snapper.RuleModel;

/// <summary>What the clients ask for, and which misfortunes may happen: a schedule is one order in which all of it goes.</summary>
internal sealed class Scenario
{
    public int Actors { get; set; }

    public int Workers { get; set; }

    /// <summary>At most <see cref="ModelSize.MaxTransactions"/>; the first <see cref="Count"/> are in use.</summary>
    public Script[] Scripts { get; } = [.. Enumerable.Range(0, ModelSize.MaxTransactions).Select(static _ => new Script())];

    public int Count { get; set; }

    /// <summary>How many workers may crash, the same one twice included.</summary>
    public int Crashes { get; set; }

    /// <summary>How often the master may crash.</summary>
    public int MasterCrashes { get; set; }

    /// <summary>
    /// Actors may move to other workers: by dependency, and not in scenarios whose transactions are given.
    /// </summary>
    public bool MayMove { get; set; }

    /// <summary>W1, proposed: an ACT that holds no lock waits for older ones.</summary>
    public bool FirstLocksWait { get; set; }

    /// <summary>The worker that owns an actor at first.</summary>
    public int OwnerOf(int actor) => actor % Workers;

    /// <summary>Draws a scenario of a size.</summary>
    public void Draw(ref ModelRandom random, ModelSize size, bool misfortunes)
    {
        Actors = size.Actors;
        Workers = size.Workers;
        Count = size.Transactions;
        Crashes = random.OneIn(4) ? 1 + random.Next(2) : 0;
        MasterCrashes = Workers > 1 && random.OneIn(8) ? 1 : 0;
        if (!misfortunes)
        {
            Crashes = 0;
            MasterCrashes = 0;
        }

        var pactsOfEight = random.Next(9);
        var readsOfEight = 1 + random.Next(5);
        var fails = random.OneIn(3) && misfortunes;
        for (var i = 0; i < Count; i++)
        {
            Scripts[i].Draw(ref random, size, isAct: random.Next(8) >= pactsOfEight, readsOfEight, fails);
        }
    }

    public void CopyFrom(Scenario other)
    {
        Actors = other.Actors;
        Workers = other.Workers;
        MayMove = other.MayMove;
        FirstLocksWait = other.FirstLocksWait;
        Count = other.Count;
        Crashes = other.Crashes;
        MasterCrashes = other.MasterCrashes;
        for (var i = 0; i < Count; i++)
        {
            Scripts[i].CopyFrom(other.Scripts[i]);
        }
    }

    /// <summary>Drops one transaction.</summary>
    public void Remove(int index)
    {
        for (var i = index; i < Count - 1; i++)
        {
            Scripts[i].CopyFrom(Scripts[i + 1]);
        }

        Count--;
    }
}
