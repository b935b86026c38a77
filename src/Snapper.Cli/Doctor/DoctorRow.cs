namespace Snapper.Cli.Doctor;

/// <summary>How a check ended.</summary>
internal enum Health
{
    /// <summary>As it should be.</summary>
    Good,

    /// <summary>Works, with a limit that the row names.</summary>
    Limited,

    /// <summary><c>up</c> would not start.</summary>
    Broken,
}

/// <summary>One check. <paramref name="Fix"/> is empty when there is nothing to do.</summary>
internal sealed record DoctorRow(Health Health, string Check, string Finding, string Fix = "");

internal static class DoctorTable
{
    /// <summary>Writes a header, the rows and a verdict.</summary>
    public static void Write(TextWriter output, IReadOnlyList<DoctorRow> rows)
    {
        var table = Tables.Of("", "check", "finding", "fix");
        foreach (var row in rows)
        {
            var mark = row.Health switch { Health.Good => "ok", Health.Limited => "note", _ => "FAIL" };
            table.Add(mark, row.Check, row.Finding, row.Fix);
        }

        table.WriteTo(output);
        output.WriteLine();
        output.WriteLine(rows.Any(r => r.Health == Health.Broken)
            ? $"'{ProgramName.Value} up' would not start: see the rows marked FAIL."
            : $"'{ProgramName.Value} up' would start.");
    }
}
