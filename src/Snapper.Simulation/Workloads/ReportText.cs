using System.Text;

namespace Snapper.Simulation.Workloads;

/// <summary>Builders for the reports of scripted actors, used again: new ones would be most of what a run allocates.</summary>
internal static class ReportText
{
    private const int MostKept = 64;

    [ThreadStatic]
    private static Stack<StringBuilder>? t_idle;

    /// <summary>An empty builder, the caller's own until <see cref="End"/>; one whose call never ends is not used again.</summary>
    public static StringBuilder Begin() => t_idle is { Count: > 0 } idle ? idle.Pop() : new StringBuilder(512);

    /// <summary>Its text.</summary>
    public static string End(StringBuilder builder)
    {
        var text = builder.ToString();
        var idle = t_idle ??= new Stack<StringBuilder>();
        if (idle.Count < MostKept)
        {
            idle.Push(builder.Clear());
        }

        return text;
    }
}
