using System.Globalization;
using System.Runtime.CompilerServices;

namespace Snapper.Simulation.Rules;

/// <summary>
/// What is said when a rule does not hold: an interpolated string that is put together only then. Rules are looked at a hundred thousand times a second, and
/// hold.
/// </summary>
[InterpolatedStringHandler]
internal ref struct Otherwise
{
    private DefaultInterpolatedStringHandler _text;

    /// <param name="literalLength">Given by the compiler.</param>
    /// <param name="formattedCount">Given by the compiler.</param>
    /// <param name="holds">Whether the rule holds.</param>
    /// <param name="isNeeded">Whether the compiler's code goes on to put the text together.</param>
    public Otherwise(int literalLength, int formattedCount, bool holds, out bool isNeeded)
    {
        isNeeded = !holds;
        _text = isNeeded ? new DefaultInterpolatedStringHandler(literalLength, formattedCount, CultureInfo.InvariantCulture) : default;
    }

    public void AppendLiteral(string value) => _text.AppendLiteral(value);

    public void AppendFormatted<T>(T value) => _text.AppendFormatted(value);

    /// <summary>The text; asked for once, and only when the rule does not hold.</summary>
    public string Text() => _text.ToStringAndClear();
}
