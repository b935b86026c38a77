using System.Globalization;
using System.Text;
using Snapper.Cli.Supervision;
using Snapper.Telemetry;
using Xunit;

namespace Snapper.Server.Tests.Telemetry;

/// <summary>The table of instruments: each name once, and the documentation shows it.</summary>
public sealed class InstrumentTests
{
    private const string Begin = "<!-- instruments: written by the code -->";
    private const string End = "<!-- end of instruments -->";

    [Fact]
    public void No_name_is_used_twice()
    {
        Assert.Distinct(Instruments.All.Select(one => one.Prometheus).OfType<string>());
        Assert.Distinct(Instruments.All.Select(one => one.Otlp).OfType<string>());
        foreach (var one in Instruments.All)
        {
            var isTotal = one.Prometheus!.EndsWith("_total", StringComparison.Ordinal);
            Assert.True(isTotal == (one.Kind == InstrumentKind.Counter), one.Prometheus);
        }
    }

    [Fact]
    public void The_documentation_shows_the_table_of_the_code()
    {
        var file = Path.Combine(Repository.Find()!, "docs", "telemetry.md");
        var text = File.ReadAllText(file);
        var from = text.IndexOf(Begin, StringComparison.Ordinal) + Begin.Length;
        var to = text.IndexOf(End, StringComparison.Ordinal);
        Assert.True(from >= Begin.Length && to > from, $"{file} has no place for the table");
        var table = "\n" + Markdown();
        if (Environment.GetEnvironmentVariable("SNAPPER_WRITE_DOCS") == "1")
        {
            File.WriteAllText(file, text[..from] + table + text[to..]);
            return;
        }

        Assert.True(
            table == text[from..to],
            $"{file} does not have this table. SNAPPER_WRITE_DOCS=1 with this test writes it:\n{table}");
    }

    private static string Markdown()
    {
        var table = new StringBuilder("| `/metrics` | OTLP | kind | unit | labels | what |\n");
        table.Append("|---|---|---|---|---|---|\n");
        foreach (var one in Instruments.All)
        {
            var labels = string.Join(", ", one.Labels.Where(label => label.Name != "le").Select(
                label => one.Otlp is null ? $"`{label.Name}`" : $"`{label.Name}` (`{label.Attribute}`)"));
            var kind = one.Kind == InstrumentKind.UpDownCounter ? "up-down counter" : $"{one.Kind}".ToLowerInvariant();
            var names = $"`{one.Prometheus}` | {(one.Otlp is { } name ? $"`{name}`" : "")}";
            table.Append(
                CultureInfo.InvariantCulture, $"| {names} | {kind} | `{one.Unit}` | {labels} | {one.Help} |\n");
        }

        return table.ToString();
    }
}
