namespace Snapper.Runtime.Execution;

/// <summary>
/// Stands in an actor's machine for the state of an actor that was deleted: user code sees no state, as of one that was never written; the log gets the field as deleted (L4), and the
/// version goes on (L7).
/// </summary>
public sealed class AbsentState
{
    private AbsentState()
    {
    }

    public static AbsentState Instance { get; } = new();

    /// <summary>What user code may see of a state.</summary>
    public static object? Seen(object? state) => ReferenceEquals(state, Instance) ? null : state;
}
