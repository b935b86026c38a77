using System.Text;

namespace Snapper.RuleModel;

/// <summary>A schedule that broke a promise.</summary>
public sealed record ModelFailure
{
    /// <summary>The rules that ran.</summary>
    public required ModelVariant Variant { get; init; }

    /// <summary>Seed of the schedule as it was found; <see cref="ModelRun.Explain"/> takes it.</summary>
    public required ulong Seed { get; init; }

    /// <summary>Size of the scenario as it was found.</summary>
    public required ModelSize Size { get; init; }

    /// <summary>What was broken.</summary>
    public required ModelVerdict Verdict { get; init; }

    /// <summary>What was broken, in one sentence.</summary>
    public required string Problem { get; init; }

    /// <summary>The transactions of the (shrunken) scenario, one per line, in words.</summary>
    public required IReadOnlyList<string> Transactions { get; init; }

    /// <summary>The steps of the (shrunken) schedule, in order, in words; the last one is the problem.</summary>
    public required IReadOnlyList<string> Steps { get; init; }

    /// <summary>The whole story.</summary>
    public override string ToString()
    {
        var text = new StringBuilder();
        text.AppendLine($"{Variant}: {Verdict} (seed {Seed}, {Size})");
        foreach (var transaction in Transactions)
        {
            text.Append("  ").AppendLine(transaction);
        }

        for (var i = 0; i < Steps.Count; i++)
        {
            text.AppendLine($"  {i + 1,3}. {Steps[i]}");
        }

        return text.ToString();
    }
}
