using Microsoft.AspNetCore.Components;
using Microsoft.AspNetCore.Components.Rendering;

namespace Snapper.Dashboard.Charts;

/// <summary>Text in a picture: Razor takes the element of that name for its own.</summary>
public sealed class SvgText : ComponentBase
{
    [Parameter] public double X { get; set; }
    [Parameter] public double Y { get; set; }
    [Parameter] public string? Anchor { get; set; }
    [Parameter] public string? Css { get; set; }
    [Parameter] public string Text { get; set; } = "";

    protected override void BuildRenderTree(RenderTreeBuilder builder)
    {
        builder.OpenElement(0, "text");
        builder.AddAttribute(1, "x", Parts.Fmt.Css(X));
        builder.AddAttribute(2, "y", Parts.Fmt.Css(Y));
        if (Anchor is not null) builder.AddAttribute(3, "text-anchor", Anchor);
        if (Css is not null) builder.AddAttribute(4, "class", Css);
        builder.AddContent(5, Text);
        builder.CloseElement();
    }
}
