using Snapper.Protocol.Channels;

namespace Snapper.Cluster.Mailboxes;

/// <summary>Settings of the mailboxes. <see cref="Validate"/> names the first one that is out of range.</summary>
public sealed class MailboxOptions
{
    /// <summary>Bounds of each channel.</summary>
    public ChannelLimits Limits { get; init; } = new();

    /// <summary>How long an answer is awaited before the packet goes again, 10 ms..1 min. Default: 2 s.</summary>
    public TimeSpan AnswerTimeout { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>First pause before a packet goes again, jittered by a half, 100 µs..1 s. Default: 2 ms; doubles each time.</summary>
    public TimeSpan RetryDelayMin { get; init; } = TimeSpan.FromMilliseconds(2);

    /// <summary>Longest such pause, at least the first, at most 1 min. Default: 250 ms.</summary>
    public TimeSpan RetryDelayMax { get; init; } = TimeSpan.FromMilliseconds(250);

    /// <summary>
    /// How long a worker whose life is known has answered nothing before packets to it go through another worker, 1 ms..1 min. It is looked at when a packet has failed.
    /// Below the patience with workers that cannot be reached (R5), so that a pair that does not reach each other ends nobody. Default: 1.5 s.
    /// </summary>
    public TimeSpan DetourAfter { get; init; } = TimeSpan.FromMilliseconds(1500);

    /// <summary>
    /// How long a worker that passes a packet on waits for the answer, and how often the direct road is tried again beside a detour, 1 ms..1 min. Whoever sent it waits twice as long.
    /// Default: 500 ms.
    /// </summary>
    public TimeSpan PassOnTimeout { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>Seed of the jitter; null: from the system. A simulator sets it.</summary>
    public int? Seed { get; init; }

    /// <summary>Packets leave on the thread that queued the first message instead of the pool's: for a simulator, which has one thread.</summary>
    internal bool PumpsInline { get; init; }

    /// <summary>Throws when a setting is out of range, naming it.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A setting is out of range.</exception>
    public void Validate()
    {
        Limits.Validate();
        Check(AnswerTimeout, TimeSpan.FromMilliseconds(10), TimeSpan.FromMinutes(1), nameof(AnswerTimeout));
        Check(RetryDelayMin, TimeSpan.FromMicroseconds(100), TimeSpan.FromSeconds(1), nameof(RetryDelayMin));
        Check(RetryDelayMax, RetryDelayMin, TimeSpan.FromMinutes(1), nameof(RetryDelayMax));
        Check(DetourAfter, TimeSpan.FromMilliseconds(1), TimeSpan.FromMinutes(1), nameof(DetourAfter));
        Check(PassOnTimeout, TimeSpan.FromMilliseconds(1), TimeSpan.FromMinutes(1), nameof(PassOnTimeout));
    }

    private static void Check(TimeSpan value, TimeSpan least, TimeSpan most, string name)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(value, least, name);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(value, most, name);
    }
}
