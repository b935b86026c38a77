using Microsoft.AspNetCore.Components;

namespace Snapper.Dashboard.Parts;

/// <summary>A column of a table: what it holds, for sorting and export, and how it is shown.</summary>
/// <param name="Title">Its head.</param>
/// <param name="Value">Text, number, or null.</param>
public sealed record Column<T>(string Title, Func<T, object?> Value)
{
    /// <summary>How the value is shown; null: as it is.</summary>
    public Func<T, string>? Text { get; init; }

    /// <summary>Right aligned.</summary>
    public bool Number { get; init; }

    /// <summary>Where a cell leads; null: nowhere.</summary>
    public Func<T, string?>? Link { get; init; }

    /// <summary>CSS class of a cell.</summary>
    public Func<T, string?>? Class { get; init; }

    /// <summary>Drawn instead of text.</summary>
    public RenderFragment<T>? Cell { get; init; }
}
