using System.Globalization;

namespace Snapper.Dashboard.Parts;

/// <summary>Values of an address, which anybody can write: what is no value is none.</summary>
internal static class Given
{
    /// <summary>A whole number of at least 0, as pages show it, with commas or without; null: it is none.</summary>
    public static long? Number(string? text) => long.TryParse(text, NumberStyles.AllowThousands | NumberStyles.AllowLeadingWhite | NumberStyles.AllowTrailingWhite, CultureInfo.InvariantCulture, out var number) ? number : null;
}
