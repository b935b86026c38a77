namespace Snapper.Runtime.Execution;

/// <summary>
/// Stands in an actor's machine for a stored state that could not be read. User code never sees it: whoever asks for it aborts. Being the state, it comes back when a replacement of it is
/// undone, and what replaces it has its place in the order of all others.
/// </summary>
/// <param name="why">Words for people; names the actor.</param>
/// <param name="hasVersion">The version beside it could be read. Without it the next one is not known (L7), and no change can be made.</param>
public sealed class DamagedState(string why, bool hasVersion)
{
    public string Why => why;

    public bool HasVersion => hasVersion;

    /// <summary>
    /// It is no damage: a newer program has written it, and this one may not write over it; null: it is damage.
    /// </summary>
    public NewerStateException? Newer { get; init; }
}
