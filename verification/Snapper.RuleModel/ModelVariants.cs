namespace Snapper.RuleModel;

/// <summary>Which of the two sets of rules a variant breaks.</summary>
public static class ModelVariants
{
    /// <summary>The variants of these rules, without the rules as written.</summary>
    public static IEnumerable<ModelVariant> Of(ModelRules rules) =>
        Enum.GetValues<ModelVariant>().Where(variant => variant != ModelVariant.AsWritten && variant.Breaks(rules));

    /// <summary>The variant breaks something in these rules, or is none.</summary>
    public static bool Breaks(this ModelVariant variant, ModelRules rules) => variant switch
    {
        ModelVariant.LocalIsFinalBeforeEarlierGlobal or ModelVariant.PreparesBeforeEarlierLocal
            or ModelVariant.LossIsNotClosed => rules == ModelRules.Prefix,
        >= ModelVariant.FinalWithoutTheChain => rules == ModelRules.Dependency,
        _ => true,
    };
}
