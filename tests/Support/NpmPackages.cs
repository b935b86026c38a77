using System.Diagnostics;
using System.Security.Cryptography;
using System.Text;

namespace Snapper.Tests.Support;

/// <summary>
/// Packages of npm that a test needs: those that a folder's package-lock.json names, and no others. They are installed
/// once for each lock file, into the user's cache (XDG_CACHE_HOME or ~/.cache).
/// </summary>
internal static class NpmPackages
{
    private static readonly TimeSpan InstalledWithin = TimeSpan.FromMinutes(5);

    /// <summary>Null where Node.js and npm are; otherwise what to install.</summary>
    public static string? Missing { get; } = FindMissing();

    /// <summary>Installs them, unless they are there; returns the folder that has <c>node_modules</c>.</summary>
    /// <param name="folder">Has package.json and package-lock.json, and .npmrc where a setting is needed.</param>
    /// <exception cref="InvalidOperationException">npm failed; the message has what it said.</exception>
    public static async Task<string> Install(string folder)
    {
        string[] names = [.. new[] { "package.json", "package-lock.json", ".npmrc" }
            .Where(name => File.Exists(Path.Combine(folder, name)))];
        var content = string.Concat(names.Select(name => File.ReadAllText(Path.Combine(folder, name))));
        var hash = SHA256.HashData(Encoding.UTF8.GetBytes(content));
        var installed = Path.Combine(Cache, Convert.ToHexStringLower(hash)[..16]);
        if (Directory.Exists(installed)) return installed;

        // Beside it, and renamed when it is whole: what was broken off is never taken for it.
        var attempt = Directory.CreateDirectory($"{installed}-{Guid.NewGuid():N}");
        try
        {
            foreach (var name in names) File.Copy(Path.Combine(folder, name), Path.Combine(attempt.FullName, name));

            // No package's own script is run.
            string[] command = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
            var (code, output) = await Run("npm", command, attempt.FullName, InstalledWithin);
            if (code != 0)
            {
                throw new InvalidOperationException(
                    $"npm could not install what {folder}/package-lock.json names, for which it needs its registry the "
                    + $"first time:\n{output}");
            }

            Directory.Move(attempt.FullName, installed);
        }
        catch (IOException) when (Directory.Exists(installed))
        {
            // Another test run was faster.
        }
        finally
        {
            if (Directory.Exists(attempt.FullName)) attempt.Delete(recursive: true);
        }

        return installed;
    }

    /// <summary>Runs a program to its end; returns its exit code, and all that it wrote.</summary>
    public static async Task<(int Code, string Output)> Run(
        string program, IEnumerable<string> arguments, string folder, TimeSpan within)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            WorkingDirectory = folder, RedirectStandardOutput = true, RedirectStandardError = true,
        };
        using var process = Process.Start(start)!;
        var (output, errors) = (process.StandardOutput.ReadToEndAsync(), process.StandardError.ReadToEndAsync());
        try
        {
            await process.WaitForExitAsync().WaitAsync(within);
        }
        catch (TimeoutException)
        {
            process.Kill(entireProcessTree: true);
            throw new TimeoutException(
                $"{program} did not end within {within.TotalSeconds:0} s: {await output}{await errors}");
        }

        return (process.ExitCode, await output + await errors);
    }

    private static string Cache
    {
        get
        {
            var home = Environment.GetFolderPath(Environment.SpecialFolder.UserProfile);
            var cache = Environment.GetEnvironmentVariable("XDG_CACHE_HOME") is { Length: > 0 } named ? named
                : Path.Combine(home, ".cache");
            return Path.Combine(cache, "snapper-tests", "npm");
        }
    }

    private static string? FindMissing()
    {
        var folders = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator);
        string[] missing = [.. new[] { "node", "npm" }.Where(name =>
            !folders.Any(folder => File.Exists(Path.Combine(folder, name))))];
        return missing.Length == 0 ? null
            : $"not run, for want of {string.Join(" and ", missing)} on PATH: install Node.js 18 or later with npm "
                + "(on Debian: apt-get install nodejs npm)";
    }
}
