namespace Snapper.RuleModel;

/// <summary>Which rules say when a batch is final, and what an undo takes back.</summary>
public enum ModelRules
{
    /// <summary>L2, L3, A6: final work is a prefix of the worker's order.</summary>
    Prefix,

    /// <summary>D1 to D8: final is what is complete and has nothing open before it on its own actors.</summary>
    Dependency,
}
