using System.Globalization;
using System.Net;
using System.Text;

namespace Snapper.Load.Reporting;

/// <summary>A report for people: one file, with its styles and pictures in it and nothing from elsewhere.</summary>
internal static class ReportHtml
{
    private const string Style = """
        :root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--paper:#fff;--line:#d0d7de;--a:#0550ae;--b:#1a7f37;--c:#9a6700;--d:#cf222e;--band:#0550ae22}
        @media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9ea7b3;--paper:#0d1117;--line:#30363d;--a:#79c0ff;--b:#56d364;--c:#e3b341;--d:#ff7b72;--band:#79c0ff22}}
        body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:960px;margin:0 auto;padding:1rem}
        h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}p{margin:.4rem 0}.soft{color:var(--soft)}
        .held::before{content:"\2713  ";color:var(--b)}.broken::before{content:"\2717  ";color:var(--d)}.broken{font-weight:600}
        table{border-collapse:collapse;margin:.5rem 0;font-variant-numeric:tabular-nums}th,td{border-bottom:1px solid var(--line);padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}
        td.n,th.n{text-align:right}.wide{overflow-x:auto}svg{width:100%;height:auto}svg text{fill:var(--soft);font:11px system-ui,sans-serif}
        .grid{stroke:var(--line);stroke-width:1}.mark{stroke:var(--soft);stroke-width:1;stroke-dasharray:3 3}.band{fill:var(--band)}
        .line{fill:none;stroke-width:1.8}.line.a{stroke:var(--a)}.line.b{stroke:var(--b)}.line.c{stroke:var(--c)}.line.d{stroke:var(--d)}.bar{fill:var(--d)}.bar.app{fill:var(--c)}
        .key{display:inline-block;margin-right:1.2rem}.key i{display:inline-block;width:1.4em;height:0;border-top:3px solid;vertical-align:middle;margin-right:.4em}
        .key .a{color:var(--a)}.key .b{color:var(--b)}.key .c{color:var(--c)}.key .d{color:var(--d)}code{font-size:.9em}details{margin:.4rem 0}
        """;

    public static string Of(LoadReport report)
    {
        var page = new StringBuilder();
        page.Append("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>")
            .Append(Text($"{report.Scenario}: {(report.Passed ? "passed" : "failed")}")).Append("</title><style>").Append(Style).Append("</style></head><body>");
        Head(page, report);
        Thresholds(page, report);
        Throughput(page, report);
        Latency(page, report);
        Aborts(page, report);
        Outcomes(page, report);
        Change(page, report);
        Measures(page, report);
        return page.Append("</body></html>\n").ToString();
    }

    private static void Head(StringBuilder page, LoadReport report)
    {
        page.Append("<h1>Load test ").Append(Text(report.Scenario)).Append("</h1><p class=\"").Append(report.Passed ? "held" : "broken").Append("\">")
            .Append(report.Passed ? "All thresholds and invariants held." : "A threshold or an invariant did not hold.").Append("</p><p>").Append(Text(report.Summary)).Append("</p><p class=\"soft\">")
            .Append(Text(report.Workload)).Append("<br>")
            .Append(Text(Invariant($"{report.Shape}, {report.Arrivals} arrivals, {report.RatePerSecond:0.##}/s for {report.DurationSeconds:0.#} s after {report.WarmUpSeconds:0.#} s of warm-up, seed {report.Seed}"))).Append("<br>")
            .Append(Text(Invariant($"{report.Began:yyyy-MM-dd HH:mm:ss} UTC, {report.Machine}, against {string.Join(", ", report.Addresses)}"))).Append("<br><code>").Append(Text(report.Command)).Append("</code></p>")
            .Append("<p>").Append(Text(Invariant($"Latency counts from the intended start. The load generator's own error: p50 {report.ArrivalError.P50Ms:0.###} ms, p99 {report.ArrivalError.P99Ms:0.###} ms, p99.9 {report.ArrivalError.P999Ms:0.###} ms, at most {report.ArrivalError.MaxMs:0.###} ms ({report.ArrivalError.Timing})."))).Append("</p>");
    }

    private static void Thresholds(StringBuilder page, LoadReport report)
    {
        page.Append("<h2>Thresholds and invariants</h2><table><thead><tr><th>bound</th><th class=\"n\">measured</th></tr></thead><tbody>");
        foreach (var threshold in report.Thresholds)
        {
            Row(page, threshold.Held, threshold.Text, threshold.Actual is { } actual ? Number(actual) : "not measured");
        }

        page.Append("</tbody></table><p class=\"").Append(report.Invariant.Passed ? "held" : "broken").Append("\">").Append(Text(report.Invariant.Name)).Append(": ").Append(Text(report.Invariant.Summary)).Append("</p>");
        foreach (var problem in report.Invariant.Problems)
        {
            page.Append("<pre>").Append(Text(problem)).Append("</pre>");
        }

        if (report.Change is not null)
        {
            page.Append("<p class=\"").Append(report.ChangeProblem is null ? "held" : "broken").Append("\">").Append(Text(report.Change)).Append(report.ChangeProblem is { } why ? ": " + Text(why) : "").Append("</p>");
        }
    }

    private static void Throughput(StringBuilder page, LoadReport report)
    {
        page.Append("<h2>Throughput</h2>");
        Chart(page, report, new LineChart
        {
            Title = "Arrivals, commits, aborts and errors per second over time",
            YUnit = "per second",
            XMax = report.DurationSeconds,
            Bands = report.Bands,
            Marks = report.Marks,
            Series =
            [
                new("offered", "a", [.. report.Course.Select(static point => (point.AtSeconds, (double?)point.Offered))]),
                new("committed", "b", [.. report.Course.Select(static point => (point.AtSeconds, (double?)point.Committed))]),
                new("aborted", "c", [.. report.Course.Select(static point => (point.AtSeconds, (double?)(point.AbortedByApplication + point.AbortedBySystem)))]),
                new("errors", "d", [.. report.Course.Select(static point => (point.AtSeconds, (double?)point.Errors))]),
            ],
        });
    }

    private static void Latency(StringBuilder page, LoadReport report)
    {
        page.Append("<h2>Latency</h2>");
        Chart(page, report, new LineChart
        {
            Title = "Latency by intended start over time",
            YUnit = "ms, logarithmic",
            XMax = report.DurationSeconds,
            Logarithmic = true,
            Bands = report.Bands,
            Marks = report.Marks,
            Series =
            [
                new("p50", "b", [.. report.Course.Select(static point => (point.AtSeconds, point.P50Ms))]),
                new("p99", "a", [.. report.Course.Select(static point => (point.AtSeconds, point.P99Ms))]),
                new("p99.9", "c", [.. report.Course.Select(static point => (point.AtSeconds, point.P999Ms))]),
                new("max", "d", [.. report.Course.Select(static point => (point.AtSeconds, point.MaxMs))]),
            ],
        });
        page.Append("<table><thead><tr><th>per cent of all</th><th class=\"n\">at most</th></tr></thead><tbody>");
        foreach (var point in report.LatencyByPercentile)
        {
            page.Append("<tr><td>").Append(Number(point.Percentile)).Append("</td><td class=\"n\">").Append(Number(point.Ms)).Append(" ms</td></tr>");
        }

        page.Append("</tbody></table><details><summary>The course as a table</summary><div class=\"wide\"><table><thead><tr><th class=\"n\">s</th><th class=\"n\">offered/s</th><th class=\"n\">committed/s</th><th class=\"n\">aborted/s</th><th class=\"n\">errors/s</th><th class=\"n\">p50 ms</th><th class=\"n\">p99 ms</th><th class=\"n\">p99.9 ms</th><th class=\"n\">max ms</th></tr></thead><tbody>");
        foreach (var point in report.Course)
        {
            Cells(page, point.AtSeconds, point.Offered, point.Committed, point.AbortedByApplication + point.AbortedBySystem, point.Errors, point.P50Ms, point.P99Ms, point.P999Ms, point.MaxMs);
        }

        page.Append("</tbody></table></div></details>");
    }

    private static void Aborts(StringBuilder page, LoadReport report)
    {
        page.Append("<h2>Aborts by reason</h2>");
        var aborts = report.Outcomes.Where(static outcome => outcome.Key.StartsWith(Running.Ending.Aborted, StringComparison.Ordinal)).OrderByDescending(static outcome => outcome.Value).ToArray();
        if (aborts.Length == 0)
        {
            page.Append("<p>None.</p>");
            return;
        }

        const int rowHeight = 24;
        page.Append(CultureInfo.InvariantCulture, $"<svg viewBox=\"0 0 900 {(aborts.Length * rowHeight) + 4}\" role=\"img\" aria-label=\"Aborts by reason\"><title>Aborts by reason</title>");
        for (var i = 0; i < aborts.Length; i++)
        {
            var reason = aborts[i].Key[Running.Ending.Aborted.Length..];
            var width = Math.Max(1, 600.0 * aborts[i].Value / aborts[0].Value);
            page.Append(CultureInfo.InvariantCulture, $"<text x=\"120\" y=\"{(i * rowHeight) + 17}\" text-anchor=\"end\">{Text(reason)}</text><rect class=\"bar{(reason == "application" ? " app" : "")}\" x=\"128\" y=\"{(i * rowHeight) + 4}\" width=\"{width:0.#}\" height=\"{rowHeight - 8}\"/><text x=\"{134 + width:0.#}\" y=\"{(i * rowHeight) + 17}\">{aborts[i].Value}</text>");
        }

        page.Append("</svg>");
    }

    private static void Outcomes(StringBuilder page, LoadReport report)
    {
        var all = Math.Max(1, report.Outcomes.Values.Sum());
        page.Append("<h2>Outcomes</h2><table><thead><tr><th>outcome</th><th class=\"n\">transactions</th><th class=\"n\">per cent</th></tr></thead><tbody>");
        foreach (var (label, count) in report.Outcomes.OrderByDescending(static outcome => outcome.Value))
        {
            page.Append(CultureInfo.InvariantCulture, $"<tr><td>{Text(label)}</td><td class=\"n\">{count:N0}</td><td class=\"n\">{100.0 * count / all:0.###}</td></tr>");
        }

        page.Append("</tbody></table>");
    }

    private static void Change(StringBuilder page, LoadReport report)
    {
        if (report.Change is null)
        {
            return;
        }

        page.Append("<h2>Before, during and after the change</h2><div class=\"wide\"><table><thead><tr><th>arrivals</th><th class=\"n\">transactions</th><th class=\"n\">p50 ms</th><th class=\"n\">p99 ms</th><th class=\"n\">p99.9 ms</th><th class=\"n\">max ms</th><th class=\"n\">aborted by the system</th></tr></thead><tbody>");
        foreach (var window in report.Windows)
        {
            page.Append(CultureInfo.InvariantCulture, $"<tr><td>{Text(window.Name)}</td><td class=\"n\">{window.Arrivals:N0}</td><td class=\"n\">{Number(window.P50Ms)}</td><td class=\"n\">{Number(window.P99Ms)}</td><td class=\"n\">{Number(window.P999Ms)}</td><td class=\"n\">{Number(window.MaxMs)}</td><td class=\"n\">{window.AbortedBySystem:N0}</td></tr>");
        }

        page.Append("</tbody></table></div><table><thead><tr><th class=\"n\">s</th><th>what happened</th></tr></thead><tbody>");
        foreach (var mark in report.Marks)
        {
            page.Append(CultureInfo.InvariantCulture, $"<tr><td class=\"n\">{mark.AtSeconds:0.000}</td><td>{Text(mark.Text)}</td></tr>");
        }

        page.Append("</tbody></table>");
    }

    private static void Measures(StringBuilder page, LoadReport report)
    {
        page.Append("<h2>All measures</h2><table><thead><tr><th>name</th><th class=\"n\">value</th></tr></thead><tbody>");
        foreach (var (name, value) in report.Measures.OrderBy(static measure => measure.Key, StringComparer.Ordinal))
        {
            page.Append("<tr><td>").Append(Text(name)).Append("</td><td class=\"n\">").Append(Number(value)).Append("</td></tr>");
        }

        page.Append("</tbody></table>");
    }

    private static void Chart(StringBuilder page, LoadReport report, LineChart chart)
    {
        page.Append("<p>");
        foreach (var series in chart.Series)
        {
            page.Append("<span class=\"key\"><i class=\"").Append(series.Style).Append("\"></i>").Append(Text(series.Name)).Append("</span>");
        }

        page.Append("</p>").Append(chart.ToSvg());
        if (report.Bands.Count > 0)
        {
            page.Append("<p class=\"soft\">Shaded: ").Append(Text(string.Join("; ", report.Bands.Select(static band => Invariant($"{band.Name}, {band.FromSeconds:0.00} to {band.ToSeconds:0.00} s"))))).Append("</p>");
        }
    }

    private static void Row(StringBuilder page, bool held, string what, string value) =>
        page.Append("<tr><td class=\"").Append(held ? "held" : "broken").Append("\">").Append(Text(what)).Append("</td><td class=\"n\">").Append(Text(value)).Append("</td></tr>");

    private static void Cells(StringBuilder page, params double?[] values)
    {
        page.Append("<tr>");
        foreach (var value in values)
        {
            page.Append("<td class=\"n\">").Append(value is { } number ? Number(number) : "").Append("</td>");
        }

        page.Append("</tr>");
    }

    private static string Number(double value) => value.ToString("0.###", CultureInfo.InvariantCulture);

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);

    private static string Text(string text) => WebUtility.HtmlEncode(text);
}
