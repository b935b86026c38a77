using System.Diagnostics;
using Snapper.Scenarios.Targets;

namespace Snapper.Load;

/// <summary>The clone of the repository that this program was built in, and the command line of the product in it.</summary>
internal static class Clone
{
    private const string CalledFrom = "SNAPPER_CALLED_FROM";

    private static readonly TimeSpan s_within = TimeSpan.FromMinutes(2);

    /// <summary>Its root; null: this program runs elsewhere.</summary>
    public static string? Root()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Snapper.Dapr.sln")))
            {
                return folder.FullName;
            }
        }

        return null;
    }

    /// <summary>A path as whoever typed it meant it: './snapper' runs this program in the root.</summary>
    public static string PathOf(string given) =>
        Path.GetFullPath(given, Environment.GetEnvironmentVariable(CalledFrom) is { Length: > 0 } folder ? folder : Environment.CurrentDirectory);

    /// <summary>Lets a worker join the system that runs on a data directory.</summary>
    /// <returns>Its name.</returns>
    /// <exception cref="TargetException">None has joined.</exception>
    public static async Task<string> Join(string data, CancellationToken cancellation)
    {
        var root = Root() ?? throw new TargetException("Workers join through './snapper join', which is not here: run the load test in a clone of the repository.");
        var start = new ProcessStartInfo(Path.Combine(root, "snapper"), ["join", "--data", data]) { RedirectStandardOutput = true, RedirectStandardError = true };
        using var process = Process.Start(start)!;
        var (output, errors) = (process.StandardOutput.ReadToEndAsync(cancellation), process.StandardError.ReadToEndAsync(cancellation));
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        limit.CancelAfter(s_within);
        try
        {
            await process.WaitForExitAsync(limit.Token);
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            process.Kill();
            throw new TargetException($"No worker has joined within {s_within.TotalSeconds:0} s.");
        }

        var said = await output;
        return process.ExitCode == 0 && said.Split(' ') is [var name, ..] && name.StartsWith('w')
            ? name
            : throw new TargetException($"No worker has joined: {(await errors).Trim()}");
    }
}
