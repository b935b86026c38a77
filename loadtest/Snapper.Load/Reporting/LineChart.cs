using System.Globalization;
using System.Net;
using System.Text;
using Snapper.Scenarios.Changes;

namespace Snapper.Load.Reporting;

/// <summary>One line of a chart.</summary>
/// <param name="Name">In the legend.</param>
/// <param name="Style">Class of the line: a, b, c or d.</param>
/// <param name="Points">In order of x; a point without a value interrupts the line.</param>
internal sealed record Series(string Name, string Style, IReadOnlyList<(double X, double? Y)> Points);

/// <summary>Lines over a common axis as inline SVG: no script, colours by class, so that a page can be light or dark.</summary>
internal sealed class LineChart
{
    private const double Width = 900;
    private const double Height = 260;
    private const double Left = 64;
    private const double Right = 12;
    private const double Top = 12;
    private const double Bottom = 34;
    private const int MarksMax = 40;

    public required string Title { get; init; }

    public required string YUnit { get; init; }

    public required IReadOnlyList<Series> Series { get; init; }

    /// <summary>End of the x axis, in seconds.</summary>
    public required double XMax { get; init; }

    /// <summary>For values that differ by orders of magnitude.</summary>
    public bool Logarithmic { get; init; }

    public IReadOnlyList<Band> Bands { get; init; } = [];

    public IReadOnlyList<Mark> Marks { get; init; } = [];

    public string ToSvg()
    {
        var svg = new StringBuilder();
        var values = Series.SelectMany(static series => series.Points).Where(static point => point.Y is not null).Select(static point => point.Y!.Value).DefaultIfEmpty(1).ToArray();
        var (low, high) = Logarithmic ? LogRange(values) : (0, NiceAbove(values.Max()));
        double X(double x) => Left + (Math.Clamp(x, 0, XMax) / XMax * (Width - Left - Right));
        double Y(double y)
        {
            var share = Logarithmic ? (Math.Log10(Math.Max(y, low)) - Math.Log10(low)) / (Math.Log10(high) - Math.Log10(low)) : y / high;
            return Height - Bottom - (share * (Height - Top - Bottom));
        }

        Add(svg, $"<svg viewBox=\"0 0 {Width} {Height}\" role=\"img\" aria-label=\"{WebUtility.HtmlEncode(Title)}\"><title>{WebUtility.HtmlEncode(Title)}</title>");
        foreach (var band in Bands.Where(band => band.ToSeconds > 0 && band.FromSeconds < XMax))
        {
            // A change of a few milliseconds must be seen, too.
            var width = Math.Max(2, X(band.ToSeconds) - X(band.FromSeconds));
            Add(svg, $"<rect class=\"band\" x=\"{X(band.FromSeconds):0.#}\" y=\"{Top}\" width=\"{width:0.#}\" height=\"{Height - Top - Bottom}\"><title>{WebUtility.HtmlEncode(band.Name)}</title></rect>");
        }

        foreach (var tick in Logarithmic ? LogTicks(low, high) : Enumerable.Range(0, 5).Select(i => high * i / 4))
        {
            Add(svg, $"<line class=\"grid\" x1=\"{Left}\" x2=\"{Width - Right}\" y1=\"{Y(tick):0.#}\" y2=\"{Y(tick):0.#}\"/><text x=\"{Left - 6}\" y=\"{Y(tick) + 4:0.#}\" text-anchor=\"end\">{tick:0.###}</text>");
        }

        for (var i = 0; i <= 6; i++)
        {
            var at = XMax * i / 6;
            Add(svg, $"<text x=\"{X(at):0.#}\" y=\"{Height - Bottom + 16}\" text-anchor=\"middle\">{at:0.#} s</text>");
        }

        foreach (var mark in Marks.Where(mark => mark.AtSeconds >= 0 && mark.AtSeconds <= XMax).Take(MarksMax))
        {
            Add(svg, $"<line class=\"mark\" x1=\"{X(mark.AtSeconds):0.#}\" x2=\"{X(mark.AtSeconds):0.#}\" y1=\"{Top}\" y2=\"{Height - Bottom}\"><title>{mark.AtSeconds:0.000} s: {WebUtility.HtmlEncode(mark.Text)}</title></line>");
        }

        foreach (var series in Series)
        {
            AddLine(svg, series, X, Y);
        }

        Add(svg, $"<text x=\"4\" y=\"{Height - 4}\">{WebUtility.HtmlEncode(YUnit)}</text></svg>");
        return svg.ToString();
    }

    private static void AddLine(StringBuilder svg, Series series, Func<double, double> x, Func<double, double> y)
    {
        var path = new StringBuilder();
        var pen = 'M';
        foreach (var point in series.Points)
        {
            if (point.Y is { } value)
            {
                path.Append(CultureInfo.InvariantCulture, $"{pen}{x(point.X):0.#} {y(value):0.#}");
                pen = 'L';
            }
            else
            {
                pen = 'M';
            }
        }

        Add(svg, $"<path class=\"line {series.Style}\" d=\"{path}\"><title>{WebUtility.HtmlEncode(series.Name)}</title></path>");
    }

    private static void Add(StringBuilder svg, FormattableString text) => svg.Append(text.ToString(CultureInfo.InvariantCulture));

    private static (double Low, double High) LogRange(double[] values)
    {
        var low = Math.Pow(10, Math.Floor(Math.Log10(Math.Max(0.01, values.Min()))));
        return (low, Math.Max(low * 10, Math.Pow(10, Math.Ceiling(Math.Log10(Math.Max(0.01, values.Max()))))));
    }

    private static IEnumerable<double> LogTicks(double low, double high)
    {
        for (var tick = low; tick <= high * 1.001; tick *= 10)
        {
            yield return tick;
        }
    }

    private static double NiceAbove(double value)
    {
        if (value <= 0)
        {
            return 1;
        }

        var unit = Math.Pow(10, Math.Floor(Math.Log10(value)));
        return unit * (new[] { 1, 2, 4, 5, 8, 10 }.First(step => value <= unit * step * 1.0001));
    }
}
