namespace Snapper.RuleModel;

/// <summary>Commits that the rules by prefix would have held back; all zero where those are followed.</summary>
/// <param name="OfBatches">Local components queued while an earlier batch of their worker was not final.</param>
/// <param name="OfParts">Of these, queued while a part before them was not final there.</param>
/// <param name="DuringUndos">Components and ACTs queued while an undo ran.</param>
public readonly record struct CommitsAhead(long OfBatches, long OfParts, long DuringUndos)
{
    /// <summary>In words, as the end of a line of numbers; empty when there are none.</summary>
    public override string ToString() => this == default
        ? ""
        : $", {OfBatches:N0} commits ahead of an earlier batch ({OfParts:N0} of a part), "
            + $"{DuringUndos:N0} during an undo";
}
