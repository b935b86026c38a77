using System.Diagnostics;

namespace Snapper.Simulation.Tests;

/// <summary>A verifier that finds nothing proves nothing until it has found something: some of the mutations, others each day.</summary>
public sealed class MutationTests
{
    private static readonly TimeSpan s_longest = TimeSpan.FromMinutes(10);

    [Fact]
    public async Task Ten_mutations_of_one_worker_and_ten_of_several_are_caught()
    {
        // A build of its own: no other one has them.
        await Run("build", "tests/Snapper.Verify", "-c", "Planted", "--nologo", "-v", "quiet");
        var table = await Run("tests/Snapper.Verify/bin/Planted/net10.0/Snapper.Verify.dll", "--plant", "--rotate", "10", "--limit", "4000");
        Assert.Contains("10 of 10 caught", table, StringComparison.Ordinal);
        table = await Run("tests/Snapper.Verify/bin/Planted/net10.0/Snapper.Verify.dll", "--plant", "--workers", "any", "--rotate", "10", "--limit", "4000");
        Assert.Contains("10 of 10 caught", table, StringComparison.Ordinal);
    }

    private static async Task<string> Run(params string[] arguments)
    {
        var start = new ProcessStartInfo("dotnet") { WorkingDirectory = RepositoryFolder.Path, RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        // A build server that stays behind would hold the pipes open.
        start.Environment["MSBUILDDISABLENODEREUSE"] = "1";
        using var process = Process.Start(start)!;
        using var limit = new CancellationTokenSource(s_longest);
        try
        {
            var (output, errors) = (process.StandardOutput.ReadToEndAsync(limit.Token), process.StandardError.ReadToEndAsync(limit.Token));
            await process.WaitForExitAsync(limit.Token);
            Assert.True(process.ExitCode == 0, $"dotnet {string.Join(' ', arguments)} ended with {process.ExitCode}:\n{await output}\n{await errors}");
            return await output;
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            throw new TimeoutException($"dotnet {string.Join(' ', arguments)} did not end within {s_longest.TotalMinutes} minutes.");
        }
    }
}
