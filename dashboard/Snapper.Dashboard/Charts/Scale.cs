namespace Snapper.Dashboard.Charts;

/// <summary>Axes.</summary>
public static class Scale
{
    /// <summary>0, and round values up to one that is not below <paramref name="most"/>; three to six of them.</summary>
    public static IReadOnlyList<double> Ticks(double most)
    {
        if (!(most > 0) || !double.IsFinite(most)) return [0, 1];
        var raw = most / 4;
        var power = Math.Pow(10, Math.Floor(Math.Log10(raw)));
        var step = new[] { 1, 2, 2.5, 5, 10 }.Select(factor => factor * power).First(one => one >= raw * 0.999);
        return [.. Enumerable.Range(0, (int)Math.Ceiling((most / step) - 1e-9) + 1).Select(i => i * step)];
    }

    /// <summary>Round distance between marks so that there are at most <paramref name="marks"/> in so many milliseconds.</summary>
    public static double TimeStep(double spanMs, int marks)
    {
        double[] steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000];
        return steps.FirstOrDefault(step => spanMs / step <= marks, 86_400_000);
    }
}

/// <summary>One line or layer of a chart.</summary>
/// <param name="Name">In the legend.</param>
/// <param name="Css">Class with its colour, c1 to c12.</param>
/// <param name="Values">One per time; null: a gap.</param>
/// <param name="Link">Where the legend leads; null: nowhere.</param>
public sealed record Series(string Name, string Css, IReadOnlyList<double?> Values, string? Link = null);

/// <summary>A stretch of a row.</summary>
/// <param name="FromMs">Unix milliseconds.</param>
/// <param name="ToMs">Not before <paramref name="FromMs"/>.</param>
/// <param name="Css">Class with its look.</param>
/// <param name="Title">What it is, in words.</param>
public sealed record Stretch(double FromMs, double ToMs, string Css, string Title);

/// <summary>A row of a picture over time.</summary>
/// <param name="Label">Its name.</param>
/// <param name="Stretches">In order.</param>
public sealed record Lane(string Label, IReadOnlyList<Stretch> Stretches)
{
    public string? Link { get; init; }
    public string? Note { get; init; }
    public string? Css { get; init; }

    /// <summary>Neighbouring lanes of one group stand in a bracket with this name.</summary>
    public string? Group { get; init; }
    public int Indent { get; init; }
}
