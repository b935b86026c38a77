using System.ComponentModel;
using System.Diagnostics;

namespace Snapper.Benchmarks.Systems;

/// <summary>Short commands whose answer is one text.</summary>
public static class Command
{
    /// <summary>Standard output, trimmed; null when the program is not there, fails, or takes longer than 10 s.</summary>
    public static string? TryRead(string program, IReadOnlyList<string> arguments)
    {
        var start = new ProcessStartInfo(program) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        try
        {
            using var process = Process.Start(start)!;
            process.ErrorDataReceived += static (_, _) => { };
            process.BeginErrorReadLine();
            var answer = process.StandardOutput.ReadToEndAsync();
            if (!process.WaitForExit(10_000))
            {
                process.Kill();
                return null;
            }

            return process.ExitCode == 0 ? answer.GetAwaiter().GetResult().Trim() : null;
        }
        catch (Win32Exception)
        {
            return null;
        }
    }
}
