using System.Diagnostics;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;

namespace Snapper.TestRunner;

/// <summary>Installs Debian's redis-server, for tests only, and only as root: then nobody is asked for a password and nothing of a user is changed.</summary>
internal static class RedisInstaller
{
    private const string AptGet = "/usr/bin/apt-get";

    // Debian's package starts a service unless this file's exit code forbids it. The tests start their own instances.
    private const string Policy = "/usr/sbin/policy-rc.d";

    /// <summary>Whether it may be tried here.</summary>
    public static bool MayInstall => Environment.UserName == "root" && File.Exists(AptGet);

    /// <summary>Installs it where that is allowed; says what it does. A failure is not fatal: the tests then say what is missing.</summary>
    public static async Task TryInstall(MessageWriter messages)
    {
        if (OperatingSystem.IsWindows() || !MayInstall) return;
        messages.Say("installing redis-server with apt-get, for the tests");
        var forbids = !File.Exists(Policy);
        try
        {
            if (forbids)
            {
                await File.WriteAllTextAsync(Policy, "#!/bin/sh\nexit 101\n");
                File.SetUnixFileMode(Policy, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute | UnixFileMode.GroupRead | UnixFileMode.GroupExecute | UnixFileMode.OtherRead | UnixFileMode.OtherExecute);
            }

            if (await Run("update") != 0 || await Run("install", "-y", "--no-install-recommends", "redis-server") != 0)
            {
                messages.Say("apt-get could not install redis-server");
            }
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
        {
            messages.Say($"redis-server was not installed: {problem.Message}");
        }
        finally
        {
            if (forbids) File.Delete(Policy);
        }
    }

    private static async Task<int> Run(params string[] arguments)
    {
        var start = new ProcessStartInfo(AptGet) { RedirectStandardOutput = true };
        start.ArgumentList.Add("-qq");
        foreach (var argument in arguments) start.ArgumentList.Add(argument);
        start.Environment["DEBIAN_FRONTEND"] = "noninteractive";
        using var process = Process.Start(start)!;

        // Standard output belongs to the test summary alone.
        await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        return process.ExitCode;
    }
}
