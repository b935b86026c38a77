namespace Snapper.Live.Load;

/// <summary>Redis lost acknowledged writes: of what was acknowledged between the two any may be gone, but no half of it may stay.</summary>
/// <param name="From">In ticks of <see cref="System.Diagnostics.Stopwatch"/>.</param>
/// <param name="Until">Whatever is acknowledged later must stay.</param>
internal sealed record Loss(long From, long Until)
{
    public bool Covers(long at) => at >= From && at <= Until;
}

/// <summary>What a loss has made of a transaction.</summary>
internal enum Fate
{
    /// <summary>It is as the client was told.</summary>
    AsTold,

    /// <summary>Nobody knows it, or it is known as aborted: nothing of it may be seen.</summary>
    Gone,

    /// <summary>It has run again, for a repetition of the request: all of it is there, and what the client had read is not.</summary>
    Otherwise,
}
