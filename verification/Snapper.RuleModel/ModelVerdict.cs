namespace Snapper.RuleModel;

/// <summary>How a schedule of the rule model ended.</summary>
public enum ModelVerdict
{
    /// <summary>Everybody was answered, and what was answered is strictly serializable, complete and durable.</summary>
    Held,

    /// <summary>The committed transactions, and the aborts that were answered, have no serial order that respects who was answered before whom was sent.</summary>
    Cycle,

    /// <summary>Somebody waits for ever, or the schedule does not end.</summary>
    Stuck,

    /// <summary>A write of a committed transaction is missing, doubled or half in the final state, or an acknowledged commit was taken back.</summary>
    LostEffect,

    /// <summary>Somebody was answered on a state that was never committed, or that its writer had not finished.</summary>
    DirtyRead,

    /// <summary>An invariant of the rules that no schedule may break was broken.</summary>
    BrokenInvariant,
}
