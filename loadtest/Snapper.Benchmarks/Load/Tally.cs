namespace Snapper.Benchmarks.Load;

/// <summary>What one pipeline counted. Not safe from several threads: each pipeline has its own.</summary>
public sealed class Tally
{
    private const int KindsMax = 32;

    /// <summary>Transactions (or calls) that succeeded.</summary>
    public long Committed { get; private set; }

    /// <summary>Attempts of all transactions, those repeated inside the system included where it tells.</summary>
    public long Attempts { get; private set; }

    /// <summary>Attempts of ACTs.</summary>
    public long ActAttempts { get; private set; }

    /// <summary>Attempts of ACTs that did not commit.</summary>
    public long ActAborted { get; private set; }

    /// <summary>Those of the committed ones that touched several workers.</summary>
    public long Distributed { get; private set; }

    /// <summary>Transactions that ended aborted, by reason.</summary>
    public Dictionary<string, long> Aborts { get; } = new(StringComparer.Ordinal);

    /// <summary>Everything that is neither a commit nor an abort: wrong statuses, broken connections. One of them makes a run void.</summary>
    public Dictionary<string, long> Errors { get; } = new(StringComparer.Ordinal);

    /// <summary>Back to nothing.</summary>
    public void Clear()
    {
        Committed = Attempts = ActAttempts = ActAborted = Distributed = 0;
        Aborts.Clear();
        Errors.Clear();
    }

    /// <summary>Counts successes of one attempt each.</summary>
    public void Commit(long count = 1)
    {
        Committed += count;
        Attempts += count;
    }

    /// <summary>Counts a transaction that committed after some attempts.</summary>
    public void Commit(bool act, int attempts)
    {
        Committed++;
        Attempts += attempts;
        if (act)
        {
            ActAttempts += attempts;
            ActAborted += attempts - 1;
        }
    }

    /// <summary>The one that was just counted as committed touched several workers.</summary>
    public void CountDistributed() => Distributed++;

    /// <summary>Counts a transaction that ended aborted after some attempts.</summary>
    public void Abort(string reason, bool act = false, int attempts = 1)
    {
        Attempts += attempts;
        if (act)
        {
            ActAttempts += attempts;
            ActAborted += attempts;
        }

        Count(Aborts, reason, 1);
    }

    /// <summary>Counts an error.</summary>
    public void Error(string what, long count = 1)
    {
        Attempts += count;
        Count(Errors, what, count);
    }

    /// <summary>Adds another tally.</summary>
    public void Add(Tally other)
    {
        Committed += other.Committed;
        Attempts += other.Attempts;
        ActAttempts += other.ActAttempts;
        ActAborted += other.ActAborted;
        Distributed += other.Distributed;
        AddErrorsAndAborts(other);
    }

    /// <summary>Adds only the errors: those of the warm-up count as well.</summary>
    public void AddErrors(Tally other)
    {
        foreach (var (what, count) in other.Errors)
        {
            Count(Errors, what, count);
        }
    }

    private void AddErrorsAndAborts(Tally other)
    {
        AddErrors(other);
        foreach (var (reason, count) in other.Aborts)
        {
            Count(Aborts, reason, count);
        }
    }

    // Messages may contain ids; a bound keeps a broken system from filling the memory with them.
    private static void Count(Dictionary<string, long> counts, string key, long count)
    {
        if (counts.Count >= KindsMax && !counts.ContainsKey(key))
        {
            key = "others";
        }

        counts[key] = counts.GetValueOrDefault(key) + count;
    }
}
