namespace Snapper.Benchmarks.Load;

/// <summary>One closed loop's worth of work: the next request goes out when the answer to the last is there.</summary>
public interface IPipeline : IAsyncDisposable
{
    /// <summary>Does one request and counts how it ended. Exceptions count as errors.</summary>
    ValueTask RunOnceAsync(Tally tally);
}
