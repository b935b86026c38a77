namespace Snapper.Dashboard.Tests.Fakes;

/// <summary>Many rows in one test, which share what is expensive to start.</summary>
internal static class Rows
{
    /// <summary>Checks each row and reports all that fail, not only the first.</summary>
    public static async Task All<T>(IEnumerable<T> rows, Func<T, Task> check)
    {
        var failures = new List<string>();
        foreach (var row in rows)
        {
            try
            {
                await check(row);
            }
            catch (Exception failure)
            {
                failures.Add($"{row}: {failure.Message}");
            }
        }

        Xunit.Assert.True(failures.Count == 0, string.Join("\n\n", failures));
    }
}
