using System.Diagnostics;

namespace Snapper.Simulation.Tests;

/// <summary>The program behind <c>./snapper verify</c>, as a process.</summary>
public sealed class VerifyProgramTests
{
    private static readonly TimeSpan s_longest = TimeSpan.FromMinutes(2);

    [Theory]
    [InlineData("--seed must be a whole number from 0 to 18446744073709551615", "--seed", "18446744073709551616")]
    [InlineData("--first must be a whole number from 0 to 18446744073709551615", "--first", "-1")]
    [InlineData("There is no fault '0' that has a time", "--scenario", "seed=1 faults=0@1/2")]
    [InlineData("'--limit'", "--limit", "3")]
    [InlineData("'--markdown'", "--seed", "1", "--markdown")]
    [InlineData("'--threads'", "--model", "--threads", "2")]
    [InlineData("'--seed'", "--model", "--seed", "1")]
    [InlineData("'--seeds'", "--seeds", "1", "--seeds", "2")]
    [InlineData("--collect say nothing beside --input", "--fuzz", "records", "--input", "a", "--collect", "b")]
    [InlineData("--collect: inputs cannot be kept in", "--fuzz", "records", "--runs", "1", "--collect", "/dev/null/folder")]
    [InlineData("'--seeds'", "--live", "--seeds", "4")]
    public async Task What_would_be_ignored_or_is_wrong_is_refused_by_name(string message, params string[] arguments)
    {
        using var program = Start(arguments);
        var (exit, _, errors) = await End(program);

        Assert.Equal(2, exit);
        Assert.Contains(message, errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("INT", 130, "INTERRUPTED after ", "--seeds", "10000000")]
    [InlineData("TERM", 143, "INTERRUPTED after ", "--seeds", "10000000", "--threads", "1")]
    [InlineData("TERM", 143, "INTERRUPTED: 0 of 1 targets were run to their end", "--fuzz", "records", "--minutes", "60")]
    public async Task An_interrupted_run_says_what_it_has_and_that_it_is_not_all(string signal, int code, string message, params string[] arguments)
    {
        using var program = Start(arguments);

        // It listens to signals before it says anything.
        var first = await program.StandardOutput.ReadLineAsync().WaitAsync(s_longest);
        Assert.StartsWith("seed", first, StringComparison.Ordinal);
        using var kill = Process.Start("kill", [$"-{signal}", $"{program.Id}"]);
        await kill.WaitForExitAsync();
        var (exit, output, errors) = await End(program);

        Assert.True(exit == code, $"It ended with {exit}:\n{output}\n{errors}");
        Assert.Contains(message, output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Files_are_looked_for_where_the_caller_is()
    {
        var folder = Directory.CreateTempSubdirectory("verify-");
        try
        {
            await File.WriteAllBytesAsync(Path.Combine(folder.FullName, "input.bin"), [1, 2, 3]);
            using var program = Start(["--fuzz", "records", "--input", "input.bin"], calledFrom: folder.FullName);
            var (exit, output, errors) = await End(program);

            Assert.True(exit == 0, $"It ended with {exit}:\n{output}\n{errors}");
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public async Task Help_of_fuzzing_names_the_targets()
    {
        using var program = Start(["--fuzz", "--help"]);
        var (exit, output, _) = await End(program);

        Assert.Equal(0, exit);
        Assert.Contains("--collect <DIR>", output, StringComparison.Ordinal);
        Assert.Contains("targets: records, ", output, StringComparison.Ordinal);
    }

    internal static Process Start(string[] arguments, string? calledFrom = null)
    {
        // Beside this program: built as it was, in bin/<configuration>/<framework>.
        var built = new DirectoryInfo(AppContext.BaseDirectory);
        var program = Path.Combine(RepositoryFolder.Path, "verification", "Snapper.Verify", "bin", built.Parent!.Name, built.Name, "Snapper.Verify.dll");
        var start = new ProcessStartInfo("dotnet") { WorkingDirectory = RepositoryFolder.Path, RedirectStandardOutput = true, RedirectStandardError = true };
        start.ArgumentList.Add(program);
        Array.ForEach(arguments, start.ArgumentList.Add);
        if (calledFrom is not null)
        {
            start.Environment["SNAPPER_CALLED_FROM"] = calledFrom;
        }

        return Process.Start(start)!;
    }

    internal static async Task<(int Exit, string Output, string Errors)> End(Process program)
    {
        using var limit = new CancellationTokenSource(s_longest);
        try
        {
            var (output, errors) = (program.StandardOutput.ReadToEndAsync(limit.Token), program.StandardError.ReadToEndAsync(limit.Token));
            await program.WaitForExitAsync(limit.Token);
            return (program.ExitCode, await output, await errors);
        }
        catch (OperationCanceledException)
        {
            program.Kill(entireProcessTree: true);
            throw new TimeoutException($"The program did not end within {s_longest.TotalMinutes} minutes.");
        }
    }
}
