using Microsoft.AspNetCore.Components;

namespace Snapper.Dashboard.Parts;

/// <summary>A column of a table: what it holds, for sorting and export, and how it is shown.</summary>
/// <param name="Title">Its head.</param>
/// <param name="Value">Text, number, or null.</param>
public sealed record Column<T>(string Title, Func<T, object?> Value)
{
    /// <summary>How the value is shown; null: as it is.</summary>
    public Func<T, string>? Text { get; init; }

    /// <summary>What the value is counted in: a part of its name in files. Cells say it themselves, each in the unit that fits.</summary>
    public string? Unit { get; init; }

    /// <summary>Shown only with all columns; files always have it.</summary>
    public bool Extra { get; init; }

    /// <summary>Most letters that are shown of it; of a longer one the middle is left out, and the whole is its tip. 0: all.</summary>
    public int Letters { get; init; }

    /// <summary>Its name in files.</summary>
    public string FileTitle => Unit is null ? Title : $"{Title} {Unit}";

    /// <summary>Right aligned.</summary>
    public bool Number { get; init; }

    /// <summary>Where a cell leads; null: nowhere.</summary>
    public Func<T, string?>? Link { get; init; }

    /// <summary>CSS class of a cell.</summary>
    public Func<T, string?>? Class { get; init; }

    /// <summary>Drawn instead of text.</summary>
    public RenderFragment<T>? Cell { get; init; }
}
