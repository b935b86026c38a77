namespace Snapper.Cli.Supervision;

/// <summary>How long to wait before a child is started again: 100 ms at first, doubled to at most 1 s while it keeps dying young.</summary>
internal sealed class RestartBackoff
{
    public static readonly TimeSpan First = TimeSpan.FromMilliseconds(100);

    /// <summary>The longest wait: whatever is killed, however often, is back and ready within 5 s, also on a busy machine where a start takes 3 s.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromSeconds(1);

    /// <summary>A child that lived at least this long is healthy: its death starts the count anew.</summary>
    public static readonly TimeSpan HealthyAfter = TimeSpan.FromSeconds(10);

    /// <summary>Deaths in a row, each before <see cref="HealthyAfter"/>.</summary>
    public int YoungDeaths { get; private set; }

    /// <summary>Notes a death and says how long to wait.</summary>
    /// <param name="lived">From start to death.</param>
    public TimeSpan After(TimeSpan lived)
    {
        if (lived >= HealthyAfter)
        {
            YoungDeaths = 0;
            return First;
        }

        YoungDeaths++;
        var wait = First * Math.Pow(2, Math.Min(YoungDeaths - 1, 10));
        return wait < Longest ? wait : Longest;
    }
}
