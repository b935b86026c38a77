namespace Snapper.Runtime.Tests.Support;

/// <summary>The real time, and a test hears on which thread it is asked for.</summary>
internal sealed class CommitTime : TimeProvider
{
    /// <summary>Called on the thread that asks for the wall clock.</summary>
    public volatile Action? Asked;

    public override DateTimeOffset GetUtcNow()
    {
        Asked?.Invoke();
        return base.GetUtcNow();
    }
}
