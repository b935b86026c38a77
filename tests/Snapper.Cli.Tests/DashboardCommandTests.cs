using System.Diagnostics;
using System.Globalization;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>The dashboard alone, as a process of the command.</summary>
public sealed class DashboardCommandTests
{
    [Fact]
    public async Task It_serves_until_the_command_is_told_to_stop()
    {
        if (OperatingSystem.IsWindows()) return; // signals
        var port = Ports.Free(1)[0];
        var start = new ProcessStartInfo("dotnet") { RedirectStandardOutput = true, RedirectStandardError = true };
        string[] arguments =
        [
            UpProcess.CommandLineDll, "dashboard", "--port", port.ToString(CultureInfo.InvariantCulture),
            "--workers", "http://127.0.0.1:1",
        ];
        foreach (var argument in arguments) start.ArgumentList.Add(argument);
        using var process = Process.Start(start)!;
        var errors = process.StandardError.ReadToEndAsync();
        var output = process.StandardOutput.ReadToEndAsync();
        using var http = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{port}") };
        try
        {
            await Eventually.True("the dashboard answers", async () => await Status(http) is null);
            Assert.True(Posix.Send(process.Id, Posix.Terminate));
            await process.WaitForExitAsync().WaitAsync(Eventually.Deadline);
            Assert.Equal(ExitCode.Success, process.ExitCode);
            Assert.NotNull(await Status(http));
        }
        catch (Exception failure) when (process.HasExited)
        {
            throw new InvalidOperationException($"{await output}{await errors}", failure);
        }
        finally
        {
            if (!process.HasExited) process.Kill(entireProcessTree: true);
        }
    }

    /// <summary>Null: it answers.</summary>
    private static async Task<string?> Status(HttpClient http)
    {
        try
        {
            using var answer = await http.GetAsync(new Uri("/", UriKind.Relative));
            return answer.IsSuccessStatusCode ? null : $"it answers {(int)answer.StatusCode}";
        }
        catch (HttpRequestException problem)
        {
            return problem.Message;
        }
    }
}
