using System.Globalization;
using System.Xml;
using System.Xml.Linq;

namespace Snapper.TestRunner;

/// <summary>All test projects together.</summary>
/// <param name="Passed">Tests that passed.</param>
/// <param name="Failed">Tests that failed, runs that broke off, and, where that is asked for, tests that did not run.</param>
/// <param name="Skipped">Tests that did not run.</param>
/// <param name="Succeeded">Some ran, none failed, and the runner agrees.</param>
/// <param name="Details">A line for each failure and each test that did not run, with the reason.</param>
internal sealed record TestSummary(int Passed, int Failed, int Skipped, bool Succeeded, IReadOnlyList<string> Details)
{
    /// <summary>The line that machines read.</summary>
    public string LastLine => Skipped == 0
        ? string.Create(CultureInfo.InvariantCulture, $"{Passed} passed, {Failed} failed")
        : string.Create(CultureInfo.InvariantCulture, $"{Passed} passed, {Failed} failed, {Skipped} skipped");

    /// <summary>Adds up the result files (trx) of a folder.</summary>
    /// <param name="folder">All files below it are read.</param>
    /// <param name="testRunFailed">The runner's exit code was not 0.</param>
    /// <param name="failOnSkipped">A test that did not run counts as failed.</param>
    public static TestSummary Read(string folder, bool testRunFailed, bool failOnSkipped)
    {
        var passed = 0;
        var failed = 0;
        var skipped = 0;
        var details = new List<string>();
        foreach (var file in Directory.EnumerateFiles(folder, "*.trx", SearchOption.AllDirectories).Order(StringComparer.Ordinal))
        {
            if (Load(file) is not { } report)
            {
                failed++;
                details.Add($"failed: {Path.GetFileName(file)} cannot be read: its test run broke off");
                continue;
            }

            foreach (var test in report.Descendants().Where(e => e.Name.LocalName == "UnitTestResult"))
            {
                var name = (string?)test.Attribute("testName") ?? "unnamed test";
                switch ((string?)test.Attribute("outcome"))
                {
                    case "Passed":
                        passed++;
                        break;
                    case "NotExecuted":
                        skipped++;
                        details.Add($"did not run: {name}: {Message(test)}");
                        break;
                    default:
                        failed++;
                        details.Add($"failed: {name}: {Message(test)}");
                        details.AddRange(Trace(test));
                        break;
                }
            }

            // A test host that crashed leaves its finished tests and this note; the test it died in has no result of its own.
            foreach (var crash in report.Descendants().Where(e => e.Name.LocalName == "RunInfo" && (string?)e.Attribute("outcome") == "Error"))
            {
                // Each failing test leaves such a note too, with any words in its name.
                if (!crash.Value.Contains("Test host process crashed", StringComparison.Ordinal) && !crash.Value.Contains("test run was aborted", StringComparison.OrdinalIgnoreCase)) continue;
                failed++;
                details.Add($"failed: the test host broke off: {FirstLine(crash.Value)}");
            }
        }

        if (failOnSkipped && skipped > 0)
        {
            details.Add("CI is set: tests that did not run count as failed");
            failed += skipped;
            skipped = 0;
        }

        if (passed + failed == 0) details.Add("no test ran");
        else if (testRunFailed && failed == 0)
        {
            failed++;
            details.Add("failed: the test run ended with an error that no test accounts for; see its output above");
        }

        return new TestSummary(passed, failed, skipped, failed == 0 && passed > 0 && !testRunFailed, details);
    }

    private static XDocument? Load(string file)
    {
        try
        {
            return XDocument.Load(file);
        }
        catch (XmlException)
        {
            return null;
        }
    }

    private static string Message(XElement test)
    {
        var message = test.Descendants().FirstOrDefault(e => e.Name.LocalName == "Message")?.Value
            ?? test.Descendants().FirstOrDefault(e => e.Name.LocalName == "StdOut")?.Value;
        return string.IsNullOrWhiteSpace(message) ? "no reason given" : FirstLine(message);
    }

    /// <summary>What else the test has to say: the rest of its message, and where it failed.</summary>
    private static IEnumerable<string> Trace(XElement test)
    {
        foreach (var name in (string[])["Message", "StackTrace"])
        {
            var text = test.Descendants().FirstOrDefault(e => e.Name.LocalName == name)?.Value.Trim() ?? "";
            foreach (var line in text.Split('\n').Skip(name == "Message" ? 1 : 0).Where(static line => line.Length > 0).Take(12))
            {
                yield return "    " + line.TrimEnd();
            }
        }
    }

    private static string FirstLine(string text) => text.Trim().Split('\n')[0].Trim();
}
